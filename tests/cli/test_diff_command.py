"""`everproof diff`, through its main function: which findings a change has introduced and fixed, and which functions it can
have changed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from analysis.cli.main import main

NULL = "static int get(int *p)\n{\n    return *p;\n}\n"
OLD = NULL + "int one(void)\n{\n    int *a = 0;\n    return get(a);\n}\nint main(void)\n{\n    return one();\n}\n"
FIXED = OLD.replace("int *a = 0;", "int n = 1, *a = &n;")
TWO = OLD.replace("int main(void)\n{\n", "int main(void)\n{\n    int *b = 0;\n    *b = 1;\n")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def put(name: str, text: str) -> str:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text)
    return name


def git(*words: str) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True, capture_output=True)


def commit() -> None:
    git("add", "-A")
    git("commit", "-q", "-m", "a")


def as_json(capsys: pytest.CaptureFixture[str], *words: str, code: int) -> dict[str, Any]:
    assert main(["diff", "--engine", "automaton", "--format", "json", *words]) == code
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def numbers(document: dict[str, Any]) -> tuple[int, int, int]:
    """How many findings are introduced, fixed, and in both versions."""
    introduced, fixed, unchanged = (len(document[key]) for key in ("introduced", "fixed", "unchanged"))
    return introduced, fixed, unchanged


def differing(document: dict[str, Any]) -> set[str]:
    return {function["name"] for function in document["functions"] if function["difference"] != "none"}


@pytest.mark.parametrize(
    ("old", "new", "code", "found"),
    [
        (OLD, OLD, 0, (0, 0, 1)),
        (OLD, FIXED, 0, (0, 1, 0)),
        (FIXED, OLD, 1, (1, 0, 0)),
        (OLD, TWO, 1, (1, 0, 1)),
        (TWO, FIXED.replace("int main(void)\n{\n", "int main(void)\n{\n    char *c = 0;\n    c[2] = 1;\n"), 1, (1, 2, 0)),
    ],
    ids=["the same", "fixed", "introduced", "another one", "all at once"],
)
def test_findings_are_told_apart(
    capsys: pytest.CaptureFixture[str], old: str, new: str, code: int, found: tuple[int, int, int]
) -> None:
    assert numbers(as_json(capsys, put("old.c", old), put("new.c", new), code=code)) == found


LEAK = """#include <stdlib.h>
int count(int n)
{
    int *p = malloc(4);
    if (n > 3)
        return 1;
    p[0] = n;
    free(p);
    return 0;
}
int main(int n, char **v)
{
    (void)v;
    return count(n);
}
"""
USES = """int look(int n)
{
    int *p = 0;
    if (n)
        n = n + 1;
    p[0] = n;
    p[1] = n;
    return n;
}
int main(int n, char **v)
{
    (void)v;
    return look(n);
}
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (OLD, "/* a comment */\n\n" + OLD),
        (OLD, "int other(int n)\n{\n    return n + 1;\n}\n" + OLD),
        (OLD, OLD.replace("one(void)", "first(void)").replace("one()", "first()")),
        (LEAK, LEAK.replace("count(", "number(")),
        (USES, USES.replace("    p[0] = n;\n", "")),
        (USES, USES.replace("    p[0] = n;\n", "    p[2] = n;\n    p[0] = n;\n")),
        (USES, USES.replace("*p", "*where").replace(" p[", " where[")),
        (USES, USES.replace("*p", "*where").replace(" p[", " where[").replace("look", "search")),
        (LEAK, LEAK.replace("int n)", "int many)").replace("n > 3", "many > 3").replace("= n;", "= many;")),
        (LEAK, LEAK.replace("*p", "*block").replace("p[", "block[").replace("(p)", "(block)").replace("count", "number")),
    ],
    ids=[
        "lines moved",
        "a function came",
        "renamed",
        "renamed, of memory",
        "first use gone",
        "another first use",
        "a variable renamed",
        "a variable and the function renamed",
        "a parameter renamed, of memory",
        "all renamed",
    ],
)
def test_a_finding_that_moved_is_not_new(capsys: pytest.CaptureFixture[str], old: str, new: str) -> None:
    document = as_json(capsys, put("old.c", old), put("new.c", new), code=0)
    introduced, fixed, unchanged = numbers(document)
    assert (introduced, fixed) == (0, 0)
    assert unchanged >= 1


