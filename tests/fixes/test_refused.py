"""What fixes are not made of, and that a text keeps its line ends, its header and its other functions."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.fixes import confirmed, fixed

from analysis.api import Checker
from analysis.fixes.confirming import is_mended
from analysis.fixes.kinds import families
from analysis.fixes.source_text import SourceText
from analysis.model.options import Options
from analysis.model.places import Place, Position, Range
from analysis.model.report import Finding
from analysis.model.text_changes import changed

LEAK = """#include <stdlib.h>
#include <string.h>
int length(const char *text)
{
    char *copy = strdup(text);
    if (copy == NULL)
        return -1;
    LEAVE
    free(copy);
    return 1;
}
"""


def only(tmp_path: Path, text: str) -> list[str]:
    """The texts that fixes of the only finding of a program make of it."""
    program = tmp_path / "a.c"
    program.write_bytes(text.encode())
    return [fixed(text, fix) for fix in confirmed(program, text)]


@pytest.mark.parametrize(
    "leave",
    [
        "if (copy[0]) return (int)strlen(copy);",  # reads what would be gone
        "if (copy[0]) { const char *end = copy + 1; return *end; }",  # by another name
        "#ifdef SHORT\n    return 0;\n#else\n    if (copy[0])\n        return 0;\n#endif",
        "if (copy[0]) \\\n        return 0;",
        "#define LEAVE_IF(x) if (x) return 0\n    LEAVE_IF(copy[0]);",
    ],
    ids=["read", "alias", "directive", "continued-line", "macro"],
)
def test_no_fix_where_the_text_is_not_simple(tmp_path: Path, leave: str) -> None:
    assert only(tmp_path, LEAK.replace("LEAVE", leave)) == []


def test_line_ends_stay_what_they_are(tmp_path: Path) -> None:
    text = LEAK.replace("LEAVE", "if (copy[0])\n        return 0;").replace("\n", "\r\n")
    (found,) = only(tmp_path, text)
    assert found.replace("\r\n", "") == found.replace("\r\n", "\n").replace("\n", "")
    assert "{\r\n        free(copy);\r\n        return 0;\r\n    }\r\n" in found


def test_columns_count_code_points(tmp_path: Path) -> None:
    text = LEAK.replace("LEAVE", "/* \N{GREEK SMALL LETTER ALPHA}\N{GRINNING FACE} */ if (copy[0]) return 0;")
    (found,) = only(tmp_path, text)
    assert "*/ if (copy[0]) { free(copy); return 0; }\n" in found


def test_a_finding_in_a_header_is_mended_there(tmp_path: Path) -> None:
    header, program = tmp_path / "a.h", tmp_path / "a.c"
    text = LEAK.replace("LEAVE", "if (copy[0])\n        return 0;").replace("int length", "static int length")
    header.write_text(text)
    program.write_text('#include "a.h"\nint main(int argc, char **argv)\n{\n    return argc > 1 ? length(argv[1]) : 0;\n}\n')
    (fix,) = confirmed(program, text, path=header)
    assert fix.path == str(header)
    assert "        free(copy);\n        return 0;\n    }\n" in fixed(text, fix)


def test_a_fix_that_leaves_something_else_broken_is_not_offered(tmp_path: Path) -> None:
    """Without the second call there is a leak where `c` is 1; without the first one all is well."""
    twice = "    if (c > 1)\n        free(p);\n    if (c > 0)\n        free(p);\n    if (c <= 0)\n        free(p);\n"
    text = f"#include <stdlib.h>\nvoid f(int c)\n{{\n    int *p = malloc(4);\n{twice}}}\n"
    assert only(tmp_path, text) == [text.replace("    if (c > 1)\n        free(p);\n", "")]


def test_a_text_that_does_not_parse_is_not_a_fix(tmp_path: Path) -> None:
    program = tmp_path / "a.c"
    program.write_text(LEAK.replace("LEAVE", "if (copy[0])\n        return 0;"))
    checker = Checker(Options(engine="automaton"))
    checker.open([str(program)])
    before = checker.check()
    (finding,) = before.findings
    assert families(SourceText(program.read_text()), finding)
    checker.change(str(program), program.read_text().replace("return 0;", "return 0"))
    assert not is_mended(before, checker.check(), finding)


@pytest.mark.parametrize(
    ("declared", "initialised"),
    [
        ("int first, x;", "int first, x = 0;"),
        ("char *x;", "char *x = 0;"),
        ("int x[3];", "int x[3] = {0};"),
        ("struct pair x;", "struct pair x = {0};"),
        ("static int x;", None),
        ("extern int x;", None),
    ],
)
def test_what_a_variable_is_initialised_with(declared: str, initialised: str | None) -> None:
    text = f"struct pair {{ int a, b; }};\nvoid use(int);\nvoid f(void)\n{{\n    {declared}\n    use(x);\n}}\n"
    message = "Something is read before it has a value: x is read before it has a value"
    place = Place("a.c", Range(Position(6, 5), Position(6, 8)))
    finding = Finding("uninitialized-read", "confirmed", "error", message, place, "f", "1", ())
    found = [changes for family in families(SourceText(text), finding) for _, changes in family]
    assert [changed(text.encode(), changes).decode() for changes in found] == (
        [] if initialised is None else [text.replace(declared, initialised)]
    )


def test_a_way_out_that_says_success_is_not_taken(tmp_path: Path) -> None:
    text = """enum { IS_OK, IS_ERR };
void *malloc(unsigned long); void free(void *);
int fill(int n)
{
    if (n == 0)
        return IS_OK;
    if (n > 9)
        return IS_ERR;
    char *made = malloc(9);
    made[n] = 1;
    free(made);
    return IS_OK;
}
"""
    found = only(tmp_path, text)[0]
    assert "    if (!made)\n        return IS_ERR;\n    made[n] = 1;\n" in found
