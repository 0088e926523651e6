"""What is to be proved of a program, revision by revision: that no run violates a rule, in one of its functions or anywhere.

What the automaton engine leaves open is a *claim* about a function and a rule. It is asked about in several ways:

- *runs* of the program from `main` against all rules at once: they confirm, and a tree of all paths proves;
- the *program* from `main`, one rule at a time, if it is small;
- the *function* by itself, from any state in which it could be called; where that fails, from the entries of the program.

A proof holds as long as all that it speaks about is the same object, so that an edit elsewhere neither ends a task nor takes a
proof away. The budget says what comes first, and how much work all claims together may cost: answers count in order
(`claim_queue`), and those after it is used up do not count. The next question is asked by who has the time (`go_on`), as soon as
an answer is in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager

import msgspec

from analysis.cfa.graph import Program
from analysis.model.budgets import budget_of
from analysis.model.options import Options
from analysis.model.report import ProofReuse, SummaryWork
from analysis.session.portfolio.request_terms import About, Kept, Kind, terms_of
from analysis.session.portfolio.turns import BOUNDED, REUSING
from analysis.session.provers.asking.answer import PARTLY_PARSED, Decided
from analysis.session.provers.asking.claim import RUNS, Claim, Key, KnownClaim, Wanted
from analysis.session.provers.asking.claim_budget import ClaimBudget
from analysis.session.provers.asking.claim_order import limit_of, ordered, work_of
from analysis.session.provers.asking.claim_parts import ClaimParts
from analysis.session.provers.asking.claim_queue import Answered, ClaimQueue
from analysis.session.provers.asking.earlier_first import EarlierFirst
from analysis.session.provers.asking.kept_answers import Decisions
from analysis.session.provers.asking.kept_texts import KeptTexts
from analysis.session.provers.asking.program_answers import ProgramAnswers
from analysis.session.provers.asking.program_difference import ProgramDifference
from analysis.session.provers.asking.program_slices import Contents
from analysis.session.provers.asking.question import Question, key_of
from analysis.session.provers.asking.read_answers import is_to_check, without_proofs_to_check
from analysis.session.provers.processes.task_outcome import Outcome, reason_of
from analysis.session.provers.processes.task_pool import TaskPool

_RANKS: dict[Kind, int] = {"runs": -1, "program": 9, "function": 10}  # in the pool: findings are between them
_SOON = 7  # for what has an earlier proof, which takes little
_AHEAD = 2  # times as many short questions as there are provers are made, so that none waits, and the next key ends few


class Claims:
    """The claims about one program. `queries` and `states` are the questions to the solver and the abstract states since the last
    check, `reused` the states of answers that were known, `spent` the milliseconds, `summaries` what was done to summaries."""

    def __init__(self, pool: TaskPool, decisions: Decisions, contents: Contents, slots: int = 1) -> None:
        self._pool, self._decisions, self._contents, self._slots = pool, decisions, contents, slots
        self._texts = KeptTexts(decisions)
        self._known: dict[Claim, KnownClaim] = {}
        self._queue = ClaimQueue()
        self._program: Program | None = None
        self._entries: tuple[str, ...] = ()
        self._parts: ClaimParts | None = None
        self._reached: frozenset[str] = frozenset()
        self._elsewhere: frozenset[str] = frozenset()
        self._options = Options()
        self._budget = ClaimBudget(budget_of("full", Options().limits))
        self._wanted = Wanted()
        self._understood = True
        self._compared: tuple[Program, ProgramDifference] | None = None
        self._given_up = ""
        self._left: dict[Claim, str] = {}
        self._earlier = EarlierFirst()
        self._unasked: list[Claim] = []  # about functions, because not all of the text parses
        self.begin()

    @property
    def open(self) -> int:
        """How many tasks have not ended."""
        return len(self._queue.running)

    @property
    def progress(self) -> tuple[int, int]:
        """How many claims are answered, and how many there are."""
        decided = sum(known.decided is not None for known in self._known.values())
        return decided, len({*self._known, *self._queue.claims})

    @property
    def ready(self) -> bool:
        """Whether `go_on` has something to do."""
        claim, left = self._queue.next, self._budget.left
        most = _AHEAD * self._slots if claim is not None and self._earlier.is_due(claim) else self._at_once
        if claim is None or len(self._queue.running) >= most:
            return False
        return left is None or self._queue.is_first(claim) or self._queue.early_work < left

    @property
    def is_final(self) -> bool:
        """Whether asking again would not help."""
        done = (known.decided is not None and known.decided.holds(known.seconds) for known in self._known.values())
        return not self._queue.claims and not self._left and all(done)

    @property
    def keys(self) -> frozenset[str]:
        """The keys of what was asked, and of what its answers reuse."""
        return frozenset(known.key for known in self._known.values()) | self._texts.keys

    @property
    def running(self) -> tuple[Claim, ...]:
        """What provers are asked now."""
        return self._queue.running

    @property
    def _at_once(self) -> int:
        """A caller that does not wait has one question asked at a time, so that a process is left for findings."""
        return self._slots if self._budget.is_awaited else 1

    def begin(self) -> None:
        """Begins a new check: the work of provers and their time are counted from here."""
        self.queries, self.states, self.reused, self.spent = 0, 0, 0, 0.0
        self.summaries, self.reuse = SummaryWork(), ProofReuse()
        self._given_up = ""
        self._budget.begin()

    def ask(self, program: Program, entries: Sequence[str], wanted: Wanted, options: Options, *, understood: bool = True) -> None:
        """From now on exactly these claims are to be proved, except those that are proved already.
        `understood`: all of the program's text parses. If it does not, claims that the unparsed rest could
        affect are not asked about."""
        self._budget.each = budget_of(options.budget, options.limits)
        queue = ordered(wanted, options, tuple(entries), self._budget.each)
        difference = self._difference(program)
        same = terms_of(self._options) == terms_of(options) and self._wanted.asked_alike(wanted)
        possible = {*queue, *(claim._replace(whole=True) for claim in queue)}
        kept = {c: k for c, k in self._known.items() if same and c in possible and difference.keeps(c, k)}
        if self._entries != tuple(entries):
            kept = {claim: known for claim, known in kept.items() if not claim.whole}
        self._known, self._program, self._entries, self._options = kept, program, tuple(entries), options
        self._wanted, self._understood = wanted, understood
        self._parts = self._compared = None
        self._left, self._unasked = {}, []
        attempts = [claim._replace(whole=True) if self._failed(claim) else claim for claim in queue]
        before = self._proved_before(queue)
        attempts = list(dict.fromkeys((*before, *attempts)))
        self._earlier.begin(attempts, () if options.engine == REUSING else before, kept, waits=self._budget.is_awaited)
        attempts.sort(key=self._earlier.place)
        open_ = [claim for claim in attempts if claim not in kept or kept[claim].decided is None]
        self._cancel(self._queue.keep(kept.__contains__, open_))
        self._count()
        if self._given_up:
            self.give_up(self._given_up)

    def _proved_before(self, queue: Sequence[Claim]) -> list[Claim]:
        """The claims that were proved of an earlier revision, where nobody waits for all: to prove them again takes little."""
        if self._budget.is_awaited:
            return []
        terms = terms_of(self._options)
        both = (one for claim in queue for one in (claim, claim._replace(whole=True)))
        return [one for one in dict.fromkeys(both) if self._texts.has_proof(one, terms)]

    def _failed(self, claim: Claim) -> bool:
        """Whether a function was asked about by itself, in vain."""
        known = self._known.get(claim)
        return claim.kind == "function" and known is not None and known.decided is not None and known.decided.status != "refuted"

    def go_on(self, interruptible: AbstractContextManager[None], *, only_earlier: bool = False) -> bool:
        """Asks about the next claims that nothing is known of; whether others were answered on the way. Who ends this from
        outside calls it again. `only_earlier`: only whether earlier proofs still hold."""
        news = False
        while self.ready and self._program is not None and (claim := self._queue.next) is not None:
            if only_earlier and not self._earlier.is_due(claim):
                break
            if self._is_settled(claim):
                self._queue.remove(claim)
                self._count()
            elif self._budget.is_over:
                self._leave()
                return True
            else:
                with interruptible:
                    question = self._question(claim, self._program)
                news = self._begin(claim, question) or news
        return news

    def _begin(self, claim: Claim, question: Question | None) -> bool:
        """Has a claim asked about; whether its answer is known already."""
        if question is None:
            self._answered(Answered(claim, Decided("possible"), 0.0, 0.0))
            return False
        key = key_of(question)
        before = self._decisions.get((key,)).get(key)
        if before is not None:
            before, kept = self._counts(key, before)
            question = question._replace(kept=kept) if kept.text else question
        is_due = self._earlier.is_due(claim)
        if is_due and self._earlier.is_earlier(claim) and before is None and not question.kept.text:
            self._postpone(claim, "")  # what was kept is gone
            return False
        question = self._earlier.asked(claim, question)
        self._known[claim] = KnownClaim(question, at_once=is_due)
        if before is None or not before.holds(question.seconds) or (before.is_reused and question.terms.reuse == "none"):
            rank = _SOON if question.kept.text and not question.kept.of else _RANKS[claim.kind]
            self._queue.begin(claim, self._pool.submit(question, limit_of(claim, self._options), rank))
            return False
        self.reused += before.states
        self._answered(Answered(claim, before, 0.0, before.worked))
        return True

    def _postpone(self, claim: Claim, broken: str) -> None:
        """A claim that was asked at once is not decided: others, of which it is not known yet, come first."""
        self._earlier.failed(claim, broken)
        self._queue.sort(self._earlier.place)

    def _counts(self, key: str, read: Decided) -> tuple[Decided | None, Kept]:
        """What counts of an answer that is known, and what is to be checked again of it."""
        if self._budget.is_awaited or self._decisions.is_own(key):
            return read, Kept()
        return (None, Kept(read.kept or b"")) if is_to_check(read) else (without_proofs_to_check(read), Kept())

    def _answered(self, answered: Answered) -> None:
        """Takes in an answer, and all that waited for it."""
        self._queue.answer(answered)
        self._count()

    def _count(self) -> None:
        """Takes in the answers that wait for no other."""
        while (first := self._queue.take()) is not None:
            claim, known = first.claim, self._known.get(first.claim)
            if self._is_settled(claim):
                self._known.pop(claim, None)
            elif self._budget.is_spent:
                self._known.pop(claim, None)
                self._left[claim] = self._budget.why_left
            elif known is None:
                self._not_asked(claim)
            else:
                known.decided, known.ms = first.decided, first.ms
                self._earlier.answered(claim, first.decided)
                if self._is_proved(claim) and self._program is not None:
                    self._texts.proved(claim, self._program)
                self._budget.spend(first.worked)
                if self._failed(claim) and not claim.whole:
                    self._next_attempt(claim)
                self._end_settled()

    def _not_asked(self, claim: Claim) -> None:
        """Nothing can be proved of what a claim is about."""
        if claim.kind == "function" and not claim.whole:
            self._next_attempt(claim)
        elif claim.kind == "function" and not self._understood:
            self._unasked.append(claim)

    def _end_settled(self) -> None:
        """Ends what is not worth its time any more."""
        for claim in self._queue.running:
            if self._is_settled(claim):
                self._cancel(self._queue.remove(claim))
                self._known.pop(claim, None)

    def _next_attempt(self, claim: Claim) -> None:
        """Has a function asked about from the entries, after what waits: cheap questions come first, and several of these can be
        asked at once."""
        whole = self._known.get(claim._replace(whole=True))
        if whole is not None and whole.decided is not None:
            return  # a proof of an earlier revision was tried first
        self._queue.add(claim._replace(whole=True))

    def _leave(self) -> None:
        """Leaves what is not answered."""
        left = self._queue.claims
        self._left.update(dict.fromkeys(left, self._budget.why_left))
        self._known = {claim: known for claim, known in self._known.items() if claim not in left}
        self._cancel(self._queue.clear())

    def _cancel(self, tickets: Iterable[int]) -> None:
        for ticket in tickets:
            self._pool.cancel(ticket)

    def is_asked(self, function: str, rule: str) -> bool:
        """Whether an answer is to come that may prove a rule of a function, by itself or in the program."""
        return any(claim.function in ("", function) and claim.rule in ("", rule) for claim in self._queue.claims)

    def _is_settled(self, claim: Claim) -> bool:
        """Whether others have answered what a claim asks. A proof of the program says nothing of
        functions that no entry leads to. A function in which a run violates a rule is not proved."""
        if self._program is None:
            return False
        answers = self.program_answers(self._program)
        seen = answers.proved.keys() | {run.rule for run in answers.runs}
        match claim.kind:
            case "runs":
                return seen.issuperset(self._wanted.rules)
            case "program":
                return claim.rule in seen
        if (claim.function, claim.rule) in answers.violated:
            return True
        lasts = claim.whole or self._budget.is_awaited  # a proof of a function alone outlives an edit elsewhere
        if lasts and claim.rule in answers.proved and claim.function in answers.reached:
            return True
        return claim.kind == "function" and not claim.whole and self._is_proved(claim._replace(whole=True))

    def _is_proved(self, claim: Claim) -> bool:
        known = self._known.get(claim)
        return known is not None and known.decided is not None and known.decided.status == "refuted"

    def take(self, outcome: Outcome) -> bool:
        """Takes in an outcome; False if it is of no claim."""
        claim = self._queue.asked(outcome.ticket)
        if claim is None:
            return False
        known = self._known[claim]
        if outcome.end:
            decided = Decided("possible", final=False, reason=reason_of(outcome, limit_of(claim, self._options)))
        else:
            decided = self._texts.take(claim, terms_of(self._options), outcome.answer, known.key)
        self.queries, self.states = self.queries + decided.queries, self.states + decided.states
        self.summaries, self.reuse = self.summaries.plus(decided.summaries), self.reuse.plus(decided.reuse)
        self.spent += outcome.ms
        if known.at_once and not decided.final:
            self._postpone(claim, decided.broken)
            return True
        if not decided.broken and decided.status == "possible":
            decided = msgspec.structs.replace(decided, broken=self._earlier.broken(claim))
        self._answered(Answered(claim, decided, outcome.ms, outcome.worked if outcome.end else decided.worked))
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
        self._cancel(self._queue.clear())
        self.pool_closed()
        self._texts.forget()
        self._known, self._program = {}, None

    def pool_closed(self) -> None:
        """The pool was closed: nothing runs any more."""
        self._queue.clear()
        self._parts = self._compared = None

    def give_up(self, reason: str) -> None:
        """The pool was closed: what is not answered stays open, for this reason."""
        self._given_up = reason
        self._left.update(dict.fromkeys(self._queue.claims, reason))
        self.pool_closed()

    def _difference(self, program: Program) -> ProgramDifference:
        if self._compared is None or self._compared[0] is not program:
            self._compared = program, ProgramDifference(self._program, program)
        return self._compared[1]

    def _question(self, claim: Claim, program: Program) -> Question | None:
        """The question of a claim; None if nothing could come of it."""
        if self._parts is None:
            parts = ClaimParts(
                program,
                self._entries,
                self._contents,
                uncut=self._options.certificates,
                understood=self._understood,
                however_large=self._options.engine == BOUNDED,
            )
            self._reached, self._elsewhere = parts.reached, parts.elsewhere
            self._parts = parts  # the last one: this may be ended from outside before, and then begins again
        part = self._parts.of(claim, self._known)
        if part is None:
            return None
        rules = self._wanted.rules if claim.kind == "runs" else (claim.rule,)
        kind: Kind = "values" if claim.kind == "function" and self._wanted.by_contracts else claim.kind
        about, terms = About(kind, rules, claim.function or None), terms_of(self._options)
        of = None if self._budget.is_awaited else program  # else what looks alike and is kept depends on who is faster
        return Question(part, about, claim.whole, terms, work_of(claim, self._budget.each), self._texts.of(claim, terms, of))
