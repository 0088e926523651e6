"""`everproof diff`: which findings a change has introduced and fixed."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.diffs import FIXED, OLD, TWO, as_json, numbers, put


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


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
