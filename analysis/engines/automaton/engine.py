"""The automaton engine: rules over a program, to findings, verdicts per function and readable summaries."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Literal

import msgspec

from analysis.cfa.function_values import with_values
from analysis.cfa.graph import Cfa, Places, Program
from analysis.cfa.linking.obstructed import without_obstacles
from analysis.cfa.open_functions import with_outside_calls
from analysis.engines.automaton.facts.facts import FactTable
from analysis.engines.automaton.facts.product import ProgramDelta
from analysis.engines.automaton.feasibility.kept_searches import Differences
from analysis.engines.automaton.functions.world import compare
from analysis.engines.automaton.report.answers import Answers
from analysis.engines.automaton.report.earlier_revisions import Revision, Step
from analysis.engines.automaton.report.findings import Findings
from analysis.engines.automaton.report.suspicions import Error, Suspicion
from analysis.engines.automaton.report.trace import Taken
from analysis.engines.automaton.revision.program_change import revise
from analysis.engines.automaton.revision.reasons import Reasons, add_reasons, from_scratch, from_scratch_as_small
from analysis.engines.automaton.revision.rule_change import revise_rules, slots_for
from analysis.engines.automaton.solver.changes import Repaired
from analysis.engines.automaton.solver.full import DerivationGraph, Full
from analysis.engines.automaton.solver.incr_back import incr_back
from analysis.engines.automaton.solver.incr_fwd import incr_fwd
from analysis.engines.automaton.solver.packed import Unpacked, pack_graph, unpack_graph
from analysis.engines.automaton.solver.retrace import Retrace
from analysis.model.collecting import without_collecting
from analysis.model.interruption import in_steps
from analysis.model.limits import Limits
from analysis.model.report import Count, Finding, Message, RuleVerdict, Work
from analysis.model.spelling import display_name
from analysis.rules.automaton import Rule
from analysis.store.packing import PackingError

Algorithm = Literal["full", "incr-fwd", "incr-back"]
_NOTHING_KNOWN = "nothing was known"
_TOO_MANY = "the check reached the limit `configurations`"
_OTHER_ENTRIES = "the program is small, and other functions are its entries"
_OTHER_WORLD = "the program is small, or was, and more than bodies of functions differs"
_ROOM = 20_000  # facts and configurations, beside a quarter of those that there are after a run from scratch
_Said = tuple[dict[str, dict[str, RuleVerdict]], dict[str, tuple[str, ...]]]


class AutomatonResult(msgspec.Struct, frozen=True):
    """The engine's answer. `verdicts`, `summaries` and `rechecked` (why, and because of which function) are by linkage name; `ms`
    is the engine's time in milliseconds. `settled` False: what is said of functions other than those edited may be of before."""

    findings: tuple[Finding, ...]
    verdicts: dict[str, dict[str, RuleVerdict]]
    summaries: dict[str, tuple[str, ...]]
    work: Work
    ms: float
    messages: tuple[Message, ...]
    rechecked: Reasons = {}
    settled: bool = True


