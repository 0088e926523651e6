"""Questions to provers whose making is ended from outside: asked again, they are asked as if nothing had been ended."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import nullcontext
from typing import Any

import pytest

from analysis.cfa.graph import Program
from analysis.model.interruption import Interrupted
from analysis.model.options import Options
from analysis.model.report import FunctionReport, RuleVerdict
from analysis.session.provers.asking import claim_answers
from analysis.session.provers.asking.claim import Wanted
from analysis.session.provers.asking.claim_answers import Claims
from analysis.session.provers.asking.claim_parts import ClaimParts
from analysis.session.provers.asking.contract_answers import ContractAnswers
from analysis.session.provers.asking.kept_answers import Decisions
from analysis.session.provers.asking.program_slices import Contents, Slicer
from analysis.session.provers.proof_verdicts import ProvedFunctions
from tests.support.explorations import program_of

TEXT = "static int f(int *p) { return *p; } int g(int *p) { return *p; } int main(void) { int a = 0; return f(&a); }"
RULE = "null-dereference"


class Asked:
    """Takes the place of the pool: what it was asked."""

    def __init__(self) -> None:
        self.tasks: list[Any] = []

    def submit(self, task: object, _budget: object, _rank: int = 0) -> int:
        self.tasks.append(task)
        return len(self.tasks)

    def cancel(self, _ticket: int) -> None:
        raise AssertionError("nothing is cancelled")


def contracts(pool: Asked) -> ContractAnswers:
    found = ContractAnswers(pool, Decisions(None), Contents(), slots=9)  # type: ignore[arg-type]
    assert found.ask(program_of(TEXT), ("main",), {RULE, "division-by-zero"}, Options(), understood=True)
    return found


def test_a_question_about_contracts_that_is_ended_is_asked_later(monkeypatch: pytest.MonkeyPatch) -> None:
    usual, ended = Asked(), Asked()
    contracts(usual).go_on(nullcontext())
    answers, made = contracts(ended), Slicer.everything

    def interrupted(_slicer: Slicer) -> None:
        raise Interrupted

    monkeypatch.setattr(Slicer, "everything", interrupted)
    with pytest.raises(Interrupted):
        answers.go_on(nullcontext())
    assert answers.ready
    assert not ended.tasks
    monkeypatch.setattr(Slicer, "everything", made)
    answers.go_on(nullcontext())
    assert [task.about for task in ended.tasks] == [task.about for task in usual.tasks]
    assert len(usual.tasks) == 2


def test_what_the_entries_lead_to_is_known_before_the_first_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    class Ended(ClaimParts):
        """Ended when it is asked what is reached, the first time."""

        times = 0

        def __getattribute__(self, name: str) -> Any:
            if name == "reached" and not Ended.times:
                Ended.times += 1
                raise Interrupted
            return super().__getattribute__(name)

    monkeypatch.setattr(claim_answers, "ClaimParts", Ended)
    pool, program = Asked(), program_of(TEXT)
    claims = Claims(pool, Decisions(None), Contents(), 1)  # type: ignore[arg-type]
    claims.ask(program, ("main",), Wanted((("g", RULE),)), Options(), understood=True)
    with pytest.raises(Interrupted):
        claims.go_on(nullcontext())
    claims.go_on(nullcontext())
    assert len(pool.tasks) == 1
    assert claims.program_answers(program).reached == {"main", "t.c::f"}


class Ending(dict[str, FunctionReport]):
    """Reports, of which looking for one ends the work."""

    def __contains__(self, _name: object) -> bool:
        raise Interrupted


def wanted(proved: ProvedFunctions, program: Program, rules: Collection[str], *, ends: bool = False) -> Wanted:
    reports = {name: report(name) for name in program.functions}
    given = Ending(reports) if ends else reports
    return proved.wanted(program, given, dict.fromkeys(reports, 0), rules, understood=True, however_large=False)


def report(name: str) -> FunctionReport:
    verdict = RuleVerdict("unknown", "", (), "automaton", ms=0.0)
    place: Any = None
    return FunctionReport(name, place, {RULE: verdict, "division-by-zero": verdict})


def test_what_something_could_violate_is_looked_for_again_with_other_rules() -> None:
    proved, program = ProvedFunctions(), program_of(TEXT)
    assert not wanted(proved, program, ("division-by-zero",)).functions
    with pytest.raises(Interrupted):
        wanted(proved, program, (RULE,), ends=True)
    assert wanted(proved, program, (RULE,)) == wanted(ProvedFunctions(), program, (RULE,))
    assert wanted(proved, program, (RULE,)).functions