def test_a_function_that_moved_to_another_file_keeps_its_findings(capsys: pytest.CaptureFixture[str]) -> None:
    put("old/a.c", LEAK)
    body, _, main_ = LEAK.partition("int main")
    put("new/a.c", f"int count(int n);\nint main{main_}")
    put("new/b.c", body)
    document = as_json(capsys, "old", "new", code=0)
    assert numbers(document)[:2] == (0, 0)
    assert numbers(document)[2] >= 1


def test_another_defect_of_a_variable_of_the_same_name_is_new(capsys: pytest.CaptureFixture[str]) -> None:
    old = "int f(int n)\n{\n    int *p = 0;\n    return *p + n;\n}\n"
    new = "#include <string.h>\nint f(char *s)\n{\n    char *p = strchr(s, 'a');\n    return *p;\n}\n"
    document = as_json(capsys, "--show", "all", put("old.c", old), put("new.c", new), code=1)
    assert numbers(document) == (1, 1, 0)


BLOCKS = """#include <stdlib.h>
static int use(char *p) { p[0] = 1; return p[0]; }
int f(int n)
{
    if (n > 3) {
        char *p = malloc(8);
        if (!p) return 0;
        p[0] = 0;
        free(p);
        return 1;
    } else {
        char *p = malloc(8);
        if (!p) return 0;
        p[0] = 0;
        free(p);
        return 2;
    }
}
int g(int n)
{
    char *p = malloc(8);
    if (!p) return -1;
    if (n == 1) { free(p); return 1; }
    if (n == 2) { free(p); return 2; }
    n = use(p);
    free(p);
    return n;
}
int h(int n)
{
    char *p = malloc(8);
    if (!p) return -1;
    n = use(p);
    free(p);
    return n;
}
"""


def without(text: str, part: str, number: int) -> str:
    """A text that lacks one of several parts that are alike."""
    parts = text.split(part)
    return part.join([*parts[:number], parts[number] + parts[number + 1], *parts[number + 2 :]])


@pytest.mark.parametrize(
    ("part", "first", "second"),
    [
        ("if (!p) return 0;", 0, 1),
        ("free(p); ", 0, 1),
        ("if (!p) return -1;", 0, 1),
    ],
    ids=["of another variable of this name", "lost on another way", "passed by another function"],
)
def test_a_defect_that_says_what_one_that_was_fixed_said_is_new(
    capsys: pytest.CaptureFixture[str], part: str, first: int, second: int
) -> None:
    one, other, both = without(BLOCKS, part, first), without(BLOCKS, part, second), BLOCKS.replace(part, "")
    assert numbers(as_json(capsys, put("old.c", one), put("new.c", other), code=1)) == (1, 1, 0)
    assert numbers(as_json(capsys, "new.c", "old.c", code=1)) == (1, 1, 0)
    # where the second one was there before, too, it is shown once the first one is fixed
    document = as_json(capsys, put("old.c", both), "new.c", code=0)
    assert numbers(document)[::2] == (0, 1)


SEND = """#include <stdlib.h>
int ready(void);
int send(int n)
{
    int *p = malloc(4);
    if (ready())
        n = n + 1;
    if (n > 3)
        return 1;
    p[0] = n;
    free(p);
    return 0;
}
int main(int n, char **v)
{
    (void)v;
    return send(n);
}
"""
TAKEN_OUT = SEND.replace("int send(int n)", "static int finish(int n)").replace(
    "int main", "int send(int n)\n{\n    if (n == 9)\n        return 2;\n    return finish(n);\n}\nint main"
)
CALLED = """static int first(int *p) { return p[0]; }
static int both(int *p, int n)
{
    if (n > 2)
        n = n - 1;
    return first(p) + n;
}
int main(int n, char **v)
{
    int *p = 0;
    if (n > 1 && v)
        n = n + 1;
    return both(p, n);
}
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (SEND, TAKEN_OUT),
        (TAKEN_OUT, SEND),
        (CALLED, CALLED.replace("return first(p) + n;", "return p[0] + n;")),
        (CALLED.replace("return first(p) + n;", "return p[0] + n;"), CALLED),
        (CALLED, CALLED.partition("\n")[2].replace("return first(p) + n;", "return p[0] + n;")),
        (CALLED, CALLED.replace("return p[0]; }", "int *q = p - 1; return q[1]; }")),
    ],
    ids=[
        "taken out into a function",
        "taken back",
        "used sooner",
        "used later",
        "used sooner, and nothing is called",
        "by way of another variable",
    ],
)
def test_a_finding_that_the_same_way_leads_to_is_not_new(capsys: pytest.CaptureFixture[str], old: str, new: str) -> None:
    document = as_json(capsys, "--show", "all", put("old.c", old), put("new.c", new), code=0)
    introduced, fixed, unchanged = numbers(document)
    assert (introduced, fixed) == (0, 0)
    assert unchanged >= 1


def test_another_variable_that_is_lost_at_the_same_statement_is_new(capsys: pytest.CaptureFixture[str]) -> None:
    text = """#include <stdlib.h>