class Analysis:
    """The engine on one program, from revision to revision; keeps the derivation graph and the paths that were found.

    `program` is the present revision. The graph and `delta` are about another version of it, in two respects. Its calls through
    pointers reach what flows there (`cfa.function_values`). And it has no obstacles at entries of functions
    (`cfa.linking.obstructed`): one key that is typed outside of all functions can add or remove these everywhere, and the graph
    does not depend on them. Reports and questions about functions are about `program`.
    """

    def __init__(self, program: Program, rules: tuple[Rule, ...], limits: Limits, jobs: int = 1) -> None:
        self.rules = self._asked = rules
        self._limits = limits
        self.facts = FactTable()
        self.program = program
        self.delta = ProgramDelta(with_values(without_obstacles(program)), rules, self.facts, limits.global_edges)
        self.graph = DerivationGraph()
        self._findings = Findings(rules, limits.trace_steps, jobs)
        self._repaired: Repaired | None = None
        self._by_rules: Repaired | None = None  # what was repaired before that, because rules changed
        self._rechecked: Reasons = {}
        self._said: _Said | None = None
        self._said_before: _Said = ({}, {})
        self._retrace = Retrace(self.graph)
        self._answers = Answers(rules, self.facts, rules)
        self._entries: tuple[str, ...] = ()
        self._most = 0
        self.refusal = ""  # why the last `revise` was refused

    def run(self, entries: Sequence[str], before: Mapping[str, Cfa] | None = None) -> None:
        """Full from scratch, from the entry functions. `before`: the functions of the revision before, where it is only because
        the program is small that it is not gone on from."""
        self._entries = with_outside_calls(entries, self.delta.program)
        self.graph = Full(self.delta, self._room).analyse(self.delta.initial(self._entries))
        self._retrace = Retrace(self.graph)
        self._rechecked = from_scratch(self.program) if before is None else from_scratch_as_small(self.delta.program, before)
        self._most = _ROOM + 5 * self._size() // 4

    @property
    def _room(self) -> int:
        """How many configurations the graph can have."""
        return self._limits.configurations_of(self.delta.program.edges)

    def messages(self) -> tuple[Message, ...]:
        """What is to be said of the exploration as a whole."""
        first = next((name for name in self.program.functions if name in self.graph.cut_off), "")
        if not first:
            return ()
        others = len(self.graph.cut_off) - 1
        are = f" and {others:,} other function{'s' * (others > 1)} were" if others else " was"
        limit = f"the limit `configurations` ({self._room:,}) was reached"
        said = f"{display_name(first)}(){are} not checked to the end: {limit}. Findings can be missing."
        return (Message("warning", "", said),)

    def _size(self) -> int:
        """What revisions add to and take nothing from: facts, and configurations in entry states that nothing leads to any more.
        Too much of it is a reason to begin anew."""
        return len(self.facts) + self.graph.configurations

    def revise(
        self, program: Program, entries: Sequence[str], algorithm: Algorithm, rules: tuple[Rule, ...] | None = None
    ) -> bool:
        """Repairs the graph for the next revision, if need be under other `rules`; False if the change asks for a run from
        scratch, with a new `Analysis`."""
        self.refusal = self._refusal(algorithm)
        if self.refusal:
            return False
        self._by_rules = None
        if rules is not None and rules != self._asked:
            self._by_rules = self._revise_rules(rules, algorithm)
            if self._by_rules is None:
                self.refusal = "the rules are others"
                return False
        plain = with_values(without_obstacles(program), self.delta.program)
        entries = with_outside_calls(entries, plain)
        before = Revision(self.delta.program, self._entries)
        same_entries, self._entries = self._entries == entries, entries
        if not same_entries and self.delta.thorough:
            self.refusal = _OTHER_ENTRIES
            return False
        obstructed = _obstructed_otherwise(self.program, program)
        self.program = program
        if same_entries and _is_same(self.delta.program, plain):
            self._repaired = Repaired(configurations_reused=self.graph.configurations, derivations_reused=self.graph.derivations)
            if obstructed:
                self._findings.changed(Differences(frozenset(), {}), obstructed, Step(before, before))
                self._answers.changed(obstructed)
            return True
        revised = revise(self.delta, plain, self.graph, entries, self._limits.global_edges)
        if revised is None:
            self.refusal = _OTHER_WORLD
            return False
        old, self.delta = self.delta.program.functions, revised.delta
        repair = incr_back if algorithm == "incr-back" else incr_fwd
        self._repaired = repair(self.delta, self.graph, revised.changes, self._room)
        add_reasons(self._rechecked, old, plain, revised.touched, self._repaired)
        done = self._repaired
        texts = obstructed.union(name for name in revised.touched if plain.functions[name] is not old.get(name))
        differ = (revised.remodelled | revised.gone).union(*((done.changed, done.checked) if self.delta.thorough else ()))
        rederived = done.changed | self._retrace.revise(done)  # no path may begin any more in the latter, or lead through
        differences = Differences(differ, revised.rewritten, done.recalled, rederived, revised.partly)
        self._findings.changed(differences, texts, Step(before, Revision(plain, entries)))
        self._answers.changed(revised.touched | done.changed | obstructed)
        self.refusal = "" if self.graph.complete else _TOO_MANY
        return self.graph.complete

    def _refusal(self, algorithm: Algorithm) -> str:
        if algorithm == "full":
            return "the algorithm is full"
        if not self.graph.complete:
            return _TOO_MANY
        return "too much was left over from what the program was before" if self._size() > self._most else ""

    def _revise_rules(self, rules: tuple[Rule, ...], algorithm: Algorithm) -> Repaired | None:
        """Repairs the graph for other rules over the same program; in facts they keep their numbers. None as with `revise`."""
        slots = slots_for(self.rules, rules)
        revised = revise_rules(self.delta, slots, self.graph, self._entries)
        if revised is None:
            return None
        self.delta, self.rules, self._asked = revised.delta, slots, rules
        repair = incr_back if algorithm == "incr-back" else incr_fwd
        repaired = repair(self.delta, self.graph, revised.changes, self._room)
        add_reasons(self._rechecked, self.delta.program.functions, self.delta.program, frozenset(), repaired)
        self._rechecked.update(dict.fromkeys(revised.touched, ("rule", "")))
        differ = revised.touched | repaired.changed | self._retrace.revise(repaired)
        self._findings.other_rules(slots, revised.slots, differ, repaired.recalled)
        self._answers, self._said = Answers(slots, self.facts, rules), None
        return repaired if self.graph.complete else None

    def take_rechecked(self) -> Reasons:
        """The functions that were looked at again since this was last asked, and why."""
        rechecked, self._rechecked = self._rechecked, {}
        return rechecked

    def findings(self, places: Places, patient: bool = True) -> tuple[Finding, ...]:
        """The findings of the present revision (see `Findings.find`)."""
        patient = patient or self.delta.thorough  # small programs take no time, and their paths go through everything
        before = self._findings.violated
        try:
            return self._findings.find(self.graph, self.delta, self._retrace, places, patient)
        finally:  # also where it is ended from outside: what was chosen before stays chosen
            if self._findings.violated is not before:
                self._said = None

    def refute(self, errors: frozenset[Error]) -> None:
        """Leaves out errors that another engine has refuted (see `Findings.refute`)."""
        self._findings.refute(errors)

    def functions_of(self, error: Error) -> frozenset[str]:
        """See `Findings.functions_of`."""
        return self._findings.functions_of(error)

    @property
    def refuted(self) -> frozenset[Error]:
        """The errors that are left out."""
        return self._findings.refuted

    def errors(self) -> dict[str, Error]:
        """What the last findings are about, by fingerprint."""
        return self._findings.errors()

    def shown(self) -> dict[str, list[Taken]]:
        """The paths that the traces of the last findings are made of, by fingerprint."""
        return self._findings.shown()

    def suspicions(self) -> tuple[Suspicion, ...]:
        """Returns the questions about the last findings."""
        return self._findings.suspicions(self.program, self.facts)

    @property
    def settled(self) -> bool:
        """Whether the last findings were final."""
        return self._findings.settled

    def said(self, ms: float) -> _Said:
        """What is known of each function for each rule, and its entry/exit pairs in words if it is reached, after `findings`; the
        very same as in the revision before, if it is the same of all. `ms` is the time that it took, where it is not known."""
        if self._said is None:
            found, answers = self._findings, self._answers
            states = self._retrace.entered()
            answers.changed(self._retrace.take_otherwise())
            verdicts = answers.verdicts(self.program, self.graph, states, found.violated, found.undecided, ms)
            said = verdicts, answers.summaries(self.graph, states)
            before = self._said_before
            same = _is_same_of_all(said[0], before[0]) and _is_same_of_all(said[1], before[1])
            self._said = self._said_before = before if same else said
        return self._said

    def work(self) -> Work:
        """What was computed for this revision, and what was taken over."""
        if self._repaired is None:
            return Work(configurations=Count(0, self.graph.configurations), derivations=Count(0, self.graph.derivations))
        done, first = self._repaired, self._by_rules or Repaired()
        configurations = min(first.configurations_added, done.configurations_reused)
        derivations = min(first.derivations_added, done.derivations_reused)
        return Work(
            configurations=Count(done.configurations_reused - configurations, done.configurations_added + configurations),
            derivations=Count(done.derivations_reused - derivations, done.derivations_added + derivations),
        )

    def packed(self) -> bytes | None:
        """What `resume` needs in another process; None where a run from scratch is all that can follow."""
        can_resume = self.graph.complete and self.rules == self._asked  # else another process would number the rules otherwise
        return pack_graph(self.graph, self.facts, self._findings.error_paths.known) if can_resume else None

    def resume(self, known: Unpacked, entries: Sequence[str]) -> None:
        """Takes over a graph of this program. Only the next revision can be asked for: nothing was rechecked, or computed."""
        self._entries = with_outside_calls(entries, self.delta.program)
        for fact in known.facts:
            self.facts.number(fact)
        if len(self.facts) != len(known.facts):
            raise PackingError("the facts have other numbers")
        self.graph, paths = known.graph, self._findings.error_paths
        if known.graph.stale:
            paths.in_question = known.error_paths  # from then on, it is known which entry states they rest on
        else:
            paths.known = known.error_paths
        self._retrace = Retrace(self.graph)
        self._most = _ROOM + 5 * self._size() // 4


