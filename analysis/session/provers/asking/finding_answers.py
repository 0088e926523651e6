"""Has the findings of one program decided, revision by revision.

Each possible finding is a question; a question is a task until it is answered. What the next revision asks as well goes on or
stays answered, whatever else was edited; what it does not ask is cancelled. An answer that may not be kept (others had the
processor meanwhile) counts as long as the question is asked.

Some answers also hold for other questions. A run that confirmed a finding is a run of every program that has the same functions
on it. A finding that was refuted stays away until it is decided again, as long as its statement is there: otherwise it would come
and go with each key. Nothing is proved by that: its function is not safe because of it. And what was left open in a large program
is not tried again before one of the functions changes that the prover went through.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping, Sequence
from typing import NamedTuple

import msgspec

from analysis.cfa.graph import Cfa, Program
from analysis.cfa.open_functions import entered_elsewhere, is_main
from analysis.cpa.obstacles.completeness import reachable
from analysis.engines.automaton.report.suspicions import Error, Suspicion
from analysis.model.budgets import budget_of
from analysis.model.options import Options
from analysis.session.portfolio.turns import TURNS
from analysis.session.provers.asking.answer import PARTLY_PARSED, Decided
from analysis.session.provers.asking.kept_answers import Decisions
from analysis.session.provers.asking.program_answers import Run
from analysis.session.provers.asking.program_slices import Contents, Slicer
from analysis.session.provers.asking.question import Question, finding_question, key_of, task_budget
from analysis.session.provers.processes.task_outcome import Budget, Outcome, had_the_processor, reason_of
from analysis.session.provers.processes.task_pool import TaskPool

_BY_ANOTHER_CALL = "the run that was found violates the rule at another call"


class Effort(msgspec.Struct, frozen=True):
    """What provers did: tasks, milliseconds (of all of them together), questions to the solver, and abstract states; `reused` are
    the states of decisions that were known already."""

    tasks: int = 0
    ms: float = 0.0
    queries: int = 0
    states: int = 0
    reused: int = 0


class _Asked:
    """A question of the present revision. `decided` is what holds of it now, `pending` whether a prover has still to say it.
    `seconds` is for how long it is asked. `run` are the functions that a confirming run goes through, `content` the digest of all
    that they mention; `looked` those that were gone through in vain."""

    def __init__(self, suspicion: Suspicion, key: str, seconds: float) -> None:
        self.suspicion = suspicion
        self.key = key
        self.seconds = seconds
        self.pending = True
        self.decided: Decided | None = None
        self.run: dict[str, Cfa] = {}
        self.content: str | None = None
        self.looked: dict[str, Cfa] = {}


class Plan(NamedTuple):
    """What is to be asked, by error; without a slicer there is nothing to ask."""

    slicer: Slicer | None
    wanted: dict[Error, Suspicion]
    questions: dict[Error, Question]
    keys: dict[Error, str]


class Proving:
    """The questions about one program, to the provers of a pool."""

    def __init__(self, pool: TaskPool, decisions: Decisions, contents: Contents) -> None:
        self._pool, self._decisions, self._contents = pool, decisions, contents
        self._slicer: Slicer | None = None
        self._asked: dict[Error, _Asked] = {}
        self._tickets: dict[int, str] = {}
        self._budget = Budget()
        self._given_up: str | None = None
        self._understood = True
        self.effort = Effort()

    @property
    def open(self) -> int:
        """How many tasks have not ended."""
        return len(self._tickets)

    @property
    def progress(self) -> tuple[int, int]:
        """How many questions are answered, and how many there are."""
        return sum(not asked.pending for asked in self._asked.values()), len(self._asked)

    @property
    def refuted(self) -> frozenset[Error]:
        """What cannot happen."""
        return frozenset(error for error, asked in self._asked.items() if asked.decided and asked.decided.status == "refuted")

    @property
    def refuted_findings(self) -> tuple[str, ...]:
        """The fingerprints of what cannot happen, as they were when it was asked about."""
        known = (a for a in self._asked.values() if a.decided is not None and a.decided.status == "refuted")
        return tuple(sorted({asked.suspicion.fingerprint for asked in known}))

    @property
    def refuted_under(self) -> tuple[str, ...]:
        """The assumptions under which all of it was refuted."""
        known = [a.decided for a in self._asked.values() if a.decided is not None and a.decided.status == "refuted"]
        return tuple(sorted({assumption for decided in known for assumption in decided.assumptions}))

    @property
    def is_final(self) -> bool:
        """Whether everything is decided, and for good."""
        return all(a.decided is not None and a.decided.holds(a.seconds) and not a.pending for a in self._asked.values())

    @property
    def keys(self) -> frozenset[str]:
        """The keys of what is asked."""
        return frozenset(asked.key for asked in self._asked.values() if asked.key)

    @property
    def certificates(self) -> list[str]:
        """The texts of certificates that findings were refuted by."""
        return [text for asked in self._asked.values() if asked.decided is not None for text in asked.decided.certificates]

    def begin(self) -> None:
        """A new check: what provers do is counted from here."""
        self.effort, self._given_up = Effort(), None

    def decision(self, error: Error, program: Program) -> Decided | None:
        """What is known of a finding, whatever revision the program is of."""
        asked = self._asked.get(error)
        if asked is None or any(program.functions.get(name) is not cfa for name, cfa in asked.run.items()):
            return None
        return asked.decided

    def plan(
        self,
        program: Program,
        entries: Sequence[str],
        suspicions: Sequence[Suspicion],
        refuted: frozenset[Error],
        options: Options,
        shipped: Collection[str] | None = None,
    ) -> Plan:
        """What is to be asked: about these, and again about what was refuted. In a program with `main`, nothing is asked of
        functions that only others can call: no run of the program confirms a finding there. `shipped`: see `finding_question`.
        May be ended from outside without harm."""
        others = frozenset[str]() if options.entries else _only_others_call(program, entries)
        wanted = {one.error: one for one in suspicions if one.function not in others}
        for error, asked in self._asked.items():
            if error in refuted and _is_there(error, program):
                wanted.setdefault(error, asked.suspicion)
        slicer = Slicer(program, entries, self._contents, uncut=options.certificates) if wanted else None
        seconds = budget_of(options.budget, options.limits).of_findings(len(wanted))
        questions = {
            error: finding_question(suspicion, slicer.slice(suspicion.function), options, seconds, shipped)
            for error, suspicion in wanted.items()
            if slicer
        }
        keys = {error: key_of(question) for error, question in questions.items()}
        return Plan(slicer, wanted, questions, keys)

    def ask(self, plan: Plan, options: Options, rank: Callable[[str], int], *, understood: bool) -> None:
        """Asks what is planned, as far as it is not known or under way; cancels everything else. `rank` says of functions which
        come first, the lowest ones. `understood`: all of the program's text parses; else nothing is refuted that was not before,
        because the rest could lead there."""
        self._understood = understood
        budget = budget_of(options.budget, options.limits)
        self._budget = task_budget(budget, budget.of_findings(len(plan.wanted)), options.limits)
        known = self._decisions.get(plan.keys.values())
        found = {
            e: self._carried(_Asked(plan.wanted[e], key, plan.questions[e].seconds), plan.slicer, known.get(key))
            for e, key in plan.keys.items()
            if plan.slicer
        }
        if not TURNS["finding"][options.engine]:
            found = {error: _not_asked(asked.suspicion) for error, asked in found.items()}
        self._slicer, self._asked = plan.slicer, found
        self._cancel()
        self._submit(plan.questions, rank)

    def _carried(self, asked: _Asked, slicer: Slicer, known: Decided | None) -> _Asked:
        """The question with what is known of it already."""
        before, key = self._asked.get(asked.suspicion.error), asked.key
        is_withheld = before is not None and before.decided is not None and before.decided.reason == PARTLY_PARSED
        if before is not None and before.key == key and not is_withheld:
            asked.decided, asked.pending = before.decided, before.pending
            asked.run, asked.content, asked.looked = before.run, before.content, before.looked
        elif known is not None and known.holds(asked.seconds):
            self._decide(asked, known, slicer)
            self.effort = msgspec.structs.replace(self.effort, reused=self.effort.reused + known.states)
        elif before is not None and before.decided is not None:
            if before.decided.status == "confirmed" and slicer.digest(before.run) == before.content:
                self._decide(asked, before.decided, slicer)
                self._decisions.add(key, before.decided)
            elif before.decided.status == "refuted":
                asked.decided = before.decided
            elif before.looked and all(slicer.program.functions.get(name) is cfa for name, cfa in before.looked.items()):
                asked.decided, asked.pending, asked.looked = before.decided, False, before.looked
        return asked

    def _decide(self, asked: _Asked, decided: Decided, slicer: Slicer | None) -> None:
        if decided.status == "refuted" and not self._understood:
            decided = Decided("possible", reason=PARTLY_PARSED)
        if decided.status == "confirmed" and not _makes_the_call(decided, asked.suspicion):
            decided = Decided("possible", reason=_BY_ANOTHER_CALL)
        asked.decided, asked.pending = decided, False
        names = {step.function for step in decided.steps}
        if slicer is not None and names:
            asked.run = {name: slicer.program.functions[name] for name in names}
            asked.content = slicer.digest(names)
        if slicer is not None:
            functions = slicer.program.functions
            asked.looked = {name: functions[name] for name in decided.looked if name in functions}

    def settle(
        self,
        proved: Mapping[str, Decided],
        reached: Container[str],
        runs: Sequence[Run],
        reasons: Mapping[str, str],
        refuted: Mapping[tuple[str, int, str], Decided],
    ) -> None:
        """Takes over what is known of the program as a whole: what no run violates cannot happen in the functions that only these
        runs reach, and a run that was seen to end at a finding confirms it. `reasons` say why other rules are open; they count
        where nobody is asked about findings. `refuted`: what cannot happen, by function, edge and rule."""
        if self._slicer is None:
            return
        functions, changed = self._slicer.program.functions, False
        for (name, fact), asked in self._asked.items():
            found = proved.get(asked.suspicion.rule) if name in reached else None
            if found is None:
                found = _refuted(refuted, asked.suspicion)
            if found is None:
                ends = (run.decided for run in runs if run.rule == asked.suspicion.rule)
                found = next((run for run in ends if _is_at(run, name, fact.edge, functions)), None)
            if found is None and not asked.key and asked.suspicion.rule in reasons:
                found = Decided("possible", reason=reasons[asked.suspicion.rule])
            if found is not None and found is not asked.decided and _prevails(found, asked.decided):
                self._decide(asked, found, self._slicer)
                changed = True
        if changed:
            self._cancel()

    def _cancel(self) -> None:
        """Cancels what is not asked any more."""
        keys = {asked.key for asked in self._asked.values() if asked.pending}
        for ticket, key in list(self._tickets.items()):
            if key not in keys:
                self._pool.cancel(ticket)
                del self._tickets[ticket]

    def _submit(self, questions: dict[Error, Question], rank: Callable[[str], int]) -> None:
        if self._given_up is not None:
            self._leave(self._given_up)
        running = set(self._tickets.values())
        for error, asked in self._asked.items():
            if asked.pending and asked.key not in running:
                running.add(asked.key)
                ticket = self._pool.submit(questions[error], self._budget, rank(asked.suspicion.function))
                self._tickets[ticket] = asked.key

    def take(self, outcome: Outcome) -> bool:
        """Takes in what a prover has said; False if it is of no question that is asked (any more)."""
        key = self._tickets.pop(outcome.ticket, None)
        if key is not None:
            self._take(key, outcome)
        return key is not None

    def _take(self, key: str, outcome: Outcome) -> None:
        if outcome.end:
            had = outcome.end == "time" and had_the_processor(outcome.worked, outcome.ms / 1000)
            tried = self._budget.seconds if had else 0.0
            decided = Decided("possible", final=False, tried=tried, reason=reason_of(outcome, self._budget))
        else:
            decided = outcome.answer
        self._decisions.add(key, decided)
        done = self.effort
        self.effort = Effort(
            done.tasks + 1, done.ms + outcome.ms, done.queries + decided.queries, done.states + decided.states, done.reused
        )
        for asked in self._asked.values():
            if asked.key == key:
                self._decide(asked, decided, self._slicer)

    def give_up(self, reason: str) -> None:
        """The pool was closed, and no task is begun until the next check: what is not decided stays possible, for this reason."""
        self.pool_closed()
        self._given_up = reason
        self._leave(reason)

    def _leave(self, reason: str) -> None:
        for asked in self._asked.values():
            if asked.pending:
                asked.decided, asked.pending = Decided("possible", final=False, reason=reason), False

    def forget(self) -> None:
        """Cancels everything, and drops what is known."""
        for ticket in self._tickets:
            self._pool.cancel(ticket)
        self._asked, self._tickets, self._slicer = {}, {}, None

    def pool_closed(self) -> None:
        """The pool was closed: nothing is done any more."""
        self._tickets = {}


def _prevails(found: Decided, known: Decided | None) -> bool:
    """Whether what is known of the program as a whole counts, and not what is known of a finding by itself: always but against a
    run, so that it does not matter which of the two was faster."""
    return known is None or known.status != "confirmed" or found.status == "confirmed"


def _refuted(refuted: Mapping[tuple[str, int, str], Decided], suspicion: Suspicion) -> Decided | None:
    """What refutes a finding: it refutes it at its edge, and where its pointer is moved before."""
    places = ((suspicion.function, suspicion.edge), *suspicion.moves)
    found = [refuted.get((function, edge, suspicion.rule)) for function, edge in places]
    return found[0] if all(one is not None for one in found) else None


def _not_asked(suspicion: Suspicion) -> _Asked:
    """A finding that nobody is asked about: what is known of the whole program decides it."""
    asked = _Asked(suspicion, "", 0.0)
    asked.pending = False
    asked.decided = Decided("possible", final=False, reason="nothing is known of the whole program")
    return asked


def _only_others_call(program: Program, entries: Sequence[str]) -> frozenset[str]:
    """The functions to which other entries than a `main` lead, and no `main`; none if there is no `main`."""
    mains = tuple(filter(is_main, entries))
    return entered_elsewhere(program).difference(reachable(program, mains)) if mains else frozenset()


def _is_there(error: Error, program: Program) -> bool:
    name, fact = error
    return name in program.functions and fact.edge in program.functions[name].by_id


def _makes_the_call(run: Decided, suspicion: Suspicion) -> bool:
    """Whether a run to where the violation happens makes the call that the finding is about, if it is about one: others may lead
    there, too."""
    function, fact = suspicion.error
    if (function, fact.edge) == (suspicion.function, suspicion.edge):
        return True
    return any((step.function, step.edge) == (function, fact.edge) for step in run.steps)


def _is_at(run: Decided, function: str, edge: int, functions: Mapping[str, Cfa]) -> bool:
    """Whether a run ends at an edge; of a branch, either edge violates with its condition."""
    last = run.steps[-1]
    if last.function != function or function not in functions:
        return False
    by_id = functions[function].by_id
    return last.edge in by_id and edge in by_id and by_id[last.edge].source == by_id[edge].source