int two(int n)
{
    char *first = malloc(8), *second = malloc(8);
    if (n > 3) {
        free(first);
        return 1;
    }
    free(second);
    free(first);
    return 0;
}
"""
    old, new = put("old.c", text), put("new.c", text.replace("free(first);\n        return", "free(second);\n        return"))
    assert numbers(as_json(capsys, "--rule", "memory-leak", old, new, code=1)) == (1, 1, 0)


def test_a_copy_of_a_function_whose_defect_was_fixed_has_a_new_one(capsys: pytest.CaptureFixture[str]) -> None:
    copy = SEND.partition("int send")[2].partition("int main")[0]
    new = SEND.replace("    if (ready", "    if (!p)\n        return 2;\n    if (ready").replace(
        "int main", f"int copy{copy}int main"
    )
    document = as_json(capsys, "--rule", "null-dereference", put("old.c", SEND), put("new.c", new), code=1)
    assert numbers(document) == (1, 1, 0)


@pytest.mark.parametrize(
    "new",
    [
        USES.replace("int *p = 0;", "int x = 1, *p = &x, *q = 0;").replace("p[0] = n;", "p[0] = n; q[0] = n;"),
        USES.replace("*p", "*where").replace(" p[", " where[").replace("int *where", "long *where"),
        USES.replace("*p = 0", "x, *a = &x, *q = 0").replace("p[0] = n;", "a[0] = n; q[2] = n;").replace(" p[", " a["),
    ],
    ids=["the old variable is still there", "of another type", "beside one that was renamed"],
)
def test_a_defect_of_another_variable_is_new(capsys: pytest.CaptureFixture[str], new: str) -> None:
    document = as_json(capsys, put("old.c", USES), put("new.c", new), code=1)
    assert numbers(document)[0] == 1
    assert numbers(document)[1] == 1


BASE = """struct item { int n; };
extern int total;
int outside(int);
static int leaf(int n) { return n + 1; }
static int reads(struct item *i) { return i->n; }
static int global(void) { return total; }
static int calls(int n) { return leaf(n); }
static int alone(int n) { return n * 2; }
static int external(int n) { return outside(n); }
int (*table[])(int) = { alone };
static int through(int n) { return table[0](n); }
int main(void) { struct item i = { 1 }; return reads(&i) + calls(2) + alone(3) + global() + through(4) + external(5); }
"""


@pytest.mark.parametrize(
    ("was", "now", "wanted"),
    [
        ("", "", set()),
        ("static int leaf", "/* of the tree */ static int leaf", set()),
        ("return n + 1", "return n + 2", {"leaf", "calls", "main"}),
        ("return n * 2", "return n * 3", {"alone", "through", "main"}),
        ("{ int n; };", "{ int more; int n; };", {"reads", "main"}),
        ("extern int total;", "extern unsigned total;", {"global", "main"}),
        ("int outside(int);", "int outside(long);", {"external", "main"}),
        ("= { alone };", "= { alone, leaf };", {"through", "main"}),
    ],
    ids=[
        "nothing",
        "a comment",
        "a leaf",
        "behind a pointer",
        "a record",
        "a variable's type",
        "a declaration",
        "more can be called",
    ],
)
def test_functions_that_may_do_something_else_are_named(
    capsys: pytest.CaptureFixture[str], was: str, now: str, wanted: set[str]
) -> None:
    document = as_json(capsys, put("old.c", BASE), put("new.c", BASE.replace(was, now) if was else BASE), code=0)
    assert differing(document) == wanted
    assert len(document["functions"]) == 8


@pytest.mark.parametrize(
    ("text", "was", "now"),
    [
        ('int f(int a) { __asm__("@" : "=r"(a)); return a; }', "nop", "hlt"),
        ("int f(int a) { void *to[] = {&&x, &&y}; goto *to[@]; x: return 1; y: return 2; }", "0", "1"),
        (
            "int f(int a, ...) { __builtin_va_list b, c; __builtin_va_start(b, a); __builtin_va_start(c, a);"
            " __builtin_va_arg(c, int); return __builtin_va_arg(@, int); }",
            "b",
            "c",
        ),
        (
            'int x(void); int y(void); int b(void) __attribute__((weak, alias("@"))); int f(void) { return b(); }',
            "x",
            "y",
        ),
        ("int f(int @) { return a - b; }", "a, int b", "b, int a"),
        ("int f(int n, int m, int a[][@]) { return a[1][0] + n + m; }", "n", "m"),
        ("int f(int n, int m, int *b) { int (*a)[@] = (void *)b; return a[1][0] + n + m; }", "n", "m"),
        ("int f(int n, int m) { int a[@]; a[1] = n; return a[1] + m; }", "n", "m"),
        ("typedef int t __attribute__((mode(@))); int f(t a) { return a; }", "HI", "QI"),
        ("int f(int a) { int *p = &a; @ b = a; p = &b; } return *p; }", "int b; {", "{ int b;"),
    ],
    ids=[
        "assembler",
        "a computed jump",
        "a list of arguments",
        "an alias",
        "the order of parameters",
        "a parameter's size",
        "a size behind a pointer",
        "a size",
        "a mode",
        "a block",
    ],
)
def test_a_change_of_what_control_flow_does_not_show_is_a_change(
    text: str, was: str, now: str, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = (put(name, text.replace("@", word)) for name, word in (("old.c", was), ("new.c", now)))
    main(["diff", "--engine", "automaton", "--format", "json", old, new])
    (function,) = json.loads(capsys.readouterr().out)["functions"]
    assert (function["name"], function["difference"]) == ("f", "possible")
    main(["diff", "--engine", "automaton", "--format", "json", old, put("new.c", text.replace("@", was).replace(" ", "\n "))])
    assert differing(json.loads(capsys.readouterr().out)) == set()


def test_callers_of_a_function_that_parses_in_no_version_may_do_something_else(capsys: pytest.CaptureFixture[str]) -> None:
    rest = "int g(void) { return f(1); }\nint h(void) { return 2; }\n"
    put("old.c", "int f(int n);\nint f(int n) { return n + ; }\n" + rest)
    put("new.c", "int f(int n);\nint f(int n) { return n - ; }\n" + rest)
    main(["diff", "--engine", "automaton", "--format", "json", "old.c", "new.c"])
    assert differing(json.loads(capsys.readouterr().out)) == {"g"}


def test_nothing_is_proved_of_a_function_that_does_not_parse_any_more(capsys: pytest.CaptureFixture[str]) -> None:
    """An editor goes on with the last good text of a function."""
    text = "int one(void) { return @; }\nint two(int *p) { return one() ? 0 : *p; }\nint three(void) { return 3; }\n"
    put("old.c", text.replace("@", "2"))
    put("new.c", text.replace("@", "2 +"))
    document = as_json(capsys, "old.c", "new.c", code=0)
    assert {one["name"]: one["difference"] for one in document["functions"]} == {"two": "possible", "three": "none"}
    assert (document["unparsed"], document["removed"]) == (["one"], [])
    assert document["from_scratch"] == "it has text that does not parse"


@pytest.mark.parametrize(
    ("new", "said", "code"),
    [
        ("int kept(void) { return 1; }\n", ["(1 function compared)", "2 functions of OLD removed in NEW: one, two."], 0),
        ("int one;\n", ["NEW has none that could be read.", "3 functions of OLD removed in NEW: kept, one, two."], 0),
        (
            "int kept(void) { return 1; }\nint one(void) { return 1 + ; }\n",
            ["No function that was compared can", "1 function of NEW could not be read: one."],
            0,
        ),
        (
            "int kept(void) { return 1 + ; }\n",
            ["NEW has none that could be read.", "2 functions of OLD removed in NEW: one, two."],
            2,
        ),
    ],
    ids=["some are removed", "all are removed", "one does not parse", "none parses"],
)
def test_functions_that_are_removed_or_do_not_parse_are_named(
    new: str, said: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    put("old.c", "int kept(void) { return 1; }\nint one(void) { return 2; }\nint two(void) { return 3; }\n")
    put("new.c", new)
    assert main(["diff", "--engine", "automaton", "old.c", "new.c"]) == code
    printed = capsys.readouterr().out
    assert [sentence for sentence in said if sentence not in printed] == []
    assert ("No function can behave differently" in printed) == (said[0] == "(1 function compared)")


def test_functions_that_are_proved_to_do_the_same_are_not_among_them(capsys: pytest.CaptureFixture[str]) -> None:
    text = "int scaled(int n)\n{\n    int factor = @;\n    factor = n;\n    return factor;\n}\n"
    rest = "int main(int n, char **v)\n{\n    (void)v;\n    return scaled(n);\n}\nint other(void)\n{\n    return %;\n}\n"
    put("old.c", (text + rest).replace("@", "2").replace("%", "1"))
    put("new.c", (text + rest).replace("@", "3").replace("%", "2"))
    document = as_json(capsys, "old.c", "new.c", code=0)
    assert {one["name"]: one["difference"] for one in document["functions"]} == {
        "scaled": "proved-equivalent",
        "main": "proved-equivalent",
        "other": "possible",
    }
    assert main(["diff", "--engine", "automaton", "old.c", "new.c"]) == 0
    said = capsys.readouterr().out
    assert "1 of 3 functions may behave differently than before: other." in said
    assert "Proved to do the same as before, although they or functions that they call have changed: scaled, main." in said


PATHS = """int __VERIFIER_nondet_int(void);
void reach_error(void);
static int twice(int n)
{
    return n * 2;
}
int main(void)
{
    int n = __VERIFIER_nondet_int() & 7, m = 0;
    if (n == 1) {
        m = 3;
        if (m > n)
            reach_error();
        return 0;
    }
    m = twice(n);
    if (m > 20)
        reach_error();
    return 0;
}
"""


def test_a_condition_says_which_paths_are_left(capsys: pytest.CaptureFixture[str]) -> None:
    put("old.c", PATHS)
    put("new.c", PATHS.replace("n * 2", "n * 3"))
    as_json(capsys, "--rule", "assertion", "old.c", "new.c", "--condition", "c.json", "--residual", "r.c", code=0)
    document = json.loads(Path("c.json").read_text())
    assert document["property"] == "assertions"
    (entry,) = document["entries"]
    assert (entry["function"], entry["covers_all"]) == ("main", False)
    main_, twice = entry["automata"]
    assert (main_["function"], twice["function"]) == ("main", "twice")
    states = {node["state"] for node in main_["nodes"]}
    assert states >= {"open", "accepting", "indicator"}
    left = {move["line"] for move in main_["moves"] if main_["nodes"][move["source"]]["state"] == "open"}
    assert {10, 16, 17} <= left
    assert not left & {11, 12}
    assert [move["line"] for move in main_["moves"] if move["calls"] == [1]] == [16]
    residual = Path("r.c").read_text()
    assert "m = 3" not in residual
    assert "m = twice(n);" in residual
    subprocess.run(["gcc", "-c", "-w", "r.c"], check=True)
    as_json(capsys, "r.c", "r.c", code=0)


def test_what_cannot_have_become_wrong_leaves_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    put("old.c", PATHS)
    put("new.c", PATHS.replace("m = 0;", "m = 1;"))
    as_json(capsys, "old.c", "new.c", "--condition", "c.json", code=0)
    assert [(one["function"], one["covers_all"]) for one in json.loads(Path("c.json").read_text())["entries"]] == [("main", True)]
    as_json(capsys, "old.c", "new.c", "--condition", "c.json", "--extractor", "diffcond", code=0)  # the text differs
    assert [(one["function"], one["covers_all"]) for one in json.loads(Path("c.json").read_text())["entries"]] == [
        ("main", False)
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--residual", "r.c"), "A residual program can be made of one file only"),
        (("--condition", "old/a.c"), "would replace a file that is read"),
        (("--condition", "c.json", "--residual", "c.json"), "name the same file"),
        (("--condition", "none/c.json"), "cannot be written"),
    ],
)
def test_what_cannot_be_written_is_one_sentence(words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in ("old", "new"):
        put(f"{folder}/a.c", "int f(void) { return 1; }\n")
        put(f"{folder}/b.c", "int g(void) { return 1; }\n")
    assert main(["diff", "--engine", "automaton", "old", "new", *words]) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    is_compared = said.startswith("A residual program")
    assert ("0 findings introduced" in captured.out) == is_compared  # what came of the comparison is said all the same
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize("new", ["int f(int n);", "int f(int n) { return n + ; }"], ids=["without a body", "what does not parse"])
def test_callers_of_a_function_that_is_gone_may_do_something_else(capsys: pytest.CaptureFixture[str], new: str) -> None:
    rest = "\nint g(void) { return f(1); }\nint h(void) { return 2; }\n"
    put("old.c", "int f(int n) { return n + 1; }" + rest)
    put("new.c", new + rest)
    assert main(["diff", "--engine", "automaton", "--format", "json", "old.c", "new.c"]) in (0, 2)
    document = json.loads(capsys.readouterr().out)
    assert differing(document) - {"f"} == {"g"}
    assert {function["name"] for function in document["functions"]} >= {"g", "h"}


def test_the_working_tree_is_compared_with_a_commit(capsys: pytest.CaptureFixture[str]) -> None:
    git("init", "-q")
    put("a.c", FIXED)
    commit()
    put("a.c", OLD)
    document = as_json(capsys, "HEAD", code=1)
    assert numbers(document) == (1, 0, 0)
    assert {function["path"] for function in document["functions"]} == {"a.c"}
    assert {step["path"] for step in document["introduced"][0]["trace"]} == {"a.c"}
    commit()
    assert numbers(as_json(capsys, "HEAD~1", "HEAD", code=1)) == (1, 0, 0)
    assert numbers(as_json(capsys, "HEAD", "HEAD~1", code=0)) == (0, 1, 0)
    assert numbers(as_json(capsys, "HEAD", code=0)) == (0, 0, 1)


def test_a_folder_of_a_repository_is_compared_with_itself(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    git("init", "-q")
    put("include/get.h", NULL)
    put("src/a.c", '#include "../include/get.h"\nint main(void)\n{\n    return 0;\n}\n')
    put("other/b.c", "int other(void) { int *p = 0; return *p; }\n")
    commit()
    put("src/a.c", '#include "../include/get.h"\nint main(void)\n{\n    return get(0);\n}\n')
    monkeypatch.chdir("src")
    document = as_json(capsys, "HEAD", code=1)
    assert numbers(document) == (1, 0, 0)
    assert document["messages"] == []


@pytest.mark.parametrize("named", ["a.c", "{folder}/src/a.c", "."])
def test_a_file_or_folder_by_itself_is_compared_with_the_last_commit(
    named: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    git("init", "-q")
    named = named.format(folder=Path.cwd())
    put("include/get.h", NULL)
    put("src/a.c", '#include "../include/get.h"\nint main(void)\n{\n    return get(0);\n}\n')
    commit()
    put("src/a.c", '#include "../include/get.h"\nint main(void)\n{\n    return 0;\n}\n')
    put("include/new.h", NULL)
    monkeypatch.chdir("src")
    document = as_json(capsys, named, code=0)
    assert numbers(document) == (0, 1, 0)
    assert document["old"] == "HEAD"
    assert document["fixed"][0]["path"] == "../include/get.h"
    assert {step["path"] for step in document["fixed"][0]["trace"]} == {"a.c", "../include/get.h"}


def test_a_file_that_was_never_committed_has_to_be_compared_with_another(capsys: pytest.CaptureFixture[str]) -> None:
    git("init", "-q")
    put("a.c", OLD)
    commit()
    put("b.c", OLD)
    assert main(["diff", "b.c"]) == 2
    assert "b.c is not in the last commit" in capsys.readouterr().err


def test_what_is_generated_and_how_it_is_compiled_is_taken_from_the_working_tree(capsys: pytest.CaptureFixture[str]) -> None:
    git("init", "-q")
    put(".gitignore", "generated.h\nbuild\ncompile_commands.json\n")
    put("generated.h", "#define START 0\n")
    put("build/config.h", "#define FOUND 1\n")
    text = (
        '#include "generated.h"\n#include <config.h>\nint main(void)\n{\n    int n = START, *p = &n;\n    return FOUND + *p;\n}\n'
    )
    put("src/a.c", text.replace("generated.h", "../generated.h"))
    root = Path.cwd()
    entry = {"directory": str(root), "file": "src/a.c", "arguments": ["cc", f"-I{root}/build", "-DMODE=1", "-c", "src/a.c"]}
    put("compile_commands.json", json.dumps([entry]))
    commit()
    put("src/a.c", Path("src/a.c").read_text().replace("*p = &n", "*p = MODE ? 0 : &n"))
    document = as_json(capsys, "HEAD", code=1)
    assert document["messages"] == []
    assert numbers(document) == (1, 0, 0)


def test_text_says_what_was_introduced_and_fixed(capsys: pytest.CaptureFixture[str]) -> None:
    put("old.c", OLD)
    put("new.c", FIXED.replace("int main(void)\n{\n", "int main(void)\n{\n    char *c = 0;\n    c[2] = 1;\n"))
    assert main(["diff", "--engine", "automaton", "old.c", "new.c"]) == 1
    said = capsys.readouterr().out
    assert "new.c:13:5: error: possible: `c` can be null here and is dereferenced (since `c = 0`) [null-dereference]" in said
    assert "fixed: old.c:3:5: `p` can be null here and is dereferenced [null-dereference]" in said
    assert "From old.c to new.c: 1 finding introduced, 1 fixed." in said
    assert "2 of 3 functions may behave differently than before: one, main." in said


def test_sarif_tells_the_states(capsys: pytest.CaptureFixture[str]) -> None:
    put("old.c", TWO)
    put("new.c", OLD.replace("int main(void)\n{\n", "int main(void)\n{\n    char *c = 0;\n    c[2] = 1;\n"))
    assert main(["diff", "--engine", "automaton", "--format", "sarif", "old.c", "new.c"]) == 1
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert sorted(result["baselineState"] for result in run["results"]) == ["absent", "new", "unchanged"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "There must be one version or two"),
        (("a.c", "a.c", "a.c"), "There must be one version or two"),
        (("a.c",), "a.c has no last commit to be compared with"),
        (("nothing",), "nothing is no file or folder, and no revision of a git repository here"),
        (("a.c", "a.c", "--write-baseline", "b.json"), "Baselines are for one version"),
        (("a.c", "a.c", "--certificate", "b.json", "--engine", "auto"), "Certificates are of one version"),
    ],
)
def test_bad_input_is_one_sentence(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str) -> None:
    put("a.c", OLD)
    assert main(["diff", *words]) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.err.count("\n") == 1
    assert "Traceback" not in captured.err


COUNT = """#include <assert.h>
int nondet(void);
int main(void)
{
    int n = nondet(), *p = 0;
    if (n == 3) {
        return *p;
    }
    n = nondet() & 7;
    n = n + 1;
    assert(n > 0);
    return n;
}
"""


def checked(capsys: pytest.CaptureFixture[str], *words: str, code: int) -> dict[str, Any]:
    assert main(["check", "--format", "json", *words]) == code
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


@pytest.mark.full_budget
@pytest.mark.parametrize("extractor", ["diffdp", "diffcond"])
def test_check_looks_only_at_what_a_condition_leaves(capsys: pytest.CaptureFixture[str], extractor: str) -> None:
    put("old/a.c", COUNT)
    put("new/a.c", COUNT.replace("n + 1", "n - 1"))
    as_json(capsys, "--condition", "left.json", "--extractor", extractor, "old/a.c", "new/a.c", code=0)
    whole = checked(capsys, "new/a.c", code=1)
    assert {finding["rule"] for finding in whole["findings"]} == {"assertion", "null-dereference"}
    rest = checked(capsys, "--condition", "left.json", "new/a.c", code=1)
    assert [finding["rule"] for finding in rest["findings"]] == ["assertion"]
    assert rest["findings"][0]["status"] == "confirmed"


@pytest.mark.full_budget
def test_what_is_proved_under_a_condition_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    put("old/a.c", COUNT)
    put("new/a.c", COUNT.replace("n + 1", "n + 2"))
    as_json(capsys, "--condition", "left.json", "--extractor", "diffcond", "old/a.c", "new/a.c", code=0)
    rest = checked(capsys, "--condition", "left.json", "--rule", "assertion", "new/a.c", code=0)
    verdict = rest["functions"][0]["verdicts"]["assertion"]
    assert verdict["verdict"] == "safe"
    said = "the paths that the condition left.json leaves out violate nothing new; they were not checked"
    assert verdict["assumptions"][-1] == said
    assert f"It is assumed that {said}." in [message["text"] for message in rest["messages"]]


def test_a_condition_is_believed_of_its_program_and_its_rules_only(capsys: pytest.CaptureFixture[str]) -> None:
    put("old/a.c", COUNT)
    put("new/a.c", COUNT.replace("n + 1", "n + 2"))
    as_json(capsys, "--condition", "left.json", "old/a.c", "new/a.c", code=0)
    for words in (
        ["--condition", "left.json", "old/a.c"],
        ["--condition", "left.json", "-DNDEBUG", "new/a.c"],
        ["--condition", "left.json", "--rule", "memory-leak", "new/a.c"],
        ["--condition", "left.json", "--certificate", "c.json", "new/a.c"],
        ["--condition", "left.json", "--engine", "summary", "new/a.c"],
        ["--condition", "none.json", "new/a.c"],
        ["--condition", "new/a.c", "new/a.c"],
    ):
        assert main(["check", *words]) == 2
        assert "condition" in capsys.readouterr().err


TYPES = """#include <assert.h>
typedef int number;
enum limit { NONE, FIRST = 2 };
static int d = 5;
struct pair { int a, b; };
int main(int n, char **v)
{
    (void)v;
    int d = n;
    number k = n * 256;
    struct pair p = {1, n};
    int (*a)[n] = (void *)v;
    int *last = &n;
    int m;
    {
        m = n;
        last = &m;
    }
    assert((*a)[0] == *last - n);
    assert(k != 0 && n != FIRST && d > 0 && p.a == 1);
    return 0;
}
"""


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("typedef int", "typedef signed char"),
        ("FIRST = 2", "FIRST = 1"),
        ("int a, b;", "int b, a;"),
        ("    int d = n;\n", ""),
        ("(void)v;", '(void)v; __asm__ volatile("nop");'),
        ("    int m;\n    {", "    {\n    int m;"),
    ],
    ids=["a type", "a constant", "members", "a variable", "assembler", "a block"],
)
def test_a_condition_is_not_believed_where_the_same_words_mean_something_else(
    capsys: pytest.CaptureFixture[str], part: str, other: str
) -> None:
    old, new = put("old.c", TYPES), put("new.c", TYPES.replace(part, other))
    for first, last in ((new, old), (old, new)):
        main(["diff", "--engine", "automaton", "--rule", "assertion", "--condition", "left.json", first, last])
        assert main(["check", "--engine", "automaton", "--condition", "left.json", last]) in (0, 1)
        capsys.readouterr()
        assert main(["check", "--engine", "automaton", "--condition", "left.json", first]) == 2
        assert "is about another version" in capsys.readouterr().err


@pytest.mark.full_budget
def test_only_changed_paths_are_looked_at_for_what_is_introduced(capsys: pytest.CaptureFixture[str]) -> None:
    """The null pointer that was there before is on a path that the change does not concern."""
    put("old/a.c", COUNT)
    put("new/a.c", COUNT.replace("n + 1", "n - 1"))
    assert main(["diff", "--changed-paths", "--format", "json", "old/a.c", "new/a.c"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert numbers(document) == (1, 0, 0)
    assert document["introduced"][0]["rule"] == "assertion"
    assert document["introduced"][0]["path"] == "new/a.c"
    assert any("what is fixed is not known" in message["text"] for message in document["messages"])
    assert main(["diff", "--changed-paths", "--format", "json", "--engine", "automaton", "old/a.c", "old/a.c"]) == 0
    assert numbers(json.loads(capsys.readouterr().out)) == (0, 0, 0)
