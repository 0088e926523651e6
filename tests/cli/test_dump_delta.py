"""`everproof dump delta`, through its main function, on real files and folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.cli.main import main

HEADER = """\
struct point { int x; int y; };
extern int shared;
int unused(int);
"""
OLD = """\
#include <assert.h>
#include "point.h"

static int limit = 3;

static int clip(int x)
{
    return x > limit ? limit : x;
}

int add(struct point *p, int by)
{
    assert(p);
    p->x = clip(p->x + by);
    return p->x;
}

int main(void)
{
    struct point here = {0};
    return add(&here, shared);
}
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    put("old", point_h=HEADER, main_c=OLD)


def put(name: str, **files: str) -> None:
    Path(name).mkdir()
    for file, text in files.items():
        Path(name, file.replace("_", ".")).write_text(text)


def delta(capsys: pytest.CaptureFixture[str], new: str, *options: str, old: str = "old") -> list[str]:
    """The lines of the delta from one version to another; nothing is said about either."""
    assert main(["dump", "delta", old, new, *options]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out.splitlines()


def edited(capsys: pytest.CaptureFixture[str], *replaced: tuple[str, str], header: str = HEADER, **files: str) -> list[str]:
    """Returns the printed delta from `OLD` to a copy in which each pair (before, after) was replaced."""
    text = OLD
    for before, after in replaced:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    put("new", point_h=header, main_c=text, **files)
    return delta(capsys, "new")


def test_a_version_and_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert delta(capsys, "old") == ["no change"]


def test_layout_comments_and_the_order_of_functions_are_no_change(capsys: pytest.CaptureFixture[str]) -> None:
    start, end = OLD.index("int add"), OLD.index("int main")
    moved = OLD[:start] + "int add(struct point *, int);\n/* first\n */\n" + OLD[end:] + "\n" + OLD[start:end].replace(" ", "\t ")
    put("new", point_h="// the point\n\n" + HEADER.replace(";", " ;\n"), main_c=moved)
    assert delta(capsys, "new") == ["no change"]
    assert delta(capsys, "old", old="new") == ["no change"]


def test_a_renamed_file_is_no_change(capsys: pytest.CaptureFixture[str]) -> None:
    put("new", point_h=HEADER, other_c=OLD)
    assert delta(capsys, "new") == ["no change"]
    assert delta(capsys, "new/other.c", old="old/main.c") == ["no change"]


def test_a_static_function_may_move_to_another_file(capsys: pytest.CaptureFixture[str]) -> None:
    table = "static int size(void)\n{\n    return 4;\n}\n\nint room(void)\n{\n    return size();\n}\n"
    put("one", a_c=OLD.replace('#include "point.h"', HEADER), b_c=table)
    put("two", c_c=table.replace("\n", " ", 3), a_c=OLD.replace('#include "point.h"', HEADER))
    put("all", a_c=OLD.replace('#include "point.h"', HEADER) + table)
    assert delta(capsys, "two", old="one") == ["no change"]
    assert delta(capsys, "all", old="one") == ["no change"]
    assert delta(capsys, "two", old="all") == ["no change"]


def test_what_no_function_uses_in_a_header_is_no_change(capsys: pytest.CaptureFixture[str]) -> None:
    more = "struct other { struct point *p; }; extern long count; int more(struct other *); typedef int number;\n#define SIX 6\n"
    assert edited(capsys, header=HEADER.replace("int unused(int)", "long unused(long, long)") + more) == ["no change"]


def test_functions_of_system_headers_count_only_where_they_are_used(capsys: pytest.CaptureFixture[str]) -> None:
    put("new", point_h=HEADER, main_c="#include <xmmintrin.h>\n" + OLD)
    assert delta(capsys, "new") == ["no change"]
    put("used", point_h=HEADER, main_c="#include <xmmintrin.h>\n" + OLD.replace("return p->x;", "_mm_empty(); return p->x;"))
    lines = delta(capsys, "used")
    assert [line.split("  (")[0] for line in lines if "function _mm" in line or "~ f" in line] == [
        "+ function _mm_empty",
        "~ function add",
    ]


def test_functions_added_and_deleted(capsys: pytest.CaptureFixture[str]) -> None:
    clamp = "static int clamp(int x)\n{\n    return x > limit ? limit : x;\n}"
    lines = edited(capsys, (OLD[OLD.index("static int clip") : OLD.index("\n\nint add")], "\n" + clamp), ("= clip", "= clamp"))
    assert lines == [
        "+ function clamp  (new/main.c:7)",
        "- function clip  (old/main.c:6)",
        "~ function add  (old/main.c:11, now new/main.c:12)",
        "    ~ 2 -> 5  p->x = clip(p->x + by)  (old/main.c:14)",
        "      2 -> 5  p->x = clamp(p->x + by)  (new/main.c:15)",
    ]


def test_a_modified_statement_is_shown_as_it_was_and_is(capsys: pytest.CaptureFixture[str]) -> None:
    lines = edited(capsys, ("\n    assert", "\n\n    assert"), ("return p->x;", "return p->y;"))
    assert lines == [
        "~ function add  (old/main.c:11, now new/main.c:11)",
        "    ~ 5 -> 1  return p->x  (old/main.c:15)",
        "      5 -> 1  return p->y  (new/main.c:16)",
    ]


def test_an_inserted_statement(capsys: pytest.CaptureFixture[str]) -> None:
    lines = edited(capsys, ("    return p->x;", "    p->y = 0;\n    return p->x;"))
    assert lines == [
        "~ function add  (old/main.c:11, now new/main.c:11)",
        "    + 5 -> 6  p->y = 0  (new/main.c:15)",
        "    ~ 5 -> 1  return p->x  (old/main.c:15)",
        "      6 -> 1  return p->x  (new/main.c:16)",
    ]
    assert delta(capsys, "old", old="new") == [
        "~ function add  (new/main.c:11, now old/main.c:11)",
        "    - 5 -> 6  p->y = 0  (new/main.c:15)",
        "    ~ 6 -> 1  return p->x  (new/main.c:16)",
        "      5 -> 1  return p->x  (old/main.c:15)",
    ]


def test_a_jump_to_another_place_is_a_change_though_every_effect_is_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    text = "int f(int a)\n{\n    if (a)\n        goto %s;\n    a = 1;\none:\n    a = 2;\ntwo:\n    return a;\n}\n"
    Path("one.c").write_text(text % "one" + "int g(void) { int a; two: a = 1; goto two; }\n")
    Path("two.c").write_text(text % "two" + "int g(void) { int a; two: a = 1; goto two; }\n")
    lines = delta(capsys, "two.c", old="one.c")
    assert lines[0] == "~ function f  (one.c:1, now two.c:1)"
    ends, effects = zip(*(line[6:].split("  (")[0].split("  ") for line in lines[1:]), strict=True)
    assert effects == ("a = 1", "a = 1", "a = 2", "a = 2", "return a", "return a")
    assert all(was != now for was, now in zip(ends[::2], ends[1::2], strict=True))


def test_a_changed_type_of_a_function(capsys: pytest.CaptureFixture[str]) -> None:
    lines = edited(capsys, ("static int clip(int x)", "static int clip(int x, int y)"), ("clip(p->x + by)", "clip(p->x + by, 0)"))
    assert lines == [
        "~ function clip  (old/main.c:6, now new/main.c:6)",
        "    ~ int clip(int x)",
        "      int clip(int x, int y)",
        "~ function add  (old/main.c:11, now new/main.c:11)",
        "    ~ 2 -> 5  p->x = clip(p->x + by)  (old/main.c:14)",
        "      2 -> 5  p->x = clip(p->x + by, 0)  (new/main.c:14)",
    ]


def test_a_line_in_a_header_has_its_place_there(capsys: pytest.CaptureFixture[str]) -> None:
    get = "static inline int get(struct point *p)\n{\n    return p->%s;\n}\n"
    for name, member in (("one", "x"), ("two", "y")):
        put(name, point_h=HEADER + get % member, main_c=OLD)
    assert delta(capsys, "two", old="one") == [
        "~ function get  (one/point.h:4, now two/point.h:4)",
        "    ~ 0 -> 1  return p->x  (one/point.h:6)",
        "      0 -> 1  return p->y  (two/point.h:6)",
    ]


def test_initial_values_types_and_declarations(capsys: pytest.CaptureFixture[str]) -> None:
    header = HEADER.replace("int shared", "long shared").replace("int y;", "int y; int z : 3;")
    lines = edited(capsys, ("limit = 3", "limit = 4"), header=header)
    assert lines == [
        "~ function main  (old/main.c:18, now new/main.c:18)",
        "    ~ 3 -> 4  $1 = add(&here, shared)  (old/main.c:21)",
        "      3 -> 4  $1 = add(&here, shared)  (new/main.c:21)  with other types",
        "~ variable int shared = any value",
        "           long shared = any value",
        "~ variable int limit = 3",
        "           int limit = 4",
        "~ record struct point { int x; int y; }",
        "         struct point { int x; int y; int z : 3; }",
    ]


def test_a_function_whose_body_is_elsewhere_now(capsys: pytest.CaptureFixture[str]) -> None:
    declared = "__attribute__((noreturn)) void stop(void); int clip(int);\n"
    start, end = OLD.index("static int limit"), OLD.index("int add")
    lines = edited(capsys, (OLD[start:end], declared), ("return p->x;", "stop();"))
    assert lines[0] == "- function clip  (old/main.c:6)"
    assert "+ external function stop: void (void), never returns" in lines
    assert "- variable int limit = 3" in lines


def test_calls_through_pointers_reach_other_functions(capsys: pytest.CaptureFixture[str]) -> None:
    text = "static int one(void) { return 1; } static int two(void) { return 2; }\nint (*table[])(void) = { %s };\n"
    use = "int main(void) { return table[0]() + one() + two(); }\n"
    Path("a.c").write_text(text % "one" + use)
    Path("b.c").write_text(text % "two" + use)
    assert delta(capsys, "b.c", old="a.c") == [
        "~ variable int (void) * [1] table = {table = {0}, table[0] = one}",
        "           int (void) * [1] table = {table = {0}, table[0] = two}",
        "- address taken of one",
        "+ address taken of two",
    ]


def test_an_initialiser_of_an_array_is_compared_across_files(capsys: pytest.CaptureFixture[str]) -> None:
    text = "static int one(void) { return 1; }\nint (*table[])(void) = { one };\nint main(void) { return table[0](); }\n"
    Path("a.c").write_text(text)
    Path("b.c").write_text("\n" + text)
    assert delta(capsys, "b.c", old="a.c") == ["no change"]


def test_a_function_that_does_not_parse_is_neither_deleted_nor_unchanged(capsys: pytest.CaptureFixture[str]) -> None:
    put("new", point_h=HEADER, main_c=OLD.replace("p->x = clip(", "p->x = = clip("))
    assert main(["dump", "delta", "old", "new"]) == 0
    out, err = capsys.readouterr()
    assert out == "? function add does not parse in one of the versions: not compared\n"
    assert "add does not parse" in err


def test_rules_in_the_folders_of_the_versions(capsys: pytest.CaptureFixture[str]) -> None:
    shipped = Path(__file__).parents[2] / "analysis" / "rules" / "shipped" / "double-free.yaml"
    text = shipped.read_text("utf-8")
    for name, rule in (
        ("one", text),
        ("two", text + "\n# said otherwise\n"),
        ("three", text.replace("severity: error", "severity: note")),
    ):
        put(name, main_c=OLD, point_h=HEADER)
        Path(name, ".everproof", "rules").mkdir(parents=True)
        Path(name, ".everproof", "rules", "mine.yaml").write_text(rule.replace("name: double-free", "name: freed-twice"))
    assert delta(capsys, "one") == ["+ rule freed-twice"]
    assert delta(capsys, "two", old="one") == ["no change"]
    assert delta(capsys, "three", old="one") == ["~ rule freed-twice"]
    assert delta(capsys, "old", old="one") == ["- rule freed-twice"]


def test_contracts_in_the_folders_of_the_versions(capsys: pytest.CaptureFixture[str]) -> None:
    for name, entry in (("one", "{frees: true}"), ("two", "{reads: true}")):
        put(name, main_c="void put(int *p);\nint main(void) { int n = 1; put(&n); return n; }\n")
        Path(name, ".everproof", "functions").mkdir(parents=True)
        Path(name, ".everproof", "functions", "own.yaml").write_text(f"functions: [{{name: put, arguments: [{entry}]}}]")
    assert delta(capsys, "two", old="one") == [
        "~ external function put: void (int *), by the contract freed | - | open in .everproof/functions/own.yaml",
        "                    put: void (int *), by the contract in | - | open in .everproof/functions/own.yaml",
    ]


def test_one_function_only(capsys: pytest.CaptureFixture[str]) -> None:
    put("new", point_h=HEADER, main_c=OLD.replace("limit = 3", "limit = 4").replace("return p->x", "return p->y"))
    assert delta(capsys, "new", "--function", "clip") == ["no change"]
    assert delta(capsys, "new", "--function", "add")[0].startswith("~ function add")
    assert main(["dump", "delta", "old", "new", "--function", "sub"]) == 2
    assert "defines a function sub" in capsys.readouterr().err


def test_as_dot(capsys: pytest.CaptureFixture[str]) -> None:
    put(
        "new",
        point_h=HEADER,
        main_c=OLD.replace("return p->x;", "return p->y;").replace("int main", "int other(void) { return 0; }\nint main"),
    )
    lines = [line.strip() for line in delta(capsys, "new", "--format", "dot")]
    assert lines[0] == "digraph delta {"
    assert '"0.5" -> "0.1" [label="return p->y", color=blue3, fontcolor=blue3];' in lines
    assert '"0.5" -> "0.1" [label="return p->x", color=blue3, fontcolor=blue3, style=dashed];' in lines
    assert '"other" [shape=box, color=green4];' in lines
    assert lines[-1] == "}"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["old"], "takes two versions"),
        (["old", "old", "old"], "takes two versions"),
        (["old", "gone"], "no file or folder gone"),
    ],
)
def test_versions_that_cannot_be_compared(capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    assert main(["dump", "delta", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
