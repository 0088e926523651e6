"""The functions that are to be proved, revision by revision: that no run violates a rule in one of them (`claiming` proves it).

What the automaton engine leaves open without a finding is a *claim*. It is proved of the function by itself, from any state in
which it could be called; where that fails and the program is small, of the program from its entries. A proof holds as long as all
that it speaks about is the same object, so that an edit elsewhere neither ends a task nor takes a proof away.

One claim at a time is with the provers, behind all findings, and the next is asked about by who has the time (`go_on`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Literal, NamedTuple

from analysis.cfa.graph import Program
from analysis.cpa.completeness import keeps_errno
from analysis.cpa.library import CONCURRENT, is_harmless
from analysis.frontend.file_level import UNSEEN
from analysis.model import ir
from analysis.model.digest import digest_text
from analysis.model.options import Options
from analysis.session.provers.decided import Decided
from analysis.session.provers.decisions import Decisions
from analysis.session.provers.outcome import Budget, Outcome, reason_of
from analysis.session.provers.pool import Pool
from analysis.session.provers.slices import Contents, Slice, Slicer

RANK = 10  # in the pool, after the ranks of findings
_MOST_EDGES = 3_000  # of a program that is looked at as a whole
_SHARE = 0.8  # of the budget's seconds, after which a prover says by itself how far it came

Key = tuple[str, str]
"""A function and a rule."""


class ClaimQuestion(NamedTuple):
    """Whether no run from the entries of a program (a part of one) violates a rule in a function. With `whole` these are where
    the program starts; else the entry is called in any state."""

    program: Slice
    function: str
    rule: str
    whole: bool
    data_model: Literal["LP64", "ILP32"]
    seconds: float


class _Claim:
    """What is known of a claim. `names` are those of all parts of the program that the answer is about."""

    def __init__(self, question: ClaimQuestion) -> None:
        parts = question.program
        self.key = _key(question)
        self.whole = question.whole
        self.names = frozenset((*parts.functions, *parts.globals, *parts.externals))
        self.decided: Decided | None = None
        self.ms = 0.0
        self.is_last = question.whole  # there is nothing more to ask

    @property
    def is_settled(self) -> bool:
        """Whether it is proved, or all was tried."""
        return self.decided is not None and (self.is_last or self.decided.status == "refuted")


class Claims:
    """The claims about one program. `queries` are the questions to the solver since the last check, `spent` the milliseconds."""

    def __init__(self, pool: Pool, decisions: Decisions, contents: Contents) -> None:
        self._pool, self._decisions, self._contents = pool, decisions, contents
        self._claims: dict[Key, _Claim] = {}
        self._waiting: list[Key] = []
        self._running: tuple[int, Key] | None = None
        self._program: Program | None = None
        self._entries: tuple[str, ...] = ()
        self._slicer: Slicer | None = None
        self._options = Options()
        self._understood = True
        self._compared: tuple[Program, _Difference] | None = None
        self.queries = 0
        self.spent = 0.0

    @property
    def open(self) -> int:
        """How many tasks have not ended."""
        return int(self._running is not None)

    @property
    def ready(self) -> bool:
        """Whether `go_on` has something to do."""
        return self._running is None and bool(self._waiting)

    @property
    def keys(self) -> frozenset[str]:
        """The keys of what was asked."""
        return frozenset(claim.key for claim in self._claims.values())

    def begin(self) -> None:
        """A new check: what provers do is counted from here."""
        self.queries, self.spent = 0, 0.0

    def ask(
        self, program: Program, entries: Sequence[str], wanted: Iterable[Key], options: Options, *, understood: bool = True
    ) -> None:
        """These claims are to be proved, in this order, as far as they are not; nothing else is, from now on. `understood`: all
        of the program's text parses; else nothing is asked about to which the rest could matter."""
        asked = dict.fromkeys(wanted)
        difference = self._difference(program)
        kept = {key: claim for key, claim in self._claims.items() if key in asked and difference.keeps(claim.names, claim.whole)}
        if self._options.data_model != options.data_model:
            kept = {}
        if self._entries != tuple(entries):
            kept = {key: claim for key, claim in kept.items() if not claim.whole}
        if self._running is not None and self._running[1] not in kept:
            self._pool.cancel(self._running[0])
            self._running = None
        running = None if self._running is None else self._running[1]
        self._claims, self._program, self._entries, self._options = kept, program, tuple(entries), options
        self._slicer = self._compared = None
        self._understood = understood
        self._waiting = [key for key in asked if key != running and (key not in kept or not kept[key].is_settled)]

    def go_on(self, interruptible: AbstractContextManager[None]) -> bool:
        """Asks about the next claim that nothing is known of; whether others were answered on the way. Who ends this from outside
        calls it again."""
        news = False
        while self.ready and self._program is not None:
            key = self._waiting[0]
            with interruptible:
                question = self._question(*key, self._program)
            claim = None if question is None else _Claim(question)
            known = None if claim is None else self._decisions.get((claim.key,)).get(claim.key)
            del self._waiting[0]
            if claim is None or question is None:
                if key in self._claims and self._understood:
                    self._claims[key].is_last = True
                continue
            self._claims[key] = claim
            if known is not None and known.holds(question.seconds):
                claim.decided, news = known, True
                if not claim.is_settled:
                    self._waiting.insert(0, key)
                continue
            budget = Budget(self._options.limits.proof_seconds, self._options.limits.task_megabytes)
            self._running = self._pool.submit(question, budget, RANK), key
        return news

    def heard(self, outcome: Outcome) -> bool:
        """Takes in an outcome; False if it is of no claim."""
        if self._running is None or self._running[0] != outcome.ticket:
            return False
        key = self._running[1]
        self._running = None
        claim = self._claims[key]
        if outcome.end:
            budget = Budget(self._options.limits.proof_seconds, self._options.limits.task_megabytes)
            decided = Decided("possible", final=False, reason=reason_of(outcome, budget))
        else:
            decided = outcome.answer
            self._decisions.add(claim.key, decided)
        claim.decided = decided
        claim.ms = outcome.ms
        self.queries, self.spent = self.queries + decided.queries, self.spent + outcome.ms
        if not claim.is_settled:
            self._waiting.insert(0, key)  # once more, in the program as a whole
        return True

    def answers(self, program: Program) -> dict[Key, tuple[Decided, float]]:
        """What is known, and in how many milliseconds, of a revision that may be newer than the one that was asked about."""
        difference = self._difference(program)
        return {
            key: (claim.decided, claim.ms)
            for key, claim in self._claims.items()
            if claim.decided is not None and difference.keeps(claim.names, claim.whole)
        }

    def forget(self) -> None:
        """Cancels everything, and drops what is known."""
        if self._running is not None:
            self._pool.cancel(self._running[0])
        self.closed()
        self._claims, self._program = {}, None

    def closed(self) -> None:
        """The pool was closed: nothing runs any more."""
        self._running, self._waiting, self._slicer, self._compared = None, [], None, None

    def _difference(self, program: Program) -> _Difference:
        if self._compared is None or self._compared[0] is not program:
            self._compared = program, _Difference(self._program, program)
        return self._compared[1]

    def _question(self, function: str, rule: str, program: Program) -> ClaimQuestion | None:
        """The next question about a claim; None if there is none."""
        if self._slicer is None:
            self._slicer = Slicer(program, self._entries, self._contents)
        before = self._claims.get((function, rule))
        whole = before is not None and before.decided is not None
        if UNSEEN in program.externals and (whole or function == "main" or self._slicer.calls(CONCURRENT)):
            return None  # `main` does not start from the initial values, or not all that runs is called from it
        if keeps_errno(program):
            return None  # any pointer from outside may lead there
        if not whole and not self._slicer.calls(CONCURRENT):
            part = self._slicer.below(function)
            if not self._understood and any(_may_be_inside(program, name) for name in part.externals):
                return None
        elif not self._understood:
            return None
        else:  # from its entries, the program shows whether other threads are started before
            part, whole = self._slicer.slice(function), True
            if not part.entries or sum(len(program.functions[name].edges) for name in part.functions) > _MOST_EDGES:
                return None
            if part.entries == (function,) and before is not None and function != "main":
                return None  # that was the question before
        seconds = _SHARE * self._options.limits.proof_seconds
        return ClaimQuestion(part, function, rule, whole, self._options.data_model, seconds)


