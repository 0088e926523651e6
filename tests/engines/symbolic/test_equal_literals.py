"""Whether equal string literals are one object is not known (C11 6.4.5p7), nor whether one is the end of another.

The class: what a compiler may lay out either way, decided by comparisons of addresses; and the text of an address.
"""

from __future__ import annotations

import pytest

from analysis.cpa.obstacles.compared_objects import compared_objects
from analysis.engines.symbolic import Effort, ProgramTask, Refuted, decide_program
from tests.support.runs import program_of


def is_refuted(declarations: str, body: str) -> bool:
    program = program_of(f"{declarations} int main(void) {{ {body} return 0; }}")
    found = decide_program(ProgramTask(program, frozenset({"assertion"}), Effort(seconds=30, states=2_000)))
    return isinstance(found, Refuted)


OPEN = [
    ("", 'char *p = "ab", *q = "ab";', "p == q"),
    ("", 'char *p = "ab", *q = "xab";', "p == q + 1"),
    ('static char *p = "ab";', 'char *q = "ab";', "p == q"),
    ('static char *p = "ab", *q = "ab";', "", "p == q"),
    ('static char *v[2] = {"ab", "ab"};', "", "v[0] == v[1]"),
    ('static char *f(void) { return "ab"; } static char *g(void) { return "ab"; }', "", "f() == g()"),
    ("static int same(char *p, char *q) { return p == q; }", "", 'same("ab", "ab")'),
]


@pytest.mark.parametrize(("declarations", "before", "condition"), OPEN)
def test_it_is_not_refuted(declarations: str, before: str, condition: str) -> None:
    assert not is_refuted(declarations, f"{before} if ({condition}) reach_error();")
    assert not is_refuted(declarations, f"{before} if (!({condition})) reach_error();")
    assert compared_objects(program_of(f"{declarations} int main(void) {{ {before} return {condition}; }}"))


@pytest.mark.parametrize(
    ("declarations", "before", "condition"),
    [
        ("", 'char *p = "ab", *q = p;', "p != q"),
        ("", 'char *p = "ab", *q = "abc";', "p == q"),
        ('static char *f(void) { return "ab"; }', "", "f() != f()"),
        ("", 'char p[] = "ab", q[] = "ab";', "p == q"),
    ],
)
def test_what_is_known_is_refuted(declarations: str, before: str, condition: str) -> None:
    assert is_refuted(declarations, f"{before} if ({condition}) reach_error();")
    assert not compared_objects(program_of(f"{declarations} int main(void) {{ {before} return {condition}; }}"))


@pytest.mark.parametrize("number", [5, 14])
def test_the_text_of_an_address_decides_nothing(number: int) -> None:
    for operator in ("==", "!="):
        body = f'char t[40]; int x; int n = sprintf(t, "%p", (void *)&x); if (n {operator} {number}) reach_error();'
        assert not is_refuted("", body)
