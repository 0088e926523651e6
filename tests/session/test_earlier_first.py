"""What an edit has put in question is asked first and at once; what fails then is looked for as anything else is."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest

from analysis.cfa.graph import Program
from analysis.model.options import Options
from analysis.session.portfolio.request_terms import Kept
from analysis.session.provers.asking.answer import Decided, Part
from analysis.session.provers.asking.claim import Wanted
from analysis.session.provers.asking.claim_answers import Claims
from analysis.session.provers.asking.contract_answers import ContractAnswers
from analysis.session.provers.asking.earlier_first import LITTLE
from analysis.session.provers.asking.kept_answers import Decisions
from analysis.session.provers.asking.program_slices import Contents
from analysis.session.provers.processes.task_outcome import Outcome
from tests.support.explorations import program_of

RULE = "array-bounds"
TEXT = """static int one(int n) { int a[4] = {0}; if (n < 0 || n > 3) return 0; return a[n]; }
static int two(int n) { int a[4] = {0}; if (n < 0 || n > 3) return 0; return a[n]; }
static int three(int n) { int a[4] = {0}; if (n < 0 || n > 3) return 1; return a[n]; }
int main(int n, char **v) { return one(n) + two(n) + three(n); }
"""
NAMES = tuple(f"t.c::{name}" for name in ("one", "two", "three"))
EDITED = TEXT.replace("n > 3", "n > 2")
PROVED, OPEN = Decided("refuted", certified=True, kept=b"a proof"), Decided("possible", final=True, reason="it is not")
RUNS_PROVE = Decided("possible", parts=(Part(RULE, "refuted", certified=True),), worked=LITTLE)


class Pool:
    """Takes the place of the pool: what it was asked, and what is not answered of it."""

    def __init__(self) -> None:
        self.tasks: dict[int, Any] = {}
        self._tickets = 0

    def submit(self, task: object, _budget: object, _rank: int = 0) -> int:
        self._tickets += 1
        self.tasks[self._tickets] = task
        return self._tickets

    def cancel(self, ticket: int) -> None:
        del self.tasks[ticket]

    def asked(self) -> list[tuple[str, str]]:
        """What is asked of whom."""
        return [(task.about.function or task.about.kind, task.part) for task in self.tasks.values()]


class Session:
    """The claims about the bounds of arrays in a program, each revision of it."""

    def __init__(self) -> None:
        self.pool, self.options, self.program = Pool(), Options(budget="background"), program_of(TEXT)
        self.claims = Claims(self.pool, Decisions(None), Contents(), 2)  # type: ignore[arg-type]

    def edit(self, program: Program) -> None:
        self.program = program
        wanted = Wanted(tuple((name, RULE) for name in NAMES), (RULE,), ())
        self.claims.ask(program, ("main",), wanted, self.options)

    def go_on(self, **how: bool) -> None:
        self.claims.go_on(nullcontext(), **how)

    def answer(self, about: str, decided: Decided) -> None:
        ticket = next(at for at, task in self.pool.tasks.items() if about in (task.about.function, task.about.kind))
        del self.pool.tasks[ticket]
        assert self.claims.take(Outcome(ticket, "", decided))

    def prove(self, runs: Decided) -> None:
        """Answers all that is asked, one after the other: functions are proved."""
        self.go_on()
        while self.pool.tasks:
            ((about, part),) = self.pool.asked()
            assert part == "all"
            self.answer(about, runs if about == "runs" else PROVED)
            self.go_on()


def proved(runs: Decided) -> Session:
    session = Session()
    session.edit(program_of(TEXT))
    session.prove(runs)
    session.edit(program_of(EDITED))
    return session


@pytest.fixture
def session() -> Session:
    return proved(Decided("possible"))


EARLIER = [(name, "earlier") for name in NAMES]


def test_earlier_proofs_are_asked_about_at_once_and_nothing_else(session: Session) -> None:
    session.go_on(only_earlier=True)
    assert session.pool.asked() == EARLIER
    for name in NAMES:
        assert session.claims.is_asked(name, RULE)
        session.answer(name, PROVED)
    session.go_on(only_earlier=True)
    assert session.pool.asked() == []
    session.go_on()
    assert session.pool.asked() == [("runs", "all")]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_what_does_not_hold_any_more_waits_for_the_others_and_says_what_broke(session: Session, order: tuple[int, ...]) -> None:
    session.go_on()
    said = [Decided("possible", final=False, broken=f"broken {name}") for name in NAMES]
    said[1] = PROVED
    for number in order:
        session.answer(NAMES[number], said[number])
        if len(session.pool.tasks):
            session.go_on()
            assert all(part == "earlier" for _, part in session.pool.asked())
    session.go_on()
    for number in (0, 2):
        assert session.pool.asked() == [(NAMES[number], "others")]
        assert session.claims.is_asked(NAMES[number], RULE)
        session.answer(NAMES[number], OPEN)
        answers = session.claims.answers(session.program)
        assert answers[NAMES[number], RULE][0].broken == f"broken {NAMES[number]}"
        session.go_on()


def test_a_text_that_comes_meanwhile_is_asked_about_from_the_start(session: Session) -> None:
    session.go_on(only_earlier=True)
    session.answer(NAMES[0], Decided("possible", final=False))
    session.edit(program_of(TEXT.replace("n < 0", "n <= 0")))
    assert session.pool.asked() == []
    session.go_on(only_earlier=True)
    assert session.pool.asked() == EARLIER


def test_the_same_text_goes_on(session: Session) -> None:
    program = program_of(TEXT.replace("n < 0", "n <= 0"))
    session.edit(program)
    session.go_on(only_earlier=True)
    session.answer(NAMES[0], Decided("possible", final=False))
    session.edit(program)
    session.go_on()
    assert session.pool.asked() == EARLIER[1:]


def test_what_was_kept_and_is_gone_is_looked_for(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analysis.session.provers.asking.kept_texts.KeptTexts.of", lambda *_: Kept())
    session.go_on(only_earlier=True)
    assert session.pool.asked() == []
    session.go_on()
    assert session.pool.asked() == [(NAMES[0], "others")]


def test_runs_that_took_little_are_asked_for_again_at_once_with_little_time() -> None:
    session = proved(RUNS_PROVE)
    session.go_on(only_earlier=True)
    assert session.pool.asked() == [*EARLIER, ("runs", "earlier")]
    assert max(task.seconds for task in session.pool.tasks.values() if task.about.kind == "runs") == 4 * LITTLE
    session.answer("runs", Decided("possible", final=False))
    for name in NAMES:
        session.answer(name, PROVED)
    session.go_on()
    assert session.pool.asked() == [("runs", "all")]


def test_runs_that_took_long_wait() -> None:
    session = proved(Decided("possible", parts=RUNS_PROVE.parts, worked=LITTLE + 0.1))
    session.go_on(only_earlier=True)
    assert session.pool.asked() == EARLIER


def test_contracts_that_took_little_are_asked_about_together() -> None:
    pool, options = Pool(), Options(budget="background")
    answers = ContractAnswers(pool, Decisions(None), Contents(), slots=2)  # type: ignore[arg-type]
    rules = {"division-by-zero", "null-dereference", "memory-leak"}
    work = {"division-by-zero": LITTLE, "null-dereference": LITTLE + 0.1, "memory-leak": 0.0}
    assert answers.ask(program_of(TEXT), ("main",), rules, options, understood=True)
    for _ in work:
        answers.go_on(nullcontext(), only_quick=True)
        assert not pool.tasks
        answers.go_on(nullcontext())
        ((ticket, task),) = pool.tasks.items()
        del pool.tasks[ticket]
        took = next(seconds for rule, seconds in work.items() if rule in task.about.rules)
        assert answers.take(Outcome(ticket, "", Decided("possible", worked=took)))
    answers.ask(program_of(EDITED), ("main",), rules, options, understood=True)
    answers.go_on(nullcontext(), only_quick=True)
    asked = {rule for task in pool.tasks.values() for rule in task.about.rules}
    assert asked >= {"division-by-zero", "memory-leak"}
    assert "null-dereference" not in asked
