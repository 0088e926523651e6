"""The programs of the papers' figures, decided by location, call stack, symbolic values and constraints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from analysis.cfa.graph import Program
from analysis.cpa.framework.algorithm import Budget
from analysis.cpa.framework.waitlist import SequentialWaitlist
from tests.support.explorations import explored, program_of, symbolic_execution, value_analysis

PAPERS = Path(__file__).parent.parent.parent / "fixtures" / "programs" / "papers"
N = 4


def paper(name: str) -> Program:
    text = (PAPERS / f"{name}.c").read_text("utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#define")]
    return program_of("\n".join(lines).replace("N", str(N)))  # the only macro of these programs


OPTIONS: list[dict[str, Any]] = [
    {},
    {"mode": "bv"},
    {"less_or_equal": "aliased"},
    {"less_or_equal": "implication", "merge": "join"},
    {"check_at": "target"},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", ["symcegar-fig1", "upprover-fig1-first", "upprover-fig1-second"])
def test_symbolic_execution_shows_that_the_error_is_not_reached(name: str, options: dict[str, Any]) -> None:
    of = paper(name)
    execution, state = symbolic_execution(of, **options)
    outcome = explored(execution.composite, state, of)
    assert outcome.ending == "finished"
    assert not any(node.state[1] for node in outcome.reached), "nothing was left out"


def test_explicit_values_alone_give_a_false_alarm() -> None:
    of = paper("symcegar-fig1")
    composite, state = value_analysis(of)
    assert explored(composite, state, of).ending == "target"


def test_an_unsafe_variant_of_upprovers_program_is_unsafe() -> None:
    text = (PAPERS / "upprover-fig1-second.c").read_text("utf-8").replace("return 2 * b;", "return b;")
    of = program_of(text)
    execution, state = symbolic_execution(of)
    outcome = explored(execution.composite, state, of)
    assert outcome.ending == "target"


def test_ipas_first_version_warns_after_n_rounds_and_no_sooner() -> None:
    of = paper("ipa-fig2-first")
    execution, state = symbolic_execution(of, target="printf")
    outcome = explored(execution.composite, state, of, Budget(states=2_000), SequentialWaitlist("breadth-first"))
    (warning,) = outcome.found
    effects = [step.step.effect for step in outcome.reached.path(warning)]
    rounds = [e for e in effects if "q" in str(getattr(e, "target", ""))]
    assert len([e for e in rounds if "Index" in str(e)]) == N


def test_ipas_assertion_is_not_violated_as_far_as_the_loop_is_unrolled() -> None:
    for name in ("ipa-fig2-first", "ipa-fig2-second"):
        of = paper(name)
        execution, state = symbolic_execution(of)
        outcome = explored(execution.composite, state, of, Budget(states=600))
        assert outcome.ending == "states", "the loop has no end, so that there is no proof here"
        assert outcome.reached.targets() == []


@pytest.mark.parametrize(("name", "ending"), [("ipa-fig2-first", "target"), ("ipa-fig2-second", "finished")])
def test_a_precision_of_the_index_alone_decides_the_warning(name: str, ending: str) -> None:
    of = paper(name)
    tracked = {("main", location): frozenset({"main:i"}) for location in of.functions["main"].locations}
    composite, state = value_analysis(of, target="printf", precision=tracked)
    outcome = explored(composite, state, of, Budget(states=2_000), SequentialWaitlist("breadth-first"))
    assert outcome.ending == ending
