"""Bounded answers: what the bound leaves out is said, what is not modelled is unknown, and runs of the interpreter agree."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from analysis.cfa.graph import Program
from analysis.cpa.predicates.violations import Property
from analysis.engines.summary.bounded_answer import BoundedAnswer, Level
from analysis.engines.summary.loop_unwinding import UnwoundBody
from analysis.engines.summary.revision_chain import ChainOptions, RevisionChain
from analysis.engines.summary.tree_interpolation import LiteralsFirst
from analysis.smt.encoding.numbers.formula import Mode
from analysis.smt.transitions.vocabulary import TooLargeError
from tests.support import random_c, random_calls
from tests.support.explorations import errs, program_of, runs
from tests.support.lowered import cfa_of

HEAD = (
    "void reach_error(void); int nondet(void); void *malloc(unsigned long); int printf(const char *, ...); "
    "int atexit(void (*)(void));\n"
)
_NO_PLACE = "only main and what it calls are looked at, and nothing there could violate it"
program_of(random_c.program(Random(0)))  # before any test: it raises Python's recursion limit


def answer(body: str, bound: int = 3, mode: Level = "int", property_: Property = "assertion") -> BoundedAnswer:
    return of(program_of(HEAD + body), bound, mode, property_)


def of(program: Program, bound: int, mode: Level = "int", property_: Property = "assertion") -> BoundedAnswer:
    """Returns an answer, without a general method of interpolation, which would take longer."""
    return RevisionChain(ChainOptions(property=property_, bound=bound, level=mode), LiteralsFirst(None)).verify(program)


COUNTS = "int main(void) {{ int i = 0; while (i < {rounds}) i++; if (i == {rounds}) reach_error(); return 0; }}"


@pytest.mark.parametrize("mode", ["int", "bv"])
def test_a_loop_is_followed_as_often_as_the_bound_says(mode: Mode) -> None:
    assert answer(COUNTS.format(rounds=3), 3, mode).status == "possible"
    short = answer(COUNTS.format(rounds=3), 2, mode)
    assert short.status == "unknown"
    assert short.reasons == ("the bound leaves out every place where it could be violated",)
    found = answer(COUNTS.format(rounds=3).replace("i = 0", "i = nondet()").replace("i == 3", "i < 3"), 2, mode)
    assert (found.status, found.is_complete) == ("holds", False)
    assert found.sentence() == "no run violates assertion within bound 2; longer runs were not looked at"


MANY = "static int many(void) { int n = nondet(); return n < 50 ? 50 : n; } static void check(int c) { if (!c) reach_error(); } "


@pytest.mark.parametrize("level", ["euf", "lra", "int", "bv"])
@pytest.mark.parametrize(
    "body",
    [
        "int main(void) { int n = nondet(), i = 0; if (n < 50) return 0; while (i < n) i++; check(i == n); return 0; }",
        "int main(void) { int n = nondet(), i = 0; if (n < 50) n = 50; while (i < n) i++; check(i == n); return 0; }",
        "int main(void) { int i = 0; do i++; while (i < 50); if (i != 50 || i < 3) reach_error(); return 0; }",
        "int main(void) { for (int i = 0, j; i < 50; i++) if (i > 9) { j = i; check(j != 7); } return 0; }",
    ],
)
def test_a_bound_within_which_no_run_comes_to_a_place_says_so(body: str, level: Level) -> None:
    said = answer(MANY + body, 3, level)
    assert said.status == "unknown"
    if level in ("int", "bv"):  # the others do not know that 3 < 50
        assert said.reasons == ("the bound leaves out every place where it could be violated",)


@pytest.mark.parametrize("level", ["euf", "lra", "int", "bv"])
@pytest.mark.parametrize(
    "body",
    [
        "int main(void) { int n = nondet(), x = 5; if (x != 5) reach_error(); while (n > 0) n--; return x; }",
        "int main(void) { int n = nondet(), x = 5; while (n > 0) { if (x != 5) reach_error(); n--; } return x; }",
        "int main(void) { int n = nondet(), x = 5; while (n) { if (x != 5 && n) reach_error(); while (n > 9) n--; } return x; }",
        "int main(void) { int x = 5, n = nondet(); while (x < 9) { if (x == 5 || n == 7) continue; reach_error(); } return x; }",
        "int main(void) { int x = 5; while (1) { if (x == 6) reach_error(); if (nondet()) x = 5; } return x; }",
        "int main(void) { int n = nondet(); check(1); while (n > 0) n--; return 0; }",
    ],
)
def test_a_check_that_holds_always_is_come_to(body: str, level: Level) -> None:
    said = answer(MANY + body, 3, level)
    assert (said.status, said.is_complete) == ("holds", False)


def test_that_the_bound_left_out_nothing_is_asked() -> None:
    body = COUNTS.replace("i == {rounds}", "i != {rounds}").format(rounds=3)
    assert answer(body, 3).is_complete
    assert not answer(body, 2).is_complete
    assert "there are no other runs" in answer(body, 3).sentence()


def test_loops_in_loops_begin_anew() -> None:
    body = (
        "int main(void) { int i, j, n = 0; for (i = 0; i < 2; i++) for (j = 0; j < 2; j++) n++;"
        " if (n OPERATOR 4) reach_error(); return 0; }"
    )
    held = answer(body.replace("OPERATOR", "!="), 2)
    assert (held.status, held.is_complete) == ("holds", True)
    assert answer(body.replace("OPERATOR", "=="), 2).status == "possible"
    assert not answer(body.replace("OPERATOR", "!="), 1).is_complete


SHARED = {  # twice two rounds, and the next loop begins where this one does
    "while in do": "do { while (j < 3) { j++; n++; } j = 1; i++; } while (i < 3);",
    "while in an endless loop": "while (1) { while (j < 3) { j++; n++; } j = 1; if (++i == 3) break; }",
    "do in an endless loop": "for (;;) { do { j++; n++; } while (j < 3); j = 1; if (++i == 3) break; }",
    "do in do": "do { do { j++; n++; } while (j < 3); j = 1; i++; } while (i < 3);",
    "while in a loop of goto": "again: while (j < 3) { j++; n++; } j = 1; if (++i < 3) goto again;",
    "goto in do": "do { again: j++; n++; if (j < 3) goto again; j = 1; i++; } while (i < 3);",
    "two labels": "outer: inner: j++; n++; if (j < 3) goto inner; j = 1; if (++i < 3) goto outer;",
    "behind a loop that is left out": (
        "for (;;) { if (0) { while (n) n--; } while (j < 3) { j++; n++; } j = 1; if (++i == 3) break; }"
    ),
    "before a label that leads to it": (
        "outer: goto in; skipped: while (n) n--; in: j++; n++; if (j < 3) goto in; j = 1; if (i > 9) goto skipped;"
        " if (++i < 3) goto outer;"
    ),
    "in a block": "do {{ int k; while (j < 3) { k = 1; j += k; n++; } } j = 1; i++; } while (i < 3);",
}


@pytest.mark.parametrize("loops", SHARED.values(), ids=SHARED)
def test_loops_that_begin_at_one_place_are_counted_apart(loops: str) -> None:
    body = f"int main(void) {{ int i = 1, j = 1, n = 0; {loops} if (n OPERATOR 4) reach_error(); return 0; }}"
    held = answer(body.replace("OPERATOR", "!="), 2)
    assert (held.status, held.is_complete) == ("holds", True)
    assert answer(body.replace("OPERATOR", "=="), 2).status == "possible"


ENTERED = {  # loops, and what n can be after them; none goes back more than twice
    "Duff's device": ("switch (nondet() & 1) { case 0: do { n++; case 1: i++; } while (i < 3); }", 3),
    "Duff's device, entered inside": ("switch (nondet() & 1) { case 0: do { n++; case 1: i++; } while (i < 3); }", 2),
    "jump into while": ("if (nondet()) goto in; while (i < 2) { n++; in: i++; }", 2),
    "jump into while, entered inside": ("if (nondet()) goto in; while (i < 2) { n++; in: i++; }", 1),
    "jump into for": ("if (nondet()) goto in; for (i = 0; i < 2; i++) { n++; in:; }", 1),
    "jump into a loop in a loop": ("if (nondet()) goto in; for (; i < 2; i++) for (j = 0; j < 2; j++) { n++; in:; }", 2),
    "in a loop": ("for (; j < 3; j++) { i = 0; if (j == 2) goto in; do { n++; in: i++; } while (i < 2); }", 3),
    "goto": ("if (nondet()) goto in; top: n++; in: i++; if (i < 3) goto top;", 2),
}


@pytest.mark.parametrize(("loops", "rounds"), ENTERED.values(), ids=ENTERED)
def test_loops_with_several_entries_begin_at_the_first_in_the_text(loops: str, rounds: int) -> None:
    body = f"int main(void) {{ int i = 0, j = 1, n = 0; {loops} if (n == {rounds}) reach_error(); return 0; }}"
    assert answer(body, 2).status == "possible"


def test_jumps_into_a_loop_end() -> None:
    text = "int f(int a) { if (a) goto in; top: a--; if (a > 3) goto top; in: if (a > 1) goto top; return a; }"
    body = UnwoundBody(cfa_of(text), 2, 1000)
    place = {copy: number for number, copy in enumerate(body.order)}
    for copy in body.order:
        for edge in cfa_of(text).outgoing.get(copy[0], ()):
            after = body.after(copy, edge)
            assert after is None or place[after] > place[copy]
    with pytest.raises(TooLargeError):
        UnwoundBody(cfa_of(text), 2, 5)


@pytest.mark.parametrize("mode", ["int", "bv"])
def test_recursion_is_followed_as_deep_as_the_bound_says(mode: Mode) -> None:
    body = "int down(int n) { if (n <= 0) return 0; return 1 + down(n - 1); } int main(void) { if (down(2) == 2) reach_error(); }"
    assert answer(body, 3, mode).status == "possible"
    short = answer(body, 2, mode)
    assert (short.status, short.is_complete) == ("holds", False)


def test_a_bound_that_leaves_out_every_place_says_so() -> None:
    body = "static void f(int n) { if (n) f(n - 1); } int main(void) { f(3); return 0; }"
    assert answer(body).reasons == (_NO_PLACE,)
    assert answer("static void last(void) { reach_error(); } int main(void) { atexit(last); return 0; }").reasons == (_NO_PLACE,)
    deep = (
        "static void odd(int); static void even(int n) { if (n > 8) reach_error(); if (n) odd(n - 1); }"
        " static void odd(int n) { if (n) even(n - 1); } int main(void) { even(1); return 0; }"
    )
    assert answer(deep, 1).status == "holds"


UNKNOWN = {
    "recursion with variables in memory": (
        "static int f(int n) { int x = n; int *p = &x; if (n > 0) *p = f(n - 1); return x; }"
        " int main(void) { if (f(2)) reach_error(); return 0; }",
        "calls itself, and has",
    ),
    "what is not supported": ('int main(void) { __asm__("nop"); if (nondet()) return 1; reach_error(); }', "not supported"),
    "no main": ("int f(void) { reach_error(); return 0; }", "there is no function main"),
    "main called again": ("int main(void) { if (nondet()) main(); reach_error(); return 0; }", "main is called"),
    "too many calls": (
        "static void a(int n) { if (n > 9) reach_error(); } static void b(int n) { int i; for (i = 0; i < n; i++) a(i); }"
        " static void c(int n) { int i; for (i = 0; i < n; i++) b(i); }"
        " static void d(int n) { int i; for (i = 0; i < n; i++) c(i); }"
        " int main(void) { d(nondet()); return 0; }",
        "more than 3000 calls",
    ),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_is_not_modelled_is_unknown(name: str) -> None:
    body, reason = UNKNOWN[name]
    found = answer(body, 15 if "many" in name else 3)
    if found.status == "possible":  # what is not supported comes before it on every path but that of the violation
        pytest.fail(found.sentence())
    assert found.status == "unknown"
    assert any(reason in said for said in found.reasons), found.reasons


def test_what_no_run_comes_to_is_no_obstacle() -> None:
    body = 'int main(void) { int n = 1; if (!n) { __asm__("nop"); } if (n != 1) reach_error(); return 0; }'
    assert answer(body).status == "holds"


def test_a_bound_of_zero_and_other_properties_are_refused() -> None:
    body = "int main(void) { int x; if (nondet()) reach_error(); return x; }"
    assert answer(body, 0).reasons == ("a bound is at least 1",)
    assert answer(body, property_="uninitialized-read").reasons == ("summaries say nothing about uninitialized-read",)


PROPERTIES: list[tuple[Property, str, str]] = [
    ("division-by-zero", "int main(void) { int n = nondet(); if (n <= 0) return 0; return 10 / n; }", "holds"),
    ("division-by-zero", "static int f(int n) { return 10 / n; } int main(void) { return f(nondet()); }", "possible"),
    ("null-dereference", "int x; int main(void) { int *p = &x; return *p; }", "holds"),
    ("null-dereference", "int main(void) { int *p = malloc(4); return *p; }", "possible"),
    ("array-bounds", "int a[4]; int main(void) { int i; for (i = 0; i < 4; i++) a[i] = i; return a[3]; }", "holds"),
    ("signed-overflow", "int main(void) { int n = nondet(); if (n > 9 || n < 0) return 0; return n * 2; }", "holds"),
    ("signed-overflow", "int main(void) { int n = nondet(); return n + 1; }", "possible"),
    ("shift-range", "int main(void) { int n = nondet(); return 1 << (n & 7); }", "holds"),
]


@pytest.mark.parametrize(("property_", "body", "status"), PROPERTIES)
def test_properties(property_: Property, body: str, status: str) -> None:
    found = answer(body, 5, property_=property_)
    assert found.status == status
    assert all(violation.property == property_ for violation in found.violated)
    assert bool(found.violated) == (status == "possible")


def _agrees(program: Program, bound: int, mode: Mode) -> None:
    found = of(program, bound, mode)
    note(f"{found.sentence()} {found.reasons}")
    erring = any(errs(program, run) for run in runs(program, 60))
    assert not (erring and found.status == "holds" and found.is_complete)
    if bound >= 4:  # loops make three rounds, and recursion four calls
        assert not (erring and found.status == "holds")


@given(st.integers(0, 10**6), st.sampled_from([1, 4]), st.sampled_from(["int", "bv"]))
@settings(max_examples=8, deadline=None, derandomize=True)
def test_answers_agree_with_runs_of_random_programs(seed: int, bound: int, mode: Mode) -> None:
    text = random_c.program(Random(seed))
    note(text)
    _agrees(program_of(text), bound, mode)


@given(st.integers(0, 10**6), st.sampled_from([1, 4]))
@settings(max_examples=6, deadline=None, derandomize=True)
def test_answers_agree_with_runs_of_random_calls(seed: int, bound: int) -> None:
    text = random_calls.program(Random(seed))
    note(text)
    _agrees(program_of(text), bound, "int")
