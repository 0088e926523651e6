"""What contracts prove of all functions of a program, and runs of each show, revision by revision.

There is one question for each group of rules (`portfolio.contract_proofs`), about the whole program. After an edit all questions
are asked again; the prover takes over what still holds of its last answers. Until a question is answered, what was proved of a
function for all of its callers stays, if nothing that it follows from has changed.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager

from analysis.c.undefined import SHOWN_ALONE
from analysis.certificate.nonzero.needed_values import RULES as OF_VALUES
from analysis.certificate.ownership.closed_checker import hidden
from analysis.certificate.ownership.obligations import RULES as OF_BLOCKS
from analysis.certificate.ranges.range_checker import RULES as OF_OPERATORS
from analysis.cfa.graph import Program
from analysis.cpa.obstacles.beside import beside
from analysis.model.budgets import ProverBudget, budget_of
from analysis.model.options import Options
from analysis.session.contracts.unaffected import same_surroundings, unaffected
from analysis.session.portfolio.request_terms import About, terms_of
from analysis.session.provers.asking.answer import Decided
from analysis.session.provers.asking.claim import Key, KnownClaim
from analysis.session.provers.asking.earlier_first import LITTLE
from analysis.session.provers.asking.kept_answers import Decisions
from analysis.session.provers.asking.program_difference import ProgramDifference
from analysis.session.provers.asking.program_slices import Contents, Slicer
from analysis.session.provers.asking.question import SHARE, Question, task_budget
from analysis.session.provers.processes.task_outcome import Outcome
from analysis.session.provers.processes.task_pool import TaskPool

_GROUPS = (
    tuple(sorted(OF_BLOCKS)),
    *((rule,) for rule in sorted(OF_VALUES)),
    tuple(sorted(OF_OPERATORS - OF_VALUES)),
    tuple(sorted(SHOWN_ALONE)),
)
_RANK = 8  # in the pool: after findings, before other proofs
_Answers = Mapping[Key, tuple[Decided, float]]


class ContractAnswers:
    """The answers about one program. `states` are those since the last check, `reused` those of answers that were known, `spent`
    the milliseconds."""

    def __init__(self, pool: TaskPool, decisions: Decisions, contents: Contents, slots: int = 1) -> None:
        self._pool, self._decisions, self._contents, self._slots = pool, decisions, contents, slots
        self._program: Program | None = None
        self._options = Options()
        self._entries: tuple[str, ...] = ()
        self._waiting: list[tuple[str, ...]] = []
        self._running: dict[int, tuple[str, ...]] = {}
        self._known: dict[tuple[str, ...], KnownClaim] = {}
        self._answers: dict[tuple[str, ...], _Answers] = {}
        self._took: dict[tuple[str, ...], float] = {}  # seconds of work, the last time
        self._before: _Answers = {}  # of an earlier revision, which hold for this one
        self._holding: tuple[Program, _Answers] | None = None
        self.begin()

    def begin(self) -> None:
        """Begins a new check: work and time are counted from here."""
        self.states, self.reused, self.spent = 0, 0, 0.0

    @property
    def open(self) -> int:
        """How many tasks have not ended."""
        return len(self._running)

    @property
    def progress(self) -> tuple[int, int]:
        """How many questions are answered, and how many there are."""
        return len(self._answers), len(self._answers) + len(self._running) + len(self._waiting)

    @property
    def ready(self) -> bool:
        """Whether `go_on` has something to do."""
        at_once = self._slots if self._budget.total is not None else 1
        return bool(self._waiting) and (self._is_quick(self._waiting[0]) or len(self._running) < at_once)

    def _is_quick(self, group: tuple[str, ...]) -> bool:
        """Whether a question took so little the last time that it need not wait for others."""
        return self._budget.total is None and self._took.get(group, math.inf) <= LITTLE

    @property
    def _budget(self) -> ProverBudget:
        return budget_of(self._options.budget, self._options.limits)

    @property
    def is_final(self) -> bool:
        """Whether asking again would not help."""
        return not self._waiting and not self._running

    @property
    def keys(self) -> frozenset[str]:
        """The keys of what was asked."""
        return frozenset(known.key for known in self._known.values())

    def ask(
        self, program: Program, entries: Sequence[str], rules: Collection[str], options: Options, *, understood: bool
    ) -> bool:
        """Asks about the program, with `go_on`; whether it is asked about at all. Contracts say nothing where not all of the text
        is understood; certificates are about single functions."""
        asked = understood and options.engine == "auto" and not options.certificates
        same = (self._entries, terms_of(self._options)) == (tuple(entries), terms_of(options))
        self._before = self.answers(program) if asked and same else {}
        keeps = asked and same and program is self._program
        groups = [group for group in _GROUPS if asked and not frozenset(rules).isdisjoint(group)]
        if not keeps:
            self._cancel()
            self._known, self._answers = {}, {}
        self._waiting = [group for group in groups if group not in self._answers and group not in self._running.values()]
        self._program, self._entries, self._options, self._holding = program, tuple(entries), options, None
        self._waiting.sort(key=lambda group: not self._is_quick(group))
        return asked

    def go_on(self, interruptible: AbstractContextManager[None], *, only_quick: bool = False) -> bool:
        """Asks the next questions, or only those that took little the last time; whether one was answered before. Who ends this
        from outside calls it again: what is ended is only the making of a question, before anything is noted of it."""
        news = False
        while self.ready and self._program is not None and (self._is_quick(self._waiting[0]) or not only_quick):
            with interruptible:
                question = self._question(self._waiting[0], self._program)
            news = self._begin(self._waiting.pop(0), question) or news
        return news

    def _question(self, group: tuple[str, ...], program: Program) -> Question:
        part = Slicer(program, self._entries, self._contents).everything()
        seconds = SHARE * self._budget.contracts
        return Question(part, About("contracts", group), True, terms_of(self._options), seconds)

    def _begin(self, group: tuple[str, ...], question: Question) -> bool:
        """Has a question asked; whether its answer is known already."""
        known = self._known[group] = KnownClaim(question)
        before = self._decisions.get((known.key,)).get(known.key)
        if before is not None and before.holds(question.seconds):
            self._took[group] = before.worked
            self.reused += before.states
            self._answered(group, before)
            return True
        limit = task_budget(self._budget, self._budget.contracts, self._options.limits)
        self._running[self._pool.submit(question, limit, _RANK)] = group
        return False

    def take(self, outcome: Outcome) -> bool:
        """Takes in an outcome; False if it is of no question of these."""
        group = self._running.pop(outcome.ticket, None)
        if group is None:
            return False
        known = self._known[group]
        known.ms = outcome.ms
        self.spent += outcome.ms
        self._took[group] = math.inf if outcome.end else outcome.answer.worked
        if not outcome.end:
            self.states += outcome.answer.states
            self._decisions.add(known.key, outcome.answer)
            self._answered(group, outcome.answer)
        return True

    def _answered(self, group: tuple[str, ...], decided: Decided) -> None:
        found = dict[Key, tuple[Decided, float]]()
        for part in decided.parts:
            one = Decided(
                part.status,
                reason=part.reason,
                assumptions=part.assumptions,
                engine=part.engine,
                certified=part.certified,
                entries=part.entries,
                no_place=part.no_place,
                invariants=part.invariants,
                observed=part.observed,
                steps=part.steps,
                run=part.run,
            )
            for name in part.functions:
                found.setdefault((name, part.rule), (one, self._known[group].ms))
        self._answers[group] = found
        self._holding = None

    def answers(self, program: Program) -> _Answers:
        """What is known of functions, and in how many milliseconds, of a revision that may be newer than the one that was asked
        about."""
        if self._program is None:
            return {}
        if self._holding is None or self._holding[0] is not program:
            found = {**self._before, **{key: one for answers in self._answers.values() for key, one in answers.items()}}
            self._holding = program, found if program is self._program else _that_hold(found, self._program, program)
        return self._holding[1]

    def is_asked(self, rule: str) -> bool:
        """Whether an answer about a rule is to come."""
        return any(rule in group for group in (*self._waiting, *self._running.values()))

    def forget(self) -> None:
        """Cancels everything, and drops what is known."""
        self._cancel()
        self._waiting, self._known, self._answers, self._before, self._holding, self._took = [], {}, {}, {}, None, {}
        self._program = None

    def pool_closed(self) -> None:
        """The pool was closed: nothing runs any more."""
        self._running, self._waiting = {}, []

    def _cancel(self) -> None:
        for ticket in self._running:
            self._pool.cancel(ticket)
        self._running = {}


def _that_hold(found: _Answers, before: Program, now: Program) -> _Answers:
    """The proofs that still hold: they are about all runs of a function, and follow from the same things."""
    names = (unaffected(before, now) if same_surroundings(before, now) else None) or frozenset[str]()
    difference = ProgramDifference(before, now)
    excluded = {rule for rule in OF_BLOCKS if hidden(now, rule)}
    undisturbed = {name for name in names if beside(now).obstacle((name,)) is None}
    return {
        (name, rule): one
        for (name, rule), one in found.items()
        if name in undisturbed and rule not in excluded and not one[0].entries and difference.is_local
    }
