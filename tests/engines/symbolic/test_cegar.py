"""Proofs by symbolic execution with CEGAR: the papers' programs under all operators, and never a proof that a run contradicts."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any, get_args

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from analysis.certificate.checked_outcome import Proved, Unproved
from analysis.certificate.checker import check
from analysis.cfa.graph import Program
from analysis.cpa.predicates.violations import Property, violations
from analysis.engines.symbolic.cegar import CegarOptions, prove
from analysis.engines.value.value_proof import prove as prove_by_values
from analysis.model.symbolic_operators import Refine, SymbolicOperators, Tracked
from tests.support.explorations import errs, program_of, runs
from tests.support.random_c import program

PAPERS = Path(__file__).parents[3] / "fixtures" / "programs" / "papers"
HEAD = "void reach_error(void); int __VERIFIER_nondet_int(void);\n"
CONFIGURATIONS: tuple[Refine, ...] = ("none", *get_args(Tracked))
OPERATORS: list[dict[str, Any]] = [
    {},
    {"merge": "join"},
    {"less_or_equal": "aliased"},
    {"less_or_equal": "implication"},
    {"check_at": "target"},
    {"by": "conditions"},
    {"restart": "full"},
    {"mode": "bv"},
]
program_of(program(Random(0)))  # before any test: it raises Python's recursion limit


def of(body: str) -> Program:
    return program_of(HEAD + body)


def proof(what: Program, property_: Property = "assertion", **options: Any) -> Proved | Unproved:
    operators = SymbolicOperators(**{name: options.pop(name) for name in SymbolicOperators.__struct_fields__ if name in options})
    options = {"seconds": 60.0, "operators": operators, **options}
    return prove(what, violations(what, property_), options=CegarOptions(**options))


def paper(name: str) -> Program:
    text = (PAPERS / f"{name}.c").read_text("utf-8")
    return program_of("\n".join(line for line in text.splitlines() if not line.startswith("#define")).replace("N", "4"))


@pytest.mark.parametrize("refine", CONFIGURATIONS)
@pytest.mark.parametrize("name", ["symcegar-fig1", "symcegar-fig5", "diffdp-fig2-first", "diffdp-fig2-second"])
def test_the_programs_of_the_papers(name: str, refine: Refine) -> None:
    what = paper(name)
    found = proof(what, refine=refine)
    assert isinstance(found, Proved), found
    assert check(what, found.annotation).questions == found.work.questions


@pytest.mark.parametrize("options", OPERATORS, ids=str)
@pytest.mark.parametrize("name", ["symcegar-fig1", "diffdp-fig2-second"])
def test_all_operators(name: str, options: dict[str, Any]) -> None:
    assert isinstance(proof(paper(name), **options), Proved)


def states(branches: int, refine: Refine) -> int:
    """How many abstract states a proof of a program takes in which one branch decides, and these do not."""
    others = "".join(f"if (__VERIFIER_nondet_int()) n = n + {1 << number};" for number in range(branches))
    begin, end = "int main(void) { int a = __VERIFIER_nondet_int(), n = 0; if (a) return 0;", "if (a) reach_error(); return n; }"
    found = proof(of(f"{begin} {others} {end}"), refine=refine)
    assert isinstance(found, Proved), found
    return found.work.states


def test_what_is_not_needed_is_not_tracked() -> None:
    """[SYMCEGAR] Fig. 5: without CEGAR, every branch doubles the states."""
    assert states(8, "none") > 12 * states(4, "none")
    assert states(8, "constraints-first") < 3 * states(4, "constraints-first")


PROVED: dict[str, tuple[Property, str]] = {
    "a loop of which a value is known": (
        "assertion",
        "int main(void) { int n = __VERIFIER_nondet_int(), m = n, i; for (i = 0; i < 3; i++) m = m + 1;"
        " if (m != n + 3) reach_error(); return 0; }",
    ),
    "what a cell holds is undone": (
        "assertion",
        "int main(void) { int n = __VERIFIER_nondet_int(); if (n < 5 || n > 9) return 0; int m = 7 - n; n = 0;"
        " while (__VERIFIER_nondet_int()) { if (m > 2) reach_error(); } return 0; }",
    ),
    "a loop that does not matter": (
        "assertion",
        "int main(void) { int n = __VERIFIER_nondet_int(), i = 0; if (n != 3) return 0;"
        " while (__VERIFIER_nondet_int()) i++; if (n != 3) reach_error(); return i; }",
    ),
    "a pointer": ("assertion", "int main(void) { int x = 0, *p = &x; *p = 3; if (x != 3) reach_error(); return 0; }"),
    "a divisor": (
        "division-by-zero",
        "int main(void) { int n = __VERIFIER_nondet_int(); if (n < 1) return 0; return 12 / n; }",
    ),
    "a call": (
        "assertion",
        "int f(int a) { return a > 0 ? a : 1; } int main(void) { int k = f(__VERIFIER_nondet_int());"
        " if (k <= 0) reach_error(); return 0; }",
    ),
}


@pytest.mark.parametrize("name", PROVED)
def test_what_is_proved(name: str) -> None:
    property_, text = PROVED[name]
    found = proof(of(text), property_)
    assert isinstance(found, Proved), found


OPEN: list[tuple[Property, str]] = [
    ("division-by-zero", "int main(void) { double d = __VERIFIER_nondet_int(); return (int)(1.0 / d); }"),
    ("division-by-zero", "int f(int); int main(void) { double d = 0; return f((int)(1.0 / d)); }"),
    ("null-dereference", "int *p; int main(void) { return *p; }"),
    ("assertion", "int main(void) { void (*f)(void) = reach_error; f(); return 0; }"),
    ("assertion", "void __ESBMC_assert(_Bool, const char *); int main(void) { __ESBMC_assert(0, 0); return 0; }"),
]


@pytest.mark.parametrize(("property_", "text"), OPEN)
def test_what_can_happen_is_not_proved(property_: Property, text: str) -> None:
    assert isinstance(proof(of(text), property_), Unproved)
    what = of(text)
    assert isinstance(prove_by_values(what, violations(what, property_)), Unproved)


@pytest.mark.parametrize("refine", CONFIGURATIONS)
def test_what_happens_is_not_proved(refine: Refine) -> None:
    what = of("int main(void) { int n = __VERIFIER_nondet_int(), m = n + 1; if (m < n) reach_error(); return 0; }")
    found = proof(what, refine=refine)  # signed sums wrap on the machine
    assert isinstance(found, Unproved)
    assert found.may_violate


def test_a_property_without_a_location_is_not_proved() -> None:
    what = of("int main(void) { int n = __VERIFIER_nondet_int(); return n + 1; }")
    found = proof(what, "signed-overflow")
    assert isinstance(found, Unproved)
    assert not found.may_violate


def test_time_that_is_over_ends_an_interpolation() -> None:
    """A long path whose interpolants take longer than there is time."""
    body = "".join(f"if (n & {1 << bit}) s = s * 3 + {bit}; " for bit in range(12))
    what = of(f"int main(void) {{ unsigned n = __VERIFIER_nondet_int(), s = 1; {body} if (s == 77) reach_error(); return 0; }}")
    found = proof(what, seconds=0.01)
    assert isinstance(found, Unproved)
    assert found.reason == "no proof was found within the budget"
    assert not found.may_violate


def test_predicates_give_variables_only() -> None:
    with pytest.raises(ValueError, match="variables"):
        proof(paper("symcegar-fig1"), refine="predicates", by="conditions")


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 100_000), st.sampled_from(CONFIGURATIONS), st.sampled_from(OPERATORS[:5]))
def test_no_run_contradicts_a_proof(seed: int, refine: Refine, options: dict[str, Any]) -> None:
    text = program(Random(seed))
    note(text)
    what = program_of(text)
    if isinstance(proof(what, refine=refine, states=300, **options), Proved):
        assert not any(errs(what, run) for run in runs(what, 2_000))
