"""Which functions are proved to do what they did ([DIFFDP], for the goal "behaviour")."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.engines.difference.equal_functions import with_proved
from analysis.engines.difference.function_pairs import ProgramPair
from analysis.engines.difference.unchanged_functions import Difference, differences
from analysis.interpreter.outcome import End
from tests.support.explorations import runs
from tests.support.program_pairs import answers, pair_of
from tests.support.random_pairs import versions

HEAD = """int nondet(void); int other(int); int printf(const char *, ...); void abort(void);
int g, h; extern int e; volatile int v; int *where = &g;
"""
REST = " int caller(int a) { return f(a) + 1; }"


def found(programs: ProgramPair) -> dict[str, Difference]:
    return with_proved(programs, differences(programs.old, programs.new, programs.change))


def ends(programs: ProgramPair, *, new: bool) -> dict[tuple[object, ...], End]:
    """How runs end, by their inputs."""
    program = programs.new.program if new else programs.old.program
    return {answers(run): run.end for run in runs(program, 500)}


def alike(one: End, other: End) -> bool:
    return type(one) is type(other) and getattr(one, "value", None) == getattr(other, "value", None)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=200, deadline=None)
def test_programs_that_are_proved_equal_end_alike(seed: int) -> None:
    programs = pair_of(*versions(Random(seed)))
    if found(programs)["main"] != "possible":
        before, after = ends(programs, new=False), ends(programs, new=True)
        assert before.keys() == after.keys()
        assert all(alike(end, after[inputs]) for inputs, end in before.items())


def test_some_random_programs_are_proved_equal() -> None:
    known = [found(pair_of(*versions(Random(seed))))["main"] for seed in range(100)]
    assert known.count("proved-equivalent") >= 2
    assert known.count("possible") >= 50


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("int b = 1; b = a; return b;", "int b = 2; b = a; return b;"),
        ("int b = a; return a;", "return a;"),
        ("return a;", "int b = 7; return a;"),
        ("g = 1; g = a; return 0;", "g = a; return 0;"),
        ("int b = a; if (a) b = 2; return b;", "int c = 3; int b = a; if (a) b = 2; return b;"),
        ("for (int i = 0; i < a; i++) g = i; return 0;", "int b = 1; for (int i = 0; i < a; i++) g = i; return 0;"),
        ("int b = 1; return other(a);", "int b = 2; return other(a);"),
        ("return inner(a, 1);", "return inner(a, 2);"),
        ("int b = 1; if (a > 3) abort(); return a;", "int b = 2; if (a > 3) abort(); return a;"),
    ],
)
def test_what_does_the_same_is_proved(was: str, now: str) -> None:
    text = HEAD + "static int inner(int a, int unused) { return a; } int f(int a) { @ }" + REST
    programs = pair_of(text.replace("@", was), text.replace("@", now))
    assert found(programs) == {"t.c::inner": "none", "f": "proved-equivalent", "caller": "proved-equivalent"}


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("return a;", "return 1;"),
        ("g = 1; return a;", "g = 2; return a;"),
        ("g = 1; return a;", "return a;"),
        ("*where = 1; return a;", "*where = 2; return a;"),
        ("return a;", "other(1); return a;"),
        ("other(1); return a;", "return a;"),
        ("other(1); return a;", "other(2); return a;"),
        ('printf("%d", a); return a;', 'printf("%d", 0); return a;'),
        ("other(1); other(2); return a;", "other(2); other(1); return a;"),
        ("return a;", "nondet(); return a;"),
        ("return a;", "while (a) ; return a;"),
        ("return a;", "int b; for (;;) b = 1; return a;"),
        ("return a;", "for (;;) ; return a;"),
        ("if (a) return 1; return 2;", "if (a) return 2; return 1;"),
        ("if (a > 1) g = 1; return 1;", "if (a > 2) g = 1; return 1;"),
        ("return a;", "if (a > 3) abort(); return a;"),
        ("if (a > 3) abort(); return a;", "return a;"),
        ("int b = 0; return a;", "int b = 1 / a; return a;"),
        ("int b = v; return b;", "int c = 1; int b = v; return b;"),
        ('__asm__("nop"); int b = 1; return a;', '__asm__("nop"); int b = 2; return a;'),
        ("int k[1] = {1}; return k[0];", "int k[1] = {2}; return k[0];"),
        ("static int k = 1; return k++;", "static int k = 2; return k++;"),
    ],
)
def test_what_may_do_something_else_is_left(was: str, now: str) -> None:
    text = HEAD + "int f(int a) { @ }" + REST
    programs = pair_of(text.replace("@", was), text.replace("@", now))
    assert found(programs) == {"f": "possible", "caller": "possible"}
