"""A read of an object that can change by itself gives any value (C11 6.7.3p7); what only looks like one does not."""

from __future__ import annotations

import pytest

from analysis.model import ir
from tests.support.lowered import cfa_of

HEAD = (
    "typedef volatile int flag; struct s { volatile int f; int n; volatile int *p; }; flag g; volatile int a[3]; int plain;"
    " int *volatile moving; volatile struct s all;"
)


def unknown_reads(statements: str, parameters: str = "void") -> int:
    """How many values the body leaves open."""
    cfa = cfa_of(f"{HEAD} int f({parameters}) {{ {statements} }}")
    return sum(isinstance(edge.effect, ir.Assign) and isinstance(edge.effect.value, ir.Unknown) for edge in cfa.edges)


@pytest.mark.parametrize(
    ("statements", "reads"),
    [
        ("return g;", 1),
        ("return g + g;", 2),
        ("volatile int v = 3; return v;", 1),
        ("static volatile int v; return v;", 1),
        ("extern volatile int v; return v;", 1),
        ("volatile int v = 1; v++; return 0;", 1),
        ("volatile int v = 1; v += 2; return 0;", 1),
        ("volatile int v = 1; int x = v++; return x;", 1),
        ("volatile int v = 1; while (v) plain = 1; return !v;", 2),
        ("return a[1];", 1),
        ("volatile int *p = &g; return *p + p[0];", 2),
        ("volatile int **p; return **p;", 1),
        ("struct s s; return s.f + s.n;", 1),
        ("struct s *s; return s->f + s->n + *s->p;", 2),
        ("return all.n;", 1),
        ("return *moving;", 1),
        ("return *(volatile int *)&plain;", 1),
        ("return ((struct s *)&all)->n;", 1),
        ("int x = g ? 1 : 2; return x;", 1),
    ],
)
def test_reads(statements: str, reads: int) -> None:
    assert unknown_reads(statements) == reads


@pytest.mark.parametrize(
    "statements",
    [
        "g = 3; return 0;",
        "volatile int v; v = 3; return 0;",
        "volatile int *p = &g; return p == 0;",
        "int *volatile *p = &moving; return p == 0;",
        "struct s s; s.f = 1; return s.n;",
        "return sizeof(g) + sizeof(a[0]);",
        "int volatile_ = 3; return volatile_;",
        "volatile int v; return &v == 0;",
    ],
)
def test_what_reads_nothing_that_is_volatile(statements: str) -> None:
    assert unknown_reads(statements) == 0


def test_parameters() -> None:
    assert unknown_reads("return *p + n;", "volatile int *p, int n") == 1
    assert unknown_reads("return p[1] + n;", "volatile int p[], volatile int n") == 2
    assert unknown_reads("return *q;", "const int *q") == 0


def test_old_style_parameters() -> None:
    cfa = cfa_of("int f(p, n) volatile int *p; int n; { return *p + n; }")
    assert sum(isinstance(e.effect, ir.Assign) and isinstance(e.effect.value, ir.Unknown) for e in cfa.edges) == 1


def test_the_access_is_still_there() -> None:
    cfa = cfa_of("int f(volatile int *p) { return *p; }")
    assert any(isinstance(part, ir.Deref) for parts in cfa.parts.values() for part in parts)