class _Difference:
    """What differs between the program that was asked about and a newer one."""

    def __init__(self, before: Program | None, now: Program) -> None:
        self._all = before is None
        self._names: frozenset[str] = frozenset()
        self._called: frozenset[str] = frozenset()
        if before is None or before is now:
            return
        self._all = before.address_taken != now.address_taken or before.records != now.records
        if self._all:
            return
        names = {n for n in before.functions.keys() | now.functions.keys() if before.functions.get(n) is not now.functions.get(n)}
        called = {t for n in names & now.functions.keys() for edge in now.functions[n].calls for t in _targets(now, edge.effect)}
        self._all = not called.isdisjoint(CONCURRENT)
        for old, new in ((before.globals, now.globals), (before.externals, now.externals)):
            names |= {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}
        self._all = self._all or UNSEEN in names or keeps_errno(before) != keeps_errno(now)
        self._names, self._called = frozenset(names), frozenset(called)

    def keeps(self, names: frozenset[str], whole: bool) -> bool:
        """Whether what is known about the parts with these names still holds: none differs, and, if it is about the `whole`
        program, nothing that differs calls any of them."""
        return not self._all and self._names.isdisjoint(names) and not (whole and not self._called.isdisjoint(names))


def _may_be_inside(program: Program, name: str) -> bool:
    """Whether a function without a body may be one of the program whose text does not parse: it can write to all variables."""
    external = program.externals[name]
    return not (external.system or is_harmless(name))


def _targets(program: Program, effect: ir.Effect) -> tuple[str, ...]:
    return program.targets(effect) if isinstance(effect, ir.Call) else ()


def _key(question: ClaimQuestion) -> str:
    where = f"{question.rule} {question.data_model} {'whole' if question.whole else 'own'}"
    return digest_text("claim", question.program.meaning, question.function, where)
