"""What a run knows of a line that it read: it ends at its first newline, and what is behind its end is as it was (C11 7.21.7.2).

The class: functions of the library that fill a buffer, of which a run takes any contents for possible.
"""

from __future__ import annotations

import pytest

from analysis.interpreter.outcome import NotModelled, Observation, Returned
from tests.support.runs import main_of, run_of

FGETS = "FILE *in; char *fgets(char *, int, FILE *); size_t strcspn(const char *, const char *);"
NEWLINE, A, B = 10, 97, 98


def line_of(statements: str, *characters: int) -> object:
    """How a program ends that reads a line, whose characters are asked for one by one."""
    read = 'char b[6] = "vwxyz"; in = fopen("in", "r"); if (!in || !fgets(b, 6, in)) return 99;'
    return run_of(main_of(f"{read} {statements}", FGETS), (1, 1, *characters)).end


@pytest.mark.parametrize(
    ("statements", "characters", "value"),
    [
        ("return b[0] == 'a' && b[1] == '\\n' ? b[2] : 1;", (A, NEWLINE), 0),
        ("return b[0] == 'a' && b[1] == '\\n' ? b[4] : 1;", (A, NEWLINE), ord("z")),
        ("return b[0] == '\\n' ? b[5] : 1;", (NEWLINE,), 0),
        ("return (int)strlen(b);", (A, NEWLINE), 2),
        ("return (int)strlen(b);", (A, B, A, B, NEWLINE), 5),
        ("return (int)strlen(b);", (A, B, A, B, A), 5),
        ('b[strcspn(b, "\\n")] = 0; return b[0] + b[1];', (A, NEWLINE), A),
        ("return b[5];", (), 0),
        ("char c[6]; memcpy(c, b, 6); return c[0] + c[1] + c[2] + c[3];", (A, NEWLINE), A + NEWLINE + ord("y")),
    ],
)
def test_a_line_ends_at_its_newline(statements: str, characters: tuple[int, ...], value: int) -> None:
    assert line_of(statements, *characters) == Returned(value)


@pytest.mark.parametrize(
    ("statements", "characters"),
    [
        ("return b[2] == 'a' && b[0] == '\\n';", (A, NEWLINE)),
        ("return b[5] == 0 && b[0] == '\\n';", (NEWLINE,)),
        ("b[5] = 'x'; return b[0] == '\\n';", (NEWLINE,)),
        ("char end; memcpy(&end, b + 5, 1); return b[0] == '\\n';", (NEWLINE,)),
    ],
)
def test_a_newline_that_comes_too_late_ends_the_run(statements: str, characters: tuple[int, ...]) -> None:
    assert isinstance(line_of(statements, *characters), NotModelled)


def test_what_is_behind_the_end_stays_indeterminate() -> None:
    read = 'char b[6]; in = fopen("in", "r"); if (!in || !fgets(b, 6, in)) return 99; return b[0] == \'\\n\' ? b[2] : 1;'
    end = run_of(main_of(read, FGETS), (1, 1, NEWLINE)).end
    assert isinstance(end, Observation)
    assert end.kind == "uninitialized-read"


@pytest.mark.parametrize(("size", "end"), [(1, Returned(0)), (0, None), (-1, None)])
def test_lines_without_characters(size: int, end: object) -> None:
    read = f'char b[2] = "x"; in = fopen("in", "r"); if (!in || !fgets(b, {size}, in)) return 99; return b[0];'
    found = run_of(main_of(read, FGETS), (1, 1)).end
    assert found == end if end is not None else isinstance(found, NotModelled)
