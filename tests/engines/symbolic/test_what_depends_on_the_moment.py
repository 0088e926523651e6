"""A run confirms nothing that depends on when the program is translated: its text is preprocessed as of a moment at which nobody
compiles it.

The class: what such a run tests comes from `__DATE__` and its like, directly, or through variables. Where the text is printed and
no more, the run confirms."""

from __future__ import annotations

import pytest

from analysis.c.translation_time import MOMENT
from analysis.engines.symbolic import Confirmed, Effort, ProgramTask, decide_program
from tests.support.runs import program_of

HEADER = "int printf(const char *, ...); int puts(const char *); int strcmp(const char *, const char *); void reach_error(void);"
DEPENDENT = {
    "a character": ("", "if (WHEN[0]) reach_error();"),
    "through a local pointer": ("", "const char *s = WHEN; if (s[1]) reach_error();"),
    "through a local array": ("", "char s[] = WHEN; if (s[2]) reach_error();"),
    "as a part of a text": ("", 'if (("built on " WHEN)[9]) reach_error();'),
    "compared": ("", 'if (strcmp(WHEN, "May  4 2020")) reach_error();'),
    "through a variable": ("static const char when[] = WHEN;", "if (when[2]) reach_error();"),
    "through a member": ("struct { int n; const char *s; } v = { 1, WHEN };", "if (v.s[2]) reach_error();"),
    "through a pointer to a variable": (
        "const char *when = WHEN; const char **table[] = { 0, &when };",
        "if ((*table[1])[2]) reach_error();",
    ),
    "in a function that is called": ("int year(void) { return WHEN[3]; }", "if (year()) reach_error();"),
}
PRINTED = {
    "only printed": ("", 'printf("%s", WHEN); reach_error();'),
    "a variable that is only printed": ('const char *when = "on " WHEN;', "puts(when); reach_error();"),
    "where the run does not come": ("int year(void) { return WHEN[3]; }", "reach_error(); year();"),
}


def is_confirmed(before: str, statements: str, value: str) -> bool:
    text = f"{before} int main(void) {{ {statements} return 0; }}".replace("WHEN", value)
    text = f'# 1 "/usr/include/some.h" 1 3 4\n{HEADER}\n# 1 "p.c" 2\n{text}'
    task = ProgramTask(program_of(text), frozenset({"assertion"}), Effort(seconds=8, states=2_000))
    return isinstance(decide_program(task), Confirmed)


@pytest.mark.parametrize("name", DEPENDENT)
def test_what_depends_on_it_is_not_confirmed(name: str) -> None:
    before, statements = DEPENDENT[name]
    assert is_confirmed(before, statements, '"May  4 2022"')
    assert not is_confirmed(before, statements, MOMENT["__DATE__"])


@pytest.mark.parametrize("name", PRINTED)
def test_what_only_prints_it_is_confirmed(name: str) -> None:
    assert is_confirmed(*PRINTED[name], MOMENT["__TIME__"])
