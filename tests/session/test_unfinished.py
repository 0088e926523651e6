"""What is typed at file level, key by key, leaves the functions around it alone until it is finished."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.options import Options

TEXT = """\
typedef int word;
int zero(void) { return 0; }

static int first(int *p)
{
    p = 0;
    return *p;
}
int *second(void);
int main(void) { int n = 1; return first(&n) + zero(); }
"""
FINDINGS = [("null-dereference", "first")]
CAN_BELONG = ("static", "extern", "typedef", "static unsigned", "static unsigned long")  # to what comes next, for a moment
FUNCTIONS = ["zero", "first", "main"]


def opened(tmp_path: Path) -> tuple[Checker, str]:
    path = str(tmp_path / "a.c")
    Path(path).write_text(TEXT)
    checker = Checker(Options())
    checker.open([path])
    checker.change(path, TEXT)
    report = checker.check()
    assert [(f.rule, f.function) for f in report.findings] == FINDINGS
    assert [f.name for f in report.functions] == FUNCTIONS
    return checker, path


@pytest.mark.parametrize(
    ("typed", "function"),
    [
        ("static int limited(int x, int most)\n{\n    if (x > most) { x = most; }\n    return x;\n}", "limited"),
        ("char *name(const char *of)\n{\n    return *of ? \"}\" : (char *)of; /* } */\n}", "name"),
        ("struct pair { int a; struct { int b; } c; };", None),
        ("int table[] = { 1, 2, (3) };", None),
        ("enum { A = (1), B };", None),
        ("typedef int (*function)(int, char *);", None),
        ("extern word other(word);", None),
        ("static unsigned long counter = 3 + (4);", None),
        ("/* A note: with * and ; and { here. */", None),
        ("/*\n * A note\n * on lines\n */", None),
        ("// one line { (", None),
        ("#pragma pack(1)", None),
        ("#define ONE(x) { x", None),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    ("before", "gap"),
    [("static int first", "\n\n"), ("int *second", "\n\n"), ("int main", "\n\n"), ("static int first", "")],
)
def test_what_is_typed_leaves_other_functions_alone(
    typed: str, function: str | None, before: str, gap: str, tmp_path: Path
) -> None:
    if "/*" in typed or "//" in typed or typed[0] == "#":
        gap = "\n"  # else the line below is in the comment, or in the directive
    checker, path = opened(tmp_path)
    at = TEXT.index(before)
    for end in range(1, len(typed) + 1):
        checker.change(path, TEXT[:at] + typed[:end] + gap + TEXT[at:])
        report = checker.check()
        assert [(f.rule, f.function) for f in report.findings] == FINDINGS, typed[:end]
        assert not any(f.stale for f in report.functions), typed[:end]
        names = [f.name for f in report.functions]
        if end < len(typed):
            assert names == FUNCTIONS, typed[:end]
            # what a pragma may change that is not known is not known of any function
            unknown = typed[:end].startswith("#pragma")
            assert report.work.configurations.recomputed == 0 or unknown or typed[:end].strip() in CAN_BELONG, typed[:end]
    assert sorted(names) == sorted([*FUNCTIONS, *([function] if function else [])])
    assert not report.messages


@pytest.mark.parametrize(
    ("word", "before"), [("extern", "int main"), ("static", "int zero"), ("__attribute__((noinline))", "int zero")]
)
def test_what_can_belong_to_the_next_function_does(word: str, before: str, tmp_path: Path) -> None:
    checker, path = opened(tmp_path)
    at = TEXT.index(before)
    checker.change(path, TEXT[:at] + word + "\n" + TEXT[at:])
    report = checker.check()
    assert [f.name for f in report.functions] == FUNCTIONS
    assert not report.messages


def test_what_does_not_end_is_reported(tmp_path: Path) -> None:
    checker, path = opened(tmp_path)
    at = TEXT.index("static int first")
    checker.change(path, TEXT[:at] + "int half(int n)\n{\n    return n / 2;\n\n" + TEXT[at:])
    (message,) = checker.check().messages
    assert (message.line, message.text) == (6, "This text does not parse and is not checked.")


def test_the_functions_above_are_edited_while_something_is_unfinished(tmp_path: Path) -> None:
    checker, path = opened(tmp_path)
    at = TEXT.index("static int first")
    open_ = TEXT[:at] + "int half(int n)\n{\n    return n / 2;\n\n" + TEXT[at:]
    checker.change(path, open_)
    checker.check()
    for edited in (
        open_.replace("return 0", "return 1"),
        open_.replace("return 0", "return 1").replace("p = 0;\n    ", ""),
        open_.replace("p = 0;\n    ", "").replace("typedef int word;", "typedef long word;"),
    ):
        checker.change(path, edited)
        report = checker.check()
        assert [f.name for f in report.functions] == FUNCTIONS
        assert [f.function for f in report.findings] == ["first"] * ("p = 0" in edited)
        assert len(report.messages) == 1


@pytest.mark.parametrize("above", ["// moved\n", "\n\n", "/* one\n   two */\n", "int x;\n", "#define A 1\n", "static\n"])
def test_what_is_put_above_the_first_function_is_read(above: str, tmp_path: Path) -> None:
    text = "int half(int n)\n{\n    return n / 2;\n}\n"
    path = tmp_path / "a.c"
    path.write_text(text)
    checker = Checker(Options())
    checker.open([str(path)])
    checker.check()
    path.write_text(above + text)
    report = checker.check()
    assert [(f.name, f.place.range.start.line) for f in report.functions] == [("half", 1 + above.count("\n"))]
    assert not report.messages


@pytest.mark.parametrize("lines", [(1,), (0, 1), (1, 2), (2,)])
def test_a_comment_loses_lines(lines: tuple[int, ...], tmp_path: Path) -> None:
    """What is left of it may be open, so that all behind it is a comment; when the lines come back, so does the function."""
    text = ["/* one\n", "   two */\n", "int half(int n)\n", "{\n    return n / 2;\n}\n"]
    path = tmp_path / "a.c"
    path.write_text("".join(text))
    checker = Checker(Options())
    checker.open([str(path)])
    checker.check()
    checker.change(str(path), "".join(line for number, line in enumerate(text) if number not in lines))
    assert {f.name for f in checker.check().functions} <= {"half"}
    checker.change(str(path), "".join(text))
    report = checker.check()
    assert [(f.name, f.place.range.start.line) for f in report.functions] == [("half", 3)]
    assert not report.messages


_FOUR = """\
int *g;
void f(int *p, int x)
{
    int *q = p;
    g = q;
    x = *q;
out:
    return ;
}
int *h(int *p, int x)
{
    int *q = p;
    goto out;
out:
    return q;
}
int i(int x)
{
    return x;
}
void j(int *p, int x)
{
    int *q = p;
    q = 0;
    return ;
out:
    return ;
}
"""


@pytest.mark.parametrize(
    "cut", ["    x = *q;\nout:\n    return ;\n}\n", "out:\n    return q;\n}\n", "}\nvoid j", "{\n    return x"]
)
@pytest.mark.parametrize("edited", ["    q = 0;", "    g = q;", "    goto out;"])
def test_a_function_that_was_broken_is_whole_again(cut: str, edited: str, tmp_path: Path) -> None:
    """Also where another one was edited meanwhile, so that what did not parse ended in the middle of it."""
    path = str(tmp_path / "a.c")
    checker = Checker(Options())
    other = _FOUR.replace(edited, f"    if (x) h(p, x - 1);\n{edited}")
    Path(path).write_text(_FOUR)
    checker.open([path])
    checker.check()
    for text in (_FOUR.replace(cut, " "), other.replace(cut, " "), other):
        checker.change(path, text)
        report = checker.check()
    assert report.messages == ()
    assert [f.name for f in report.functions] == ["f", "h", "i", "j"]


@pytest.mark.parametrize("broken", ["return = = 0;\n}\n", "retu"])
def test_a_function_that_does_not_parse_may_call_what_is_declared_no_more(tmp_path: Path, broken: str) -> None:
    path, used = str(tmp_path / "a.c"), "int user(int *p)\n{\n    gone(p, 1);\n    "
    Path(path).write_text("void gone(int *p, int x)\n{\n    *p = x;\n}\n" + used + "return 0;\n}\n")
    checker = Checker(Options())
    checker.open([path])
    assert [(f.name, f.stale) for f in checker.check().functions] == [("gone", False), ("user", False)]
    checker.change(path, used + broken)
    assert [(f.name, f.stale) for f in checker.check().functions] == [("user", True)]


_ABOVE = """\
typedef int int32_t; typedef unsigned uint; typedef signed char int8; typedef struct foo { int v; } foo; struct bar { int v; };
int zero(void) { return 0; }