def _is_same_of_all(one: Mapping[str, object], other: Mapping[str, object]) -> bool:
    return one.keys() == other.keys() and all(other[name] is said for name, said in one.items())


def _still_refuted(before: Analysis, program: Program) -> frozenset[Error]:
    """What was refuted in functions that are the same in the next revision."""
    old, new = before.program.functions, program.functions
    same = {name for name, cfa in new.items() if cfa is old.get(name)}
    return frozenset(error for error in before.refuted if before.functions_of(error) <= same)


def _obstructed_otherwise(old: Program, new: Program) -> frozenset[str]:
    """The functions that differ in nothing but the obstacle at their entry."""
    both = ((name, old.functions[name], cfa) for name, cfa in new.functions.items() if name in old.functions)
    return frozenset(name for name, one, cfa in both if one is not cfa and (one.unobstructed or one) is (cfa.unobstructed or cfa))


def _is_same(old: Program, new: Program) -> bool:
    """Whether two revisions have the same functions, the very same, and nothing else differs."""
    if old is new:
        return True
    same = old.functions.keys() == new.functions.keys() and all(cfa is old.functions[n] for n, cfa in new.functions.items())
    return same and not compare(old, new)


def analyse(analysis: Analysis, places: Places, began: float, patient: bool = True) -> AutomatonResult:
    """The answers for the present revision; `began` is when work on it did (time.perf_counter)."""
    findings = analysis.findings(places, patient)
    ms = (time.perf_counter() - began) * 1000
    verdicts, summaries = analysis.said(ms)
    work, messages, rechecked = analysis.work(), analysis.messages(), analysis.take_rechecked()
    return AutomatonResult(findings, verdicts, summaries, work, ms, messages, rechecked, analysis.settled)


