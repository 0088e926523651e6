"""The contract of provers (`portfolio.registry`), over the same cases for each: no prover is wrong, each says why it does not
know, answers again what it answered before, and ends when it is cancelled or has no time. A new prover is tested by being
registered."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from analysis.certificate.checker import check
from analysis.certificate.nonzero.claims import Requirements
from analysis.certificate.nonzero.requirement_checker import check_requirements
from analysis.certificate.ownership.closed_checker import check_closed_sets
from analysis.certificate.ownership.closed_sets import ClosedSets
from analysis.certificate.unwinding import check_unwinding
from analysis.certificate.unwinding_tree import Unwinding
from analysis.cpa.framework.algorithm import Cancellation
from analysis.cpa.predicates.violations import PROPERTIES
from analysis.engines.symbolic.task import Confirmed, Refuted
from analysis.session.portfolio.registry import PROVERS
from analysis.session.portfolio.request import Answer, Proved, Request, Unknown
from analysis.session.portfolio.request_terms import About, Kind
from analysis.session.portfolio.turns import TURNS, ProverName
from tests.support.explorations import program_of

SECONDS = 1.5
HEAD = """void reach_error(void); int __VERIFIER_nondet_int(void); int opaque(int);
void *malloc(unsigned long); void free(void *);
"""


class Case(NamedTuple):
    """A program with `main` and `f`, a rule, and whether a run can violate it: from `main`, and from `f` in any state."""

    name: str
    text: str
    rule: str
    from_main: bool
    from_f: bool


CASES = (
    Case("no-value-left", "int f(void) { int n = 1; if (n != 1) reach_error(); return n; }", "assertion", False, False),
    Case(
        "one-value",
        "int f(void) { int n = __VERIFIER_nondet_int(); if (n == 77) reach_error(); return n; }",
        "assertion",
        True,
        True,
    ),
    Case(
        "a-loop",
        """int f(void) { int i = 0, n = __VERIFIER_nondet_int(); if (n < 0) return 0;
            while (i < n) i++; if (i != n) reach_error(); return 0; }""",
        "assertion",
        False,
        False,
    ),
    Case("zero", "int f(void) { int n = __VERIFIER_nondet_int(); return 10 / n; }", "division-by-zero", True, True),
    Case("not-zero", "int f(void) { int n = __VERIFIER_nondet_int(); return n ? 10 / n : 0; }", "division-by-zero", False, False),
    Case("only-by-others", "static int d = 2; int f(void) { return 10 / d; }", "division-by-zero", False, True),
    Case("null", "int f(void) { int *p = malloc(4); *p = 1; free(p); return 0; }", "null-dereference", True, True),
    Case("tested", "int f(void) { int *p = malloc(4); if (p) *p = 1; free(p); return 0; }", "null-dereference", False, False),
    Case("freed-twice", "int f(void) { int *p = malloc(4); free(p); free(p); return 0; }", "double-free", True, True),
    Case("freed-once", "int f(void) { int *p = malloc(4); free(p); return 0; }", "double-free", False, False),
    Case("forgotten", "int f(void) { int *p = malloc(4); return p != 0; }", "memory-leak", True, True),
    Case("an-index", "int f(void) { int a[3] = {0}, i = __VERIFIER_nondet_int(); return a[i & 3]; }", "array-bounds", True, True),
    Case(
        "in-bounds", "int f(void) { int a[4] = {0}, i = __VERIFIER_nondet_int(); return a[i & 3]; }", "array-bounds", False, False
    ),
)
KINDS: dict[ProverName, tuple[Kind, ...]] = {
    name: tuple(
        kind for kind, engines in TURNS.items() if any(turn.prover == name for turns in engines.values() for turn in turns)
    )
    for name in PROVERS
}


def request_of(case: Case, kind: Kind) -> Request | None:
    """What is asked of a case; None where it has no place for a question of this kind."""
    program = program_of(f"{HEAD}{case.text}\nint main(void) {{ return f(); }}\n")
    if kind in ("runs", "program"):
        return Request(program, ("main",), About(kind, (case.rule,)))
    if kind == "function":
        return Request(program, ("f",), About(kind, (case.rule,), "f"), whole=False)
    if case.rule not in PROPERTIES:
        return None
    request = Request(program, ("main",), About("program", (case.rule,)))
    place = request.places(case.rule)[0]
    return request._replace(about=About(kind, (case.rule,), place.function, place.edge))


def ask(name: ProverName, request: Request, seconds: float = SECONDS, cancellation: Cancellation | None = None) -> Answer:
    return PROVERS[name].prove(request, seconds, cancellation or Cancellation())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("name", PROVERS)
def test_a_prover_is_not_wrong(name: ProverName, case: Case) -> None:
    for kind in KINDS[name]:
        request = request_of(case, kind)
        if request is None:
            continue
        violated = case.from_f if kind == "function" else case.from_main
        match ask(name, request):
            case Confirmed() as found:
                assert violated
                assert found.observation.kind == case.rule
            case Refuted():
                assert not violated
            case Proved() as found:
                assert not violated
                assert len(found.certificates) == len(request.entries)
                for certificate in found.certificates:  # RefusedError otherwise
                    if isinstance(certificate, Unwinding):
                        check_unwinding(request.program, certificate)
                    elif isinstance(certificate, ClosedSets):
                        check_closed_sets(request.program, certificate)
                    elif isinstance(certificate, Requirements):
                        check_requirements(request.program, certificate)
                    else:
                        check(request.program, certificate)
            case Unknown(reason):
                assert reason.strip()


@pytest.mark.parametrize("name", PROVERS)
def test_a_prover_decides_something_of_each_kind(name: ProverName) -> None:
    """Else the test above would show nothing."""
    for kind in KINDS[name]:
        spoken = [(case, request) for case in CASES if (request := request_of(case, kind)) is not None]
        requests = [request for case, request in spoken if PROVERS[name].speaks_of(request, case.rule)][:5]
        assert any(not isinstance(ask(name, request), Unknown) for request in requests), kind


@pytest.mark.parametrize("name", PROVERS)
def test_a_prover_says_the_same_again(name: ProverName) -> None:
    for kind in KINDS[name]:
        one, other = (ask(name, request) for _ in range(2) if (request := request_of(CASES[1], kind)) is not None)
        assert type(one) is type(other)
        if isinstance(one, Unknown) and isinstance(other, Unknown):
            assert one.reason == other.reason


@pytest.mark.parametrize("name", PROVERS)
def test_a_prover_without_time_or_cancelled_is_not_wrong(name: ProverName) -> None:
    cancelled = Cancellation()
    cancelled.cancel()
    for kind in KINDS[name]:
        for case in CASES[:3]:
            request = request_of(case, kind)
            assert request is not None
            for answer in (ask(name, request, 0.0), ask(name, request, SECONDS, cancelled)):
                assert not isinstance(answer, Proved | Refuted) or not case.from_main
                assert not isinstance(answer, Unknown) or answer.reason


@pytest.mark.parametrize("name", PROVERS)
def test_a_prover_says_why_it_knows_nothing_of_a_program_without_an_entry(name: ProverName) -> None:
    program = program_of("int f(int n) { return 10 / n; }")
    for kind in set(KINDS[name]) & {"runs", "program"}:
        answer = ask(name, Request(program, (), About(kind, ("division-by-zero",))))
        assert isinstance(answer, Unknown)
        assert answer.reason
