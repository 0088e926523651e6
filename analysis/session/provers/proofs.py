"""Deciding the findings of one session's last check: between the check, which knows the findings, and the provers.

Nothing here waits, but `Proofs.wait`. A refuted finding goes away, and others with the same cause that it stood for take its
place: then these are asked about, until nothing is left to ask.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager

import msgspec

from analysis.cfa.graph import Program
from analysis.cfa.linking.obstructed import MAIN
from analysis.cfa.open_functions import entered_elsewhere, is_main
from analysis.engines.automaton.report.findings import numbered
from analysis.model.options import Options
from analysis.model.report import Count, Finding, FunctionReport, Report, Times, Work
from analysis.model.spelling import display_name
from analysis.rules.automaton import Rule
from analysis.session.checking import Checked, ProgramCheck
from analysis.session.portfolio.turns import BOUNDED, BOUNDS
from analysis.session.provers.asking.answer import Decided
from analysis.session.provers.asking.claim import Key
from analysis.session.provers.asking.claim_answers import Claims
from analysis.session.provers.asking.contract_answers import ContractAnswers
from analysis.session.provers.asking.contract_refutations import refuting
from analysis.session.provers.asking.finding_answers import Proving
from analysis.session.provers.asking.kept_answers import Decisions
from analysis.session.provers.asking.program_answers import Run
from analysis.session.provers.asking.program_slices import Contents
from analysis.session.provers.broken_assumptions import without_broken
from analysis.session.provers.confirmed_findings import is_of_function, runs_beside, violated_verdict, with_decision
from analysis.session.provers.processes.prover_pool import Pool
from analysis.session.provers.processes.task_pool import TaskPool
from analysis.session.provers.proof_verdicts import ProvedFunctions
from analysis.session.provers.rechecked_proofs import RecheckedProofs
from analysis.store.database import Store

WORK = "analysis.session.provers.asking.answering:answer"
_SEEN, _UNSEEN = 1, 2

Again = Callable[[], Checked]
PoolMaker = Callable[[int, Callable[[], None]], TaskPool]
"""Makes a pool of so many provers that calls a function when something has ended."""


def local_pool(jobs: int, notify: Callable[[], None]) -> TaskPool:
    """Provers on this machine."""
    return Pool(WORK, jobs, notify)


class Proofs:
    """What provers say of a session's findings, and of its functions. `notify` is called from another thread when there is
    something to `collect`.

    `wanted`: the last check has something that nobody was asked about yet. `jobs` is how many provers there are in the pool.
    """

    def __init__(self, store: Store | None, jobs: int, notify: Callable[[], None], pool: PoolMaker = local_pool) -> None:
        self._decisions = Decisions(store)
        self._pool = pool(jobs, notify)
        self._contents = Contents()
        self._proving = Proving(self._pool, self._decisions, self._contents)
        self._contracts = ContractAnswers(self._pool, self._decisions, self._contents, jobs)
        self._claims = Claims(self._pool, self._decisions, self._contents, jobs)
        self._proved = ProvedFunctions()
        self._rechecked = RecheckedProofs()
        self._is_understood = True
        self._is_news = False
        self.wanted = False

    @property
    def open(self) -> int:
        """How many tasks have not ended."""
        return self._proving.open + self._contracts.open + self._claims.open

    @property
    def progress(self) -> tuple[int, int]:
        """How many questions are answered, and how many there are: of findings, and of what is to be proved."""
        parts = self._proving.progress, self._contracts.progress, self._claims.progress
        return sum(done for done, _ in parts), sum(all_ for _, all_ in parts)

    @property
    def is_doubted(self) -> bool:
        """Whether the last check's report has proofs that are to be checked again."""
        return self.wanted and self._rechecked.is_any

    @property
    def is_ready(self) -> bool:
        """Whether `go_on` has something to do."""
        return self._contracts.ready or self._claims.ready

    @property
    def asked(self) -> bool:
        """Whether anything was asked about the check before."""
        return bool(self._proving.keys)

    @property
    def is_final(self) -> bool:
        """Whether all that was asked is answered, so that asking again would not help."""
        return not self.wanted and self._proving.is_final and self._contracts.is_final and self._claims.is_final

    def take_news(self) -> bool:
        """Whether there was anything new about findings since this was asked last."""
        news, self._is_news = self._is_news, False
        return news

    def checked(self, wanted: bool, *, understood: bool = True) -> None:
        """There was a check; `wanted`: it is to be asked about; `understood`: all of its text parses. What provers do is counted
        from here."""
        self.wanted = self._is_news = wanted
        self._is_understood = understood
        self._proving.begin()
        self._contracts.begin()
        self._claims.begin()

    def ask(
        self,
        checked: Checked,
        check: ProgramCheck,
        asked: tuple[str, ...],
        options: Options,
        interruptible: AbstractContextManager[None],
        again: Again,
        visible: Collection[str] = (),
        shipped: Collection[str] | None = None,
        *,
        understood: bool,
    ) -> Checked:
        """Asks about the findings of a check; the check as it is with what is known. `again` makes it anew, with other findings.
        `asked` is what the program was opened by; `visible` are files, by absolute path, whose findings come before others, after
        those of functions that were edited; `shipped`: see `finding_question`;
        `understood`: see `Proving.ask`. A caller that ends this from outside asks again."""
        self._decisions.open(asked)
        asking, self.wanted = self.wanted, False
        while check.analysis is not None:
            analysis, program = check.analysis, check.analysis.program
            if asking:
                with interruptible:
                    suspicions = analysis.suspicions()
                    plan = self._proving.plan(program, check.entries, suspicions, analysis.refuted, options, shipped)
                self._proving.ask(plan, options, _Ranks(program, checked, visible), understood=understood)
            self._settle(program)
            refuted = self._proving.refuted
            if refuted == analysis.refuted:
                break
            analysis.refute(refuted)
            asking = True
            checked = _as_before(again(), checked)
        if check.analysis is not None:
            self._contents.keep(check.analysis.program)
        return checked

    def _settle(self, program: Program) -> None:
        whole = self._claims.program_answers(program)
        excluded = {rule: decided for rule, (decided, _) in (*whole.proved.items(), *whole.complete.items())}
        reached = whole.reached - entered_elsewhere(program)  # what others call can have findings that no run from main shows
        by_contracts = refuting(self._contracts.answers(program), program, reached)
        self._proving.settle(excluded, reached, whole.runs, whole.open, by_contracts)

    def claim(
        self,
        checked: Checked,
        check: ProgramCheck,
        asked: tuple[str, ...],
        options: Options,
        interruptible: AbstractContextManager[None],
        visible: Collection[str] | None,
        *,
        shipped: Collection[str],
        understood: bool,
    ) -> None:
        """Has functions of a check proved, with `go_on`: those that were edited first, then those in the visible files; None: in
        all files. `asked` is what the program was opened by; `understood`: see `Claims.ask`."""
        self._decisions.open(asked)
        if check.analysis is not None:
            program = check.analysis.program
            with interruptible:
                ranks = _Ranks(program, checked, visible or ())
                most = _UNSEEN if visible is None else _SEEN
                rank = {name: found for name in check.reports if (found := ranks(name)) <= most}
                wanted = self._proved.wanted(
                    program,
                    check.reports,
                    rank,
                    _rules(checked.functions, shipped),
                    understood=understood,
                    however_large=options.engine == BOUNDED,
                )
            entries = _mains(check.entries, options)
            by_contracts = self._contracts.ask(program, entries, shipped, options, understood=understood)
            wanted = wanted.besides_contracts() if by_contracts else wanted
            wanted = wanted if options.verdicts or options.engine == BOUNDED else wanted.for_runs()
            self._claims.ask(program, entries, wanted, options, understood=understood)

    def recheck(self, interruptible: AbstractContextManager[None]) -> bool:
        """After `claim`: has provers look whether earlier proofs still hold, and answer what took little the last time; whether
        something was known already. If this is ended from outside, call it again."""
        news = self._claims.go_on(interruptible, only_earlier=True)
        return self._contracts.go_on(interruptible, only_quick=True) or news

    def go_on(self, interruptible: AbstractContextManager[None]) -> bool:
        """Has the next functions proved; whether something was known already. If this is ended from outside, call it again."""
        news = self._contracts.go_on(interruptible)
        return self._claims.go_on(interruptible) or news

    def collect(self) -> bool:
        """Takes in what provers have said; whether that was anything."""
        news = False
        for outcome in self._pool.take():
            is_finding = self._proving.take(outcome)
            is_known = is_finding or self._contracts.take(outcome) or self._claims.take(outcome)
            self._is_news = self._is_news or is_known
            news = is_known or news
        return news

    def wait(self, seconds: float | None) -> None:
        """Waits until there is something to collect, or nothing is open, or the time is used up."""
        self._pool.wait(seconds)

    def give_up(self, reason: str) -> None:
        """Ends all tasks: what is not decided stays possible, for this reason."""
        self.collect()
        self._pool.close()
        self._proving.give_up(reason)
        self._contracts.pool_closed()
        self._claims.give_up(reason)

    def apply(
        self,
        findings: Sequence[Finding],
        functions: Sequence[FunctionReport],
        check: ProgramCheck,
        options: Options,
        rules: Sequence[Rule],
    ) -> tuple[tuple[Finding, ...], tuple[FunctionReport, ...]]:
        """The findings and functions of the last check with what provers say of them, and the findings that only they found."""
        analysis, places = check.analysis, check.places
        if options.engine == "automaton" or analysis is None or places is None:
            return tuple(findings), tuple(functions)
        errors, program = analysis.errors(), analysis.program
        decisions = {name: self._proving.decision(error, program) for name, error in errors.items()}
        limit = options.limits.trace_steps
        done = tuple(with_decision(f, decisions.get(f.fingerprint), program, places, limit) for f in findings)
        whole = self._claims.program_answers(program)
        by_name = {rule.name: rule for rule in rules}
        answers = _together(self._contracts.answers(program), self._claims.answers(program))
        runs = [*whole.runs, *(Run(rule, one) for (_, rule), (one, _) in answers.items() if one.status == "confirmed")]
        answers = {key: one for key, one in answers.items() if one[0].status != "confirmed"}
        done = numbered([*done, *runs_beside(done, decisions, runs, by_name, program, places, limit)])
        confirmed = {(f.place.path, f.function, f.rule): f for f in done if f.status == "confirmed" or is_of_function(f)}
        proved = self._proved.with_answers(functions, check.reports, answers, whole, program, places)
        proved = self._rechecked.marked(proved, check.reports, functions, self._is_asked, understood=self._is_understood)
        if not confirmed:
            return done, proved
        resting = without_broken(proved, check.reports, program, confirmed.values())
        return done, tuple(_with_confirmed(function, confirmed) for function in resting)

    def reopened(self, report: Report) -> Report:
        """A report that an earlier process has kept, before its proofs are checked again."""
        verdict = "unknown" if report.verdict == "safe" else report.verdict
        return msgspec.structs.replace(report, functions=self._rechecked.reopened(report.functions), verdict=verdict)

    def _is_asked(self, function: str, rule: str) -> bool:
        return self.wanted or self._contracts.is_asked(rule) or self._claims.is_asked(function, rule)

    @property
    def refuted(self) -> int:
        """How many findings are known not to happen."""
        return len(self._proving.refuted)

    @property
    def refuted_findings(self) -> tuple[str, ...]:
        """Their fingerprints."""
        return self._proving.refuted_findings

    @property
    def refuted_under(self) -> tuple[str, ...]:
        """The assumptions of that."""
        return self._proving.refuted_under

    def counted(self, work: Work) -> Work:
        """The work of the last check, with that of provers."""
        effort, contracts, claims = self._proving.effort, self._contracts, self._claims
        reused = effort.reused + contracts.reused + claims.reused
        made = effort.states + contracts.states + claims.states
        states = Count(work.abstract_states.reused + reused, work.abstract_states.recomputed + made)
        queries = work.solver_queries + effort.queries + claims.queries
        work = msgspec.structs.replace(work, abstract_states=states, solver_queries=queries)
        return msgspec.structs.replace(work, summaries=claims.summaries, reuse=claims.reuse)

    def timed(self, times: Times) -> Times:
        """The times of the last check, with that of provers."""
        return msgspec.structs.replace(times, prover=self._proving.effort.ms + self._contracts.spent + self._claims.spent)

    @property
    def certificates(self) -> tuple[str, ...]:
        """The texts of the certificates of all that is proved, each once."""
        return tuple(dict.fromkeys((*self._claims.certificates, *self._proving.certificates)))

    @property
    def unsaved(self) -> bool:
        """Whether `save` has something to do."""
        return not self.open and self._decisions.unsaved(self._keys)

    @property
    def _keys(self) -> frozenset[str]:
        return self._proving.keys | self._contracts.keys | self._claims.keys

    def save(self) -> None:
        """Keeps the decisions on what is asked now."""
        if self.unsaved:
            self._decisions.save(self._keys)

    def forget(self) -> None:
        """Cancels everything, and drops what is known."""
        self.wanted = False
        self._proving.forget()
        self._contracts.forget()
        self._claims.forget()
        self._contents.forget()
        self._decisions.forget()
        self._rechecked.forget()

    def close(self) -> None:
        """Ends the processes, and with them what they do. They are started again when they are needed."""
        self._pool.close()
        self._proving.pool_closed()
        self._contracts.pool_closed()
        self._claims.pool_closed()