class Engine:
    """Checks one revision of a program after the other; what a revision leaves unchanged is not computed again."""

    def __init__(self, algorithm: Algorithm = "incr-back", jobs: int = 1) -> None:
        self._algorithm = algorithm
        self._jobs = jobs
        self._analysis: Analysis | None = None
        self._limits = Limits()
        self.scratch: str | None = None
        """Why the last check began from nothing; None if it went on from the one before."""

    def forget(self) -> None:
        """The next check is from scratch."""
        self._analysis = None

    @property
    def analysis(self) -> Analysis | None:
        """What is known of the program checked last, to look at."""
        return self._analysis

    def packed(self) -> bytes | None:
        """What `resume` needs in another process, None if there is nothing."""
        if self._analysis is None:
            return None
        with without_collecting():
            return self._analysis.packed()

    def resume(self, program: Program, rules: tuple[Rule, ...], entries: Sequence[str], limits: Limits, data: bytes) -> bool:
        """Goes on from what another process knew of this program, rules and entries; False if it cannot be understood."""
        with without_collecting():
            try:
                analysis = Analysis(program, rules, limits, self._jobs)
                functions = analysis.delta.program.functions
                known = unpack_graph(data, lambda name, edge: functions[name].by_id[edge])
                analysis.resume(known, entries)
            except PackingError:
                return False
        self._analysis, self._limits = analysis, limits
        return True

    def check(
        self,
        program: Program,
        rules: tuple[Rule, ...],
        entries: Sequence[str],
        limits: Limits,
        places: Places,
        interruptible: AbstractContextManager[None],
        patient: bool = True,
    ) -> AutomatonResult:
        """Checks a program against rules. What enters `interruptible` may be ended by an exception from outside: only what leaves
        nothing half done, so not a repair; and what keeps a part of the answers only between its steps. `patient=False` returns a
        preliminary report; the next call returns the rest."""
        began = time.perf_counter()
        with without_collecting():
            analysis = self._revised(program, rules, entries, limits, interruptible)
            with interruptible, in_steps():
                return analyse(analysis, places, began, patient)

    def again(self, places: Places, interruptible: AbstractContextManager[None]) -> AutomatonResult:
        """The answers for the program checked last, after something was refuted (`Analysis.refute`). ValueError if there is no
        such program."""
        if self._analysis is None:
            raise ValueError("no program was checked")
        with without_collecting(), interruptible, in_steps():
            return analyse(self._analysis, places, time.perf_counter())

    def _revised(
        self,
        program: Program,
        rules: tuple[Rule, ...],
        entries: Sequence[str],
        limits: Limits,
        interruptible: AbstractContextManager[None],
    ) -> Analysis:
        before, self._analysis = self._analysis, None
        refuted = frozenset[Error]()
        if before is not None and (rules, limits) == (before.rules, self._limits):
            refuted = _still_refuted(before, program)
        if before is None or limits != self._limits or not before.revise(program, entries, self._algorithm, rules):
            self.scratch = _NOTHING_KNOWN if before is None else before.refusal or "the limits are others"
            small = before is not None and before.refusal in (_OTHER_ENTRIES, _OTHER_WORLD) and before.delta.thorough
            functions = before.delta.program.functions if before is not None and small else None
            before = None  # freed before its successor is made
            with interruptible:
                before = Analysis(program, rules, limits, self._jobs)
                before.run(entries, functions)
                before.refute(refuted)
        else:
            self.scratch = None
        self._analysis, self._limits = before, limits
        return before
