"""What is to be proved of a program, revision by revision: that no run violates a rule, in one of its functions or anywhere.

What the automaton engine leaves open is a *claim* about a function and a rule. It is asked about in several ways:

- *runs* of the program from `main` against all rules at once: they confirm, and a tree of all paths proves;
- the *program* from `main`, one rule at a time, if it is small;
- the *function* by itself, from any state in which it could be called; where that fails, from the entries of the program.

A proof holds as long as all that it speaks about is the same object, so that an edit elsewhere neither ends a task nor takes a
proof away. The budget says what comes first; nothing is begun after its total time. The next question is asked by who has the
time (`go_on`), as soon as an answer is in.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager

import msgspec

from analysis.cfa.graph import Program
from analysis.cfa.linking.obstructed import MAIN
from analysis.model.budgets import ProverBudget, budget_of
from analysis.model.options import Options
from analysis.model.report import SummaryWork
from analysis.session.portfolio.request_terms import About, Kept, Kind, terms_of
from analysis.session.portfolio.turns import BOUNDED, TURNS
from analysis.session.provers.asking.answer import PARTLY_PARSED, Decided
from analysis.session.provers.asking.claim import RUNS, Claim, Key, KnownClaim, Wanted
from analysis.session.provers.asking.claim_parts import ClaimParts
from analysis.session.provers.asking.kept_answers import Decisions
from analysis.session.provers.asking.kept_summaries import KeptSummaries
from analysis.session.provers.asking.program_answers import ProgramAnswers
from analysis.session.provers.asking.program_difference import ProgramDifference
from analysis.session.provers.asking.program_slices import Contents
from analysis.session.provers.asking.question import SHARE, Question
from analysis.session.provers.processes.prover_pool import Pool
from analysis.session.provers.processes.task_outcome import Budget, Outcome, reason_of

_RANKS: dict[Kind, int] = {"runs": -1, "program": 9, "function": 10}  # in the pool: findings are between them
_LEAST = 0.5  # seconds for a question
_LONGEST = 4  # times as long as the budget for all claims that they may take by the wall clock


class Claims:
    """The claims about one program. `queries` and `states` are the questions to the solver and the abstract states since the last
    check, `reused` the states of answers that were known, `spent` the milliseconds, `worked` the seconds of the processor,
    `summaries` what was done to summaries."""

    def __init__(self, pool: Pool, decisions: Decisions, contents: Contents, slots: int = 1) -> None:
        self._pool, self._decisions, self._contents, self._slots = pool, decisions, contents, slots
        self._summaries = KeptSummaries(decisions)
        self._known: dict[Claim, KnownClaim] = {}
        self._waiting: list[Claim] = []
        self._running: dict[int, Claim] = {}
        self._program: Program | None = None
        self._entries: tuple[str, ...] = ()
        self._parts: ClaimParts | None = None
        self._reached: frozenset[str] = frozenset()
        self._elsewhere: frozenset[str] = frozenset()
        self._options = Options()
        self._budget: ProverBudget = budget_of("full", Options().limits)
        self._wanted = Wanted()
        self._understood = True
        self._compared: tuple[Program, ProgramDifference] | None = None
        self.worked, self._began = 0.0, 0.0
        self._given_up = ""
        self._left: dict[Claim, str] = {}
        self._unasked: list[Claim] = []  # about functions, because not all of the text parses
        self.begin()

    @property
    def open(self) -> int:
        """How many tasks have not ended."""
        return len(self._running)

    @property
    def progress(self) -> tuple[int, int]:
        """How many claims are answered, and how many there are."""
        decided = sum(known.decided is not None for known in self._known.values())
        return decided, len({*self._known, *self._waiting})

    @property
    def ready(self) -> bool:
        """Whether `go_on` has something to do."""
        return bool(self._waiting) and len(self._running) < self._at_once

    @property
    def is_final(self) -> bool:
        """Whether asking again would not help."""
        done = (known.decided is not None and known.decided.holds(known.seconds) for known in self._known.values())
        return not self._waiting and not self._running and not self._left and all(done)

    @property
    def keys(self) -> frozenset[str]:
        """The keys of what was asked, and of what its answers reuse."""
        return frozenset(known.key for known in self._known.values()) | self._summaries.keys

    @property
    def running(self) -> tuple[Claim, ...]:
        """What provers are asked now."""
        return tuple(self._running.values())

    @property
    def _at_once(self) -> int:
        """A caller that does not wait has one question asked at a time, so that a process is left for findings."""
        return 1 if self._budget.total is None else self._slots

    def begin(self) -> None:
        """Begins a new check: the work of provers and their time are counted from here."""
        self.queries, self.states, self.reused, self.spent = 0, 0, 0, 0.0
        self.summaries = SummaryWork()
        self.worked, self._given_up, self._began = 0.0, "", time.monotonic()

    def ask(self, program: Program, entries: Sequence[str], wanted: Wanted, options: Options, *, understood: bool = True) -> None:
        """From now on exactly these claims are to be proved, except those that are proved already.
        `understood`: all of the program's text parses. If it does not, claims that the unparsed rest could
        affect are not asked about."""
        self._budget = budget_of(options.budget, options.limits)
        queue = self._queue(wanted, options, tuple(entries))
        difference = self._difference(program)
        same = terms_of(self._options) == terms_of(options) and self._wanted.asked_alike(wanted)
        possible = {*queue, *(claim._replace(whole=True) for claim in queue)}
        kept = {c: k for c, k in self._known.items() if same and c in possible and difference.keeps(c, k)}
        if self._entries != tuple(entries):
            kept = {claim: known for claim, known in kept.items() if not claim.whole}
        for ticket, claim in list(self._running.items()):
            if claim not in kept:
                self._pool.cancel(ticket)
                del self._running[ticket]
        running = frozenset(self._running.values())
        self._known, self._program, self._entries, self._options = kept, program, tuple(entries), options
        self._wanted, self._understood = wanted, understood
        self._parts = self._compared = None
        self._left, self._unasked = {}, []
        open_ = (c for c in (claim if not self._failed(claim) else claim._replace(whole=True) for claim in queue))
        self._waiting = [c for c in open_ if c not in running and (c not in kept or kept[c].decided is None)]
        if self._given_up:
            self.give_up(self._given_up)

    def _queue(self, wanted: Wanted, options: Options, entries: tuple[str, ...]) -> list[Claim]:
        """What is asked, in order. Whether a function is asked about from the entries shows when it is asked by itself."""
        functions = [Claim("function", function, rule, False) for function, rule in wanted.functions]
        program: list[Claim] = []
        if MAIN in entries or options.engine == BOUNDED:  # which says that there is no main
            if TURNS["runs"][options.engine] and wanted.rules:
                program.append(RUNS)
            if TURNS["program"][options.engine]:
                program += [Claim("program", "", rule, True) for rule in wanted.conditions]
        if not TURNS["function"][options.engine]:
            functions = []
        return program + functions if self._budget.first == "program" else functions + program

    def _failed(self, claim: Claim) -> bool:
        """Whether a function was asked about by itself, in vain."""
        known = self._known.get(claim)
        return claim.kind == "function" and known is not None and known.decided is not None and known.decided.status != "refuted"

    def go_on(self, interruptible: AbstractContextManager[None]) -> bool:
        """Asks about the next claims that nothing is known of; whether others were answered on the way. Who ends this from
        outside calls it again."""
        news = False
        while self.ready and self._program is not None:
            claim = self._waiting[0]
            if self._is_settled(claim):
                del self._waiting[0]
                continue
            if self._is_over:
                why = f"it was not started: the {self._budget.total:g} s for proofs were used up"
                self._left.update(dict.fromkeys(self._waiting, why))
                self._waiting = []
                return True
            with interruptible:
                question = self._question(claim, self._program)
            known = None if question is None else KnownClaim(question)
            before = None if known is None else self._decisions.get((known.key,)).get(known.key)
            del self._waiting[0]
            if known is None or question is None:
                if claim.kind == "function" and not claim.whole:
                    self._next_attempt(claim)
                elif claim.kind == "function" and not self._understood:
                    self._unasked.append(claim)
                continue
            self._known[claim] = known
            if before is not None and before.holds(question.seconds):
                self.reused += before.states
                self._answered(claim, before)
                news = True
                continue
            self._running[self._pool.submit(question, self._task_budget(claim), _RANKS[claim.kind])] = claim
        return news

    def _answered(self, claim: Claim, decided: Decided) -> None:
        """Takes in an answer, and ends what is not worth its time any more."""
        self._known[claim].decided = decided
        if self._failed(claim) and not claim.whole:
            self._next_attempt(claim)
        for ticket, other in list(self._running.items()):
            if self._is_settled(other):
                self._pool.cancel(ticket)
                del self._running[ticket], self._known[other]

    def _next_attempt(self, claim: Claim) -> None:
        """Has a function asked about from the entries: now, or when the program was asked about as a whole."""
        place = 0 if self._budget.first == "program" else len(self._waiting)
        self._waiting.insert(place, claim._replace(whole=True))

    def _is_settled(self, claim: Claim) -> bool:
        """Whether others have answered what a claim asks. A proof of the program says nothing of
        functions that no entry leads to."""
        if self._program is None:
            return False
        answers = self.program_answers(self._program)
        seen = answers.proved.keys() | {run.rule for run in answers.runs}
        match claim.kind:
            case "runs":
                return seen.issuperset(self._wanted.rules)
            case "program":
                return claim.rule in seen
        return claim.rule in answers.proved and claim.function in answers.reached

    def _task_budget(self, claim: Claim) -> Budget:
        seconds = self._budget.function if claim.kind == "function" else self._budget.program
        return Budget(self._budget.patience * seconds, self._options.limits.task_megabytes)

    def _seconds(self, claim: Claim) -> float:
        """How long a question may take: no longer than all together."""
        seconds = SHARE * (self._budget.function if claim.kind == "function" else self._budget.program)
        return seconds if self._left_over is None else max(_LEAST, min(seconds, self._left_over))

    @property
    def _is_over(self) -> bool:
        """Whether the time for all claims is over; by the wall clock as the last resort, where others have the processor."""
        if self._left_over is None or self._budget.total is None:
            return False
        return self._left_over <= 0 or time.monotonic() > self._began + _LONGEST * self._budget.total

    @property
    def _left_over(self) -> float | None:
        """The seconds that are left for all claims together."""
        return None if self._budget.total is None else self._budget.total - self.worked

    def take(self, outcome: Outcome) -> bool:
        """Takes in an outcome; False if it is of no claim."""
        claim = self._running.pop(outcome.ticket, None)
        if claim is None:
            return False
        known = self._known[claim]
        if outcome.end:
            decided = Decided("possible", final=False, reason=reason_of(outcome, self._task_budget(claim)))
        else:
            decided = outcome.answer
            if decided.kept is not None:
                self._summaries.add(claim.rule, terms_of(self._options), decided.kept)
                decided = msgspec.structs.replace(decided, kept=None)
            self._decisions.add(known.key, msgspec.structs.replace(decided, repairs={}))  # which are of this revision
        known.ms = outcome.ms
        self.queries, self.states = self.queries + decided.queries, self.states + decided.states
        self.summaries = self.summaries.plus(decided.summaries)
        self.spent += outcome.ms
        self.worked += outcome.worked if outcome.end else decided.worked
        self._answered(claim, decided)
        return True

    def answers(self, program: Program) -> dict[Key, tuple[Decided, float]]:
        """What is known of functions by themselves, and in how many milliseconds, of a revision that may be newer than the one
        that was asked about."""
        difference, found = self._difference(program), dict[Key, tuple[Decided, float]]()
        for claim, why in (*((claim, PARTLY_PARSED) for claim in self._unasked), *self._left.items()):
            if claim.kind == "function":
                found[claim.function, claim.rule] = Decided("possible", final=False, reason=why), 0.0
        for claim in sorted(self._known, key=lambda claim: claim.whole):
            known = self._known[claim]
            if claim.kind == "function" and known.decided is not None and difference.keeps(claim, known):
                found[claim.function, claim.rule] = msgspec.structs.replace(known.decided, entries=known.entries), known.ms
        return found

    def program_answers(self, program: Program) -> ProgramAnswers:
        """What is known of a revision as a whole."""
        found = ProgramAnswers(frozenset(self._wanted.conditions), self._reached, self._elsewhere)
        difference = self._difference(program)
        for claim in (RUNS, *(Claim("program", "", rule, True) for rule in self._wanted.conditions)):
            known = self._known.get(claim)
            if known is None or known.decided is None or not difference.keeps(claim, known):
                continue
            if claim.kind == "program":
                found.add(claim.rule, known.decided, known.ms)
            elif not known.decided.parts:  # they were ended from outside
                for rule in set(self._wanted.rules).difference(self._wanted.conditions):
                    found.reasons.setdefault(rule, known.decided.reason)
            for part in known.decided.parts:
                found.add_part(part, known.ms)
        for claim, why in self._left.items():
            for rule in (claim.rule,) if claim.kind == "program" else self._wanted.rules if claim.kind == "runs" else ():
                found.reasons.setdefault(rule, why)
        return found

    @property
    def certificates(self) -> list[str]:
        """The texts of the certificates among the answers: those of the program first, then those of single
        functions."""
        kinds: tuple[Kind, ...] = ("program", "runs", "function")
        answers = (self._known[claim].decided for kind in kinds for claim in self._known if claim.kind == kind)
        known = [decided for decided in answers if decided is not None]
        parts = [part.certificates for decided in known for part in decided.parts]
        return [text for texts in (*parts, *(decided.certificates for decided in known)) for text in texts]

    def forget(self) -> None:
        """Cancels everything, and drops what is known."""
        for ticket in self._running:
            self._pool.cancel(ticket)
        self.pool_closed()
        self._summaries.forget()
        self._known, self._program = {}, None

    def pool_closed(self) -> None:
        """The pool was closed: nothing runs any more."""
        self._running, self._waiting, self._parts, self._compared = {}, [], None, None

    def give_up(self, reason: str) -> None:
        """The pool was closed: what is not answered stays open, for this reason."""
        self._given_up = reason
        self._left.update(dict.fromkeys((*self._running.values(), *self._waiting), reason))
        self.pool_closed()

    def _difference(self, program: Program) -> ProgramDifference:
        if self._compared is None or self._compared[0] is not program:
            self._compared = program, ProgramDifference(self._program, program)
        return self._compared[1]

    def _question(self, claim: Claim, program: Program) -> Question | None:
        """The question of a claim; None if nothing could come of it."""
        if self._parts is None:
            self._parts = ClaimParts(
                program,
                self._entries,
                self._contents,
                uncut=self._options.certificates,
                understood=self._understood,
                however_large=self._options.engine == BOUNDED,
            )
            self._reached, self._elsewhere = self._parts.reached, self._parts.elsewhere
        part = self._parts.of(claim, self._known)
        if part is None:
            return None
        rules = self._wanted.rules if claim.kind == "runs" else (claim.rule,)
        kind: Kind = "values" if claim.kind == "function" and self._wanted.by_contracts else claim.kind
        about, terms = About(kind, rules, claim.function or None), terms_of(self._options)
        kept = self._summaries.of(claim.rule, terms) if terms.engine == BOUNDED else Kept()
        return Question(part, about, claim.whole, terms, self._seconds(claim), kept)