def _together(
    by_contracts: Mapping[Key, tuple[Decided, float]], by_itself: Mapping[Key, tuple[Decided, float]]
) -> Mapping[Key, tuple[Decided, float]]:
    """What is known of functions. Where nothing is proved, contracts name the place that is not, or what callers have to keep. Of
    what bounds of integers prove, a proof with invariants that people read is shown, once it is there."""
    proved = {key: one for key, one in by_itself.items() if one[0].status == "refuted" or key not in by_contracts}
    bounded = {key for key, one in by_contracts.items() if one[0].engine == BOUNDS and proved.get(key, one)[0].invariants}
    return {**by_contracts, **{key: one for key, one in proved.items() if key in bounded or not _is_proved(by_contracts, key)}}


def _is_proved(answers: Mapping[Key, tuple[Decided, float]], key: Key) -> bool:
    return key in answers and answers[key][0].status == "refuted"


def _mains(entries: tuple[str, ...], options: Options) -> tuple[str, ...]:
    """The entries that proofs are about. Of a program with `main`, what nobody calls is not among them: findings are looked for
    there, and proofs are about runs of the program."""
    return tuple(filter(is_main, entries)) if MAIN in entries and not options.entries else entries


def _rules(functions: Sequence[FunctionReport], shipped: Collection[str]) -> list[str]:
    return sorted({rule for function in functions for rule in function.verdicts if rule in shipped})


