"""Which programs rest on the bytes of a union behind the member that was stored.

Class: values that C leaves open (C11 6.2.6.1p7), and that proofs take as they were.
"""

from __future__ import annotations

import pytest

from analysis.cfa.linking.evaluation_order import assumptions_of
from analysis.model.assumptions import UNION_RESTS
from tests.support.explorations import program_of

_DECLARED = "union u { int i; long l; float f; struct { char c; int j; } s; }; union u u; struct tagged { int t; union u u; } t;"


@pytest.mark.parametrize(
    ("body", "is_listed"),
    [
        ("u.l = -1; u.i = 1; return u.l > 0;", True),
        ("t.u.i = 1; return (int)t.u.l;", True),
        ("union u *p = &u; p->i = 1; return p->s.j;", True),
        ("int *p = &u.i; *p = 1; return u.l > 0;", True),
        ("u.i = 1; return u.f > 0;", False),
        ("u.l = 1; return u.i;", False),
        ("u.i = 1; t.u = u; return u.i;", False),
        ("return t.t;", False),
    ],
)
def test_the_assumption_is_listed_where_a_larger_member_is_read(body: str, is_listed: bool) -> None:
    said = assumptions_of(program_of(f"{_DECLARED} int main(void) {{ {body} }}"))
    assert (UNION_RESTS.sentence in said) is is_listed