"""
_BELOW = "\nint main(void) { return zero(); }\n"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("typedef signed char small;", "typedef unsigned char small;"),
        ("static int n;", "static int32_t n;"),
        ("typedef int small;", "typedef int8 small;"),
        ("extern int n;", "extern uint n;"),
        ("int n;", "int an;"),
        ("int n;", "int na;"),
        ("int i;", "int_i;"),
        ("int f(int a);", "uint f(int a);"),
        ("int f(void) { return 1; }", "uint f(void) { return 1; }"),
        ("int f(void) { return 1; }", "int32_t f(void) { return 1; }"),
        ("static foo *list;", "static struct foo *list;"),
        ("foo *f(void) { return 0; }", "struct foo *f(void) { return 0; }"),
        ("bar *n;", "struct bar *n;"),
        ("static unsigned n;", "static char unsigned n;"),
        ("long f(void) { return 1; }", "int long f(void) { return 1; }"),
        ("double n;", "long double n;"),
    ],
)
def test_a_declaration_that_is_edited_is_what_it_is_from_scratch(one: str, other: str, tmp_path: Path) -> None:
    """What makes another word, or another type, of a declaration is no item of its own: both ways."""
    path = str(tmp_path / "a.c")

    def read(*middle: str) -> tuple[dict[str, object], int, list[str]]:
        checker = Checker(Options(engine="automaton"))
        Path(path).write_text(_ABOVE + middle[0] + _BELOW)
        checker.open([path])
        for version, text in enumerate(middle):
            checker.change(path, _ABOVE + text + _BELOW, version)
            checker.check()
        (built,) = checker.built
        functions = [str(function.cfa.type) for function in built.unit.functions]
        return dict(built.unit.level.scope.names), built.parse_errors, functions

    assert read(one, other) == read(other)
    assert read(other, one) == read(one)