class _Ranks:
    """Which functions come first: 0 those that were edited, 1 those in files that are seen, 2 the rest."""

    def __init__(self, program: Program, checked: Checked, visible: Collection[str]) -> None:
        self._program = program
        self._edited = {(r.function, r.path) for r in checked.rechecked if r.reason == "text"}
        self._visible = frozenset(visible)

    def __call__(self, function: str) -> int:
        """The rank of a function, by its linkage name."""
        cfa = self._program.functions.get(function)
        if cfa is None:
            return _UNSEEN
        if (display_name(function), cfa.path) in self._edited:
            return 0
        return 1 if os.path.abspath(cfa.path) in self._visible else _UNSEEN


def _as_before(again: Checked, first: Checked) -> Checked:
    """A check that was made again with other findings: the work is that of the first time."""
    return msgspec.structs.replace(
        again,
        work=first.work,
        ms=first.ms + again.ms,
        rechecked=first.rechecked,
        link_ms=first.link_ms,
        report_ms=first.report_ms,
    )


def _with_confirmed(function: FunctionReport, confirmed: dict[tuple[str, str, str], Finding]) -> FunctionReport:
    confirmed_verdicts = {
        rule: violated_verdict(verdict, finding)
        for rule, verdict in function.verdicts.items()
        if (finding := confirmed.get((function.place.path, function.name, rule))) is not None
    }
    if not confirmed_verdicts:
        return function
    return msgspec.structs.replace(function, verdicts={**function.verdicts, **confirmed_verdicts})
