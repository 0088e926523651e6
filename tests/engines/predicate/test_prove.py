"""Proofs by predicate analysis: the papers' programs, loops, calls, memory; and never a proof of what a run contradicts."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from analysis.certificate.annotation import Annotation, Summaries
from analysis.certificate.checked_outcome import Proved, Unproved
from analysis.certificate.checker import check
from analysis.cfa.graph import Program
from analysis.cpa.predicates.adjustable_blocks import BlockEnds
from analysis.cpa.predicates.violations import PROPERTIES as ALL
from analysis.cpa.predicates.violations import Property, violations
from analysis.engines.predicate.predicate_options import PredicateOptions
from analysis.engines.predicate.predicate_proof import prove
from analysis.model import ir
from analysis.model.c_types import LP64, UNSIGNED_INT
from analysis.smt.encoding.numbers import operator_faults
from analysis.smt.encoding.numbers.formula import Ledger
from analysis.smt.encoding.numbers.integers import Integers
from analysis.smt.logic.term_building import integer
from tests.support.explorations import errs, program_of, runs
from tests.support.random_c import program

PAPERS = Path(__file__).parents[3] / "fixtures" / "programs" / "papers"
HEAD = "void reach_error(void); int __VERIFIER_nondet_int(void); unsigned __VERIFIER_nondet_uint(void);\n"
program_of(program(Random(0)))  # before any test: it raises Python's recursion limit


def of(body: str) -> Program:
    return program_of(HEAD + body)


def proof(what: Program, property_: Property = "assertion", **options: Any) -> Proved | Unproved:
    return prove(
        what, violations(what, property_), options=PredicateOptions(**{"seconds": 300.0, "query_milliseconds": 30_000, **options})
    )


@pytest.mark.parametrize("mode", ["int", "bv"])
@pytest.mark.parametrize(
    "name",
    [
        "symcegar-fig1",
        "upprover-fig1-first",
        "upprover-fig1-second",
        "ipa-fig2-first",
        "ipa-fig2-second",
        "diffdp-fig2-first",
        "diffdp-fig2-second",
    ],
)
def test_the_programs_of_the_papers(name: str, mode: str) -> None:
    text = (PAPERS / f"{name}.c").read_text("utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#define")]
    source = "\n".join(lines).replace("N", "4")  # the only macro of these programs
    if name == "ipa-fig2-first":  # it leaves its array, and only then warns of it: what happens from there on is not known
        left = proof(program_of(source), mode=mode)
        assert isinstance(left, Unproved)
        assert left.reason == "q[i] in main() may be outside of its array"
        source = source.replace("q[i] = new;", "q[0] = new;")
    what = program_of(source)
    found = proof(what, mode=mode)
    assert isinstance(found, Proved), found
    assert check(what, found.annotation).questions == found.work.questions


LOOPS = {
    "a counter": "int main(void) { int i = 0; while (i < 100) i++; if (i != 100) reach_error(); return 0; }",
    "two counters": "int main(void) { int x = 0, y = 0; while (__VERIFIER_nondet_int()) { x++; y++; }"
    " if (x != y) reach_error(); return 0; }",
    "a call in a loop": "int add(int a) { return a + 1; } int main(void) { int i = 0, n = __VERIFIER_nondet_int();"
    " if (n < 0) return 0; while (i < n) i = add(i); if (i != n) reach_error(); return 0; }",
    "unsigned": "int main(void) { unsigned x = 0; while (__VERIFIER_nondet_int()) x += 2; if (x % 2) reach_error(); return 0; }",
    "through a pointer": "int main(void) { int x = 0; int *p = &x; while (*p < 3) ++*p; if (x != 3) reach_error(); return 0; }",
    "a member": "struct s { int n; int m; } g; int main(void) { while (g.n < 5) { g.n++; }"
    " if (g.n != 5 || g.m) reach_error(); return 0; }",
    "nested": "int main(void) { int i, j, s = 0; for (i = 0; i < 2; i++) for (j = 0; j < 2; j++) s = 1;"
    " if (s > 1) reach_error(); return 0; }",
}


OPTIONS: list[dict[str, Any]] = [{}, {"restart": "full"}, {"ends": BlockEnds(functions=True)}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", LOOPS)
def test_loops(name: str, options: dict[str, Any]) -> None:
    found = proof(of(LOOPS[name]), **options)
    assert isinstance(found, Proved), found


def test_interpolants_of_spacer_alone() -> None:
    what = of("int main(void) { int i = 0; while (i < 3) i++; if (i != 3) reach_error(); return 0; }")
    assert isinstance(proof(what, interpolation=("spacer",)), Proved)


def test_the_cartesian_abstraction_knows_no_disjunctions() -> None:
    assert isinstance(proof(of(LOOPS["two counters"]), abstraction="cartesian"), Proved)
    assert isinstance(proof(of(LOOPS["a counter"]), abstraction="cartesian", states=150, clauses=0.0), Unproved)


UNSAFE = {
    "off by one": "int main(void) { int i = 0; while (i < 3) i++; if (i == 3) reach_error(); return 0; }",
    "deep": "int main(void) { int i = 0; while (i < 4) i++; if (i > 3) reach_error(); return 0; }",
    "wrapping": "int main(void) { unsigned x = __VERIFIER_nondet_uint(); if (x + 1 < x) reach_error(); return 0; }",
}


@pytest.mark.parametrize("name", UNSAFE)
def test_what_can_happen_is_not_proved(name: str) -> None:
    found = proof(of(UNSAFE[name]))
    assert isinstance(found, Unproved)
    assert found.may_violate


def test_recursion_is_followed_as_deep_as_asked() -> None:
    what = of(
        "int down(int n) { if (n <= 0) return 0; return 1 + down(n - 1); }"
        " int main(void) { if (down(2) != 2) reach_error(); return 0; }"
    )
    shallow = proof(what, clauses=0.0)
    assert isinstance(shallow, Unproved)
    assert "recursion" in shallow.reason
    deep = proof(what, recursion=4, clauses=0.0)
    assert isinstance(deep, Proved)
    assert isinstance(deep.annotation, Annotation)
    by_summaries = proof(what)
    assert isinstance(by_summaries, Proved)
    assert isinstance(by_summaries.annotation, Summaries)


def test_nothing_to_prove_is_not_a_proof() -> None:
    found = proof(of("int main(void) { return 0; }"))
    assert isinstance(found, Unproved)
    assert "nothing in the program" in found.reason


PROPERTIES: list[tuple[Property, str, bool]] = [
    ("division-by-zero", "int main(void) { int n = __VERIFIER_nondet_int(); if (n == 0) return 0; return 10 / n; }", True),
    ("division-by-zero", "int main(void) { int n = __VERIFIER_nondet_int(); return 10 / n; }", False),
    ("division-by-zero", "int main(void) { double d = __VERIFIER_nondet_int(); return (int)(1.0 / d); }", False),
    ("division-by-zero", "int main(void) { double d = __VERIFIER_nondet_int(); return (int)(d / 0.0); }", False),
    ("division-by-zero", "int main(void) { double d = __VERIFIER_nondet_int(); return (int)(d / 2) / 3; }", True),
    ("assertion", "void __ESBMC_assert(_Bool, const char *); int main(void) { __ESBMC_assert(0, 0); return 0; }", False),
    ("assertion", "void __ESBMC_assert(_Bool, const char *); int main(void) { __ESBMC_assert(1, 0); return 0; }", True),
    ("signed-overflow", "int main(void) { int n = __VERIFIER_nondet_int(); if (n > 1000) return 0; return n + 1; }", True),
    ("signed-overflow", "int main(void) { int n = __VERIFIER_nondet_int(); return n + 1; }", False),
    ("signed-overflow", "int main(void) { int n = 0; while (n < 1000) n++; return n; }", True),
    ("shift-range", "int main(void) { int n = __VERIFIER_nondet_int(); if (n < 0 || n > 31) return 0; return 1u << n; }", True),
    ("shift-range", "int main(void) { int n = __VERIFIER_nondet_int(); return 1u << n; }", False),
    (
        "null-dereference",
        "int x; int main(void) { int *p = &x; if (__VERIFIER_nondet_int()) p = 0; if (p) *p = 1; return x; }",
        True,
    ),
    ("null-dereference", "int x; int main(void) { int *p = &x; if (__VERIFIER_nondet_int()) p = 0; *p = 1; return x; }", False),
    ("null-dereference", "struct s { int a; int b; } *p; int main(void) { return p->b; }", False),
    ("null-dereference", "int *p; int main(void) { return p[3]; }", False),
    ("null-dereference", "int (*f)(void); int main(void) { return f ? f() : 0; }", True),
    ("null-dereference", "int use(int *p); int main(void) { return use(0); }", False),
    ("null-dereference", 'int use(const char *p); int main(void) { return use("a"); }', True),
    ("array-bounds", "int a[4]; int main(void) { int i; for (i = 0; i < 4; i++) a[i] = i; return a[3]; }", True),
    ("array-bounds", "int a[4]; int main(void) { int i; for (i = 0; i <= 4; i++) a[i] = i; return a[3]; }", False),
    ("array-bounds", "int a[4]; int main(void) { unsigned i = __VERIFIER_nondet_uint(); return i < 5 ? a[i] : 0; }", False),
    ("array-bounds", "int a[4]; int main(void) { int *p = a; return p[5]; }", False),
]


@pytest.mark.parametrize("mode", ["int", "bv"])
@pytest.mark.parametrize(("property_", "text", "holds"), PROPERTIES)
def test_other_properties(property_: Property, text: str, holds: bool, mode: str) -> None:
    assert isinstance(proof(of(text), property_, mode=mode), Proved) == holds


def test_every_property_has_a_program_that_violates_it() -> None:
    violated = {property_ for property_, _, holds in PROPERTIES if not holds}
    assert violated | {"uninitialized-read"} == ALL, "add a program that violates it to the list above, or to fixtures/proofs"


def test_an_operator_rule_without_a_condition_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The class: a rule is added to the table of operators alone, and every program is proved."""
    monkeypatch.setattr(operator_faults, "rules_of", lambda _: frozenset({"unsigned-wrap"}))
    wraps = ir.Binary("+", ir.IntConst(1, UNSIGNED_INT), ir.IntConst(2, UNSIGNED_INT), UNSIGNED_INT)
    with pytest.raises(ValueError, match="add a case"):
        operator_faults.fault(Integers(LP64, Ledger()), "unsigned-wrap", wraps, lambda _: integer(0))


@pytest.mark.parametrize("name", LOOPS)
def test_loops_as_horn_clauses(name: str) -> None:
    found = proof(of(LOOPS[name]), states=0, clauses=0.9)
    assert isinstance(found, Proved) or name == "through a pointer", found


def test_an_interrupted_proof_is_none() -> None:
    found = proof(of(LOOPS["a counter"]), seconds=0.0)
    assert isinstance(found, Unproved)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 100_000), st.sampled_from(["int", "int", "bv"]))
def test_no_run_contradicts_a_proof(seed: int, mode: str) -> None:
    text = program(Random(seed))
    note(text)
    what = program_of(text)
    # as much work per question as users give: a search for invariants may take minutes else, and find none
    if isinstance(proof(what, states=100, recursion=8, mode=mode, clauses=0.0, query_milliseconds=2_000), Proved):
        assert not any(errs(what, run) for run in runs(what, 2_000))
