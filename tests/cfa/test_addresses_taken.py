"""Whose addresses are taken: one answer for all engines.

The class: a variable that one engine takes for pointed to, and another does not.
"""

from __future__ import annotations

from analysis.cfa.addresses_taken import taken_by, taken_by_initialisers
from tests.support.runs import program_of

TEXT = """
struct pair { int one, other[3]; };
static int counted, whole[2], never;
static struct pair pair;
static int *initially = &counted, *rest[2] = {0, whole + 1};
static int same(int x) { return x; }
int f(int a, int b, struct pair *c) {
    int d = 0, e[2] = {0}, (*g)(int) = same;
    struct pair h = {0};
    {
        int d = 1;
        int *p = &d;
        never = *p + b;
    }
    int *q = &pair.other[1], *r = h.other, **s = &q;
    return d + *&a + e[1] + g(**s) + *r + *&c->one + counted;
}
"""


def test_parts_and_arrays_count_and_what_pointers_lead_to_does_not() -> None:
    taken = taken_by(program_of(TEXT).functions["f"])
    assert taken.own == {"d~2", "h", "q"}  # `*&a` is `a`; a subscript takes no address (C11 6.5.3.2p3)
    assert {name.partition("::")[2] for name in taken.static} == {"pair"}
    assert {name.partition("::")[2] for name in taken.functions} == {"same"}


def test_initialisers_count() -> None:
    found = taken_by_initialisers(program_of(TEXT).globals.values())
    assert {name.partition("::")[2] for name in found} == {"counted", "whole"}
