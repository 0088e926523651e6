"""`everproof diff`: which functions a change can have changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.diffs import as_json, differing, put

from analysis.cli.main import main


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


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
    assert (document["unread"], document["removed"]) == (["one"], [])
    assert document["from_scratch"] == "it has text that does not parse"


@pytest.mark.parametrize(
    ("new", "said", "code"),
    [
        ("int kept(void) { return 1; }\n", ["(1 function compared)", "2 functions of OLD removed in NEW: one, two."], 0),
        ("int one;\n", ["NEW has none that could be read.", "3 functions of OLD removed in NEW: kept, one, two."], 0),
        (
            "int kept(void) { return 1; }\nint one(void) { return 1 + ; }\n",
            ["No function that was compared can", "2 functions not found in the part of NEW that could be read: one, two."],
            0,
        ),
        (
            "int kept(void) { return 1 + ; }\n",
            ["NEW has none that could be read.", "3 functions not found in the part of NEW that could be read: kept, one, two."],
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


@pytest.mark.parametrize("new", ["int f(int n);", "int f(int n) { return n + ; }"], ids=["without a body", "what does not parse"])
def test_callers_of_a_function_that_is_gone_may_do_something_else(capsys: pytest.CaptureFixture[str], new: str) -> None:
    rest = "\nint g(void) { return f(1); }\nint h(void) { return 2; }\n"
    put("old.c", "int f(int n) { return n + 1; }" + rest)
    put("new.c", new + rest)
    assert main(["diff", "--engine", "automaton", "--format", "json", "old.c", "new.c"]) in (0, 2)
    document = json.loads(capsys.readouterr().out)
    assert differing(document) - {"f"} == {"g"}
    assert {function["name"] for function in document["functions"]} >= {"g", "h"}
