"""The automaton engine: rules over a program, to findings, verdicts per function and readable summaries."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Literal

import msgspec

from analysis.cfa.graph import Places, Program
from analysis.engines.automaton.answers import Answers
from analysis.engines.automaton.changes import Repaired
from analysis.engines.automaton.delta import ProgramDelta
from analysis.engines.automaton.facts import Fact, FactTable
from analysis.engines.automaton.feasibility import Feasibility, Way
from analysis.engines.automaton.full import DerivationGraph, Full, unpack
from analysis.engines.automaton.incr_back import incr_back
from analysis.engines.automaton.incr_fwd import incr_fwd
from analysis.engines.automaton.packed import Unpacked, pack_graph, unpack_graph
from analysis.engines.automaton.parallel import search_all
from analysis.engines.automaton.reasons import Reasons, add_reasons, from_scratch
from analysis.engines.automaton.retrace import Retrace
from analysis.engines.automaton.revision import revise
from analysis.engines.automaton.spelled import spell_path, without_temporaries
from analysis.engines.automaton.trace import Taken, Tracer
from analysis.model.collecting import without_collecting
from analysis.model.digest import digest_text
from analysis.model.limits import Limits
from analysis.model.report import Count, Finding, Message, RuleVerdict, Work
from analysis.model.spelling import display_name, spell_effect
from analysis.rules.automaton import Rule
from analysis.store.packing import PackingError

Algorithm = Literal["full", "incr-fwd", "incr-back"]
_TRIES = 3  # of errors with one message in one function, when the search for a way gives up
UNDECIDED = "the rule can be broken as far as the automaton sees, but no way there was found within the search's budget"


class AutomatonResult(msgspec.Struct, frozen=True):
    """The engine's answer. `verdicts`, `summaries` and `rechecked` (why, and because of which function) are by linkage name; `ms`
    is the engine's time in milliseconds."""

    findings: tuple[Finding, ...]
    verdicts: dict[str, dict[str, RuleVerdict]]
    summaries: dict[str, tuple[str, ...]]
    work: Work
    ms: float
    messages: tuple[Message, ...]
    rechecked: Reasons = {}


class Analysis:
    """The engine on one program, from revision to revision; keeps the derivation graph and the ways that were found."""

    def __init__(self, program: Program, rules: tuple[Rule, ...], limits: Limits, jobs: int = 1) -> None:
        self.rules = rules
        self._jobs = jobs
        self._limits = limits
        self.facts = FactTable()
        self.delta = ProgramDelta(program, rules, self.facts, limits.global_edges)
        self.graph = DerivationGraph()
        self._ways: dict[tuple[str, frozenset[int]], Way] = {}
        self._violated: dict[str, set[int]] = {}
        self._undecided: dict[str, set[int]] = {}
        self._repaired: Repaired | None = None
        self._rechecked: Reasons = {}
        self._retrace = Retrace(self.graph)
        self._answers = Answers(rules, self.facts)

    @property
    def program(self) -> Program:
        """The program of the present revision."""
        return self.delta.program

    def run(self, entries: Sequence[str]) -> None:
        """Full from scratch, from the entry functions."""
        self.graph = Full(self.delta, self._limits.configurations).analyse(self.delta.initial(entries))
        self._rechecked = from_scratch(self.program)

    def revise(self, program: Program, entries: Sequence[str], algorithm: Algorithm) -> bool:
        """Repairs the graph for the next revision; False if the change asks for a run from scratch, with a new `Analysis`."""
        if not self.graph.complete or algorithm == "full":
            return False
        revised = revise(self.delta, program, self.graph, entries, self._limits.global_edges)
        if revised is None:
            return False
        old, self.delta = self.program.functions, revised.delta
        repair = incr_back if algorithm == "incr-back" else incr_fwd
        self._repaired = repair(self.delta, self.graph, revised.changes, self._limits.configurations)
        add_reasons(self._rechecked, old, program, revised.touched, self._repaired)
        changed = revised.touched.union(self._repaired.checked)
        self._ways = {key: way for key, way in self._ways.items() if changed.isdisjoint(way.functions)}
        return self.graph.complete

    def take_rechecked(self) -> Reasons:
        """The functions that were looked at again since this was last asked, and why."""
        rechecked, self._rechecked = self._rechecked, {}
        return rechecked

    def findings(self, places: Places) -> tuple[Finding, ...]:
        """One finding per function, rule and message (the others have the same cause, and go when it goes): the first in the
        text whose branches do not contradict each other, with a short trace; in order of place."""
        self._violated, self._undecided = {}, {}
        tracer = Tracer(self.graph, self.delta, places, self._limits.trace_steps)
        retrace = self._retrace = Retrace(self.graph)
        feasibility = Feasibility(self.graph, self.delta, retrace, self.delta.thorough)
        errors = self._errors(retrace)
        self._search_at_once(feasibility, errors)
        facts = {(name, fact.edge): fact for name, fact in errors}
        alike: dict[tuple[str, str, int, str], list[tuple[str, Fact]]] = {}
        for name, fact in errors:
            alike.setdefault((places.place(name, fact.edge).path, name, fact.rule, self._message(fact)), []).append((name, fact))
        found = []
        for same in alike.values():
            tries = _TRIES
            for name, fact in sorted(same, key=lambda error: places.place(error[0], error[1].edge).range):
                way = self._way(feasibility, name, fact, frozenset(errors[name, fact]))
                if way.steps is None or way.start is None:
                    tries -= not way.decided
                    if tries <= 0:
                        break
                    continue
                self._violated.setdefault(name, set()).add(fact.rule)
                steps = tracer.joined(*way.start, way.steps)
                if not self._follows(facts, fact, steps):
                    found.append(self._finding(tracer, places, name, fact, steps))
                    break
        return numbered(found)

    def _errors(self, retrace: Retrace) -> dict[tuple[str, Fact], list[int]]:
        """The error configurations that an execution leads to, by function and what is wrong."""
        found: dict[tuple[str, Fact], list[int]] = {}
        reached = retrace.errors()
        for name in self.program.functions:
            for configuration in reached.get(name, ()):
                found.setdefault((name, self.facts[unpack(configuration)[2]]), []).append(configuration)
        return found

    def _way(self, feasibility: Feasibility, name: str, fact: Fact, configurations: frozenset[int]) -> Way:
        """A feasible way from a function's entry to one of the error configurations; one that was found before, if nothing
        that it depends on changed."""
        way = self._ways.get((name, configurations))
        if way is None:
            way = self._ways[name, configurations] = self._searched(feasibility, name, fact, configurations)
        if not way.decided:
            self._undecided.setdefault(name, set()).add(fact.rule)
        return way

    def _searched(self, feasibility: Feasibility, name: str, fact: Fact, configurations: frozenset[int]) -> Way:
        return feasibility.way(name, configurations, self.delta.transfer.asks_for_decision(self.delta.model(name), fact))

    def _search_at_once(self, feasibility: Feasibility, errors: Mapping[tuple[str, Fact], Sequence[int]]) -> None:
        """Looks for the ways to all errors without a known one in several processes, if this one may have them."""
        todo = [(*error, frozenset(found)) for error, found in errors.items() if (error[0], frozenset(found)) not in self._ways]
        ways = search_all(lambda number: self._searched(feasibility, *todo[number]), len(todo), self._jobs)
        self._ways.update(((name, found), way) for (name, _, found), way in zip(todo, ways or (), strict=False))

    def _follows(self, errors: dict[tuple[str, int], Fact], fact: Fact, way: list[Taken]) -> bool:
        """Whether the way to an error leads over another error with the same value: then it is a consequence of that one."""
        function = way[-1].function
        for taken in way[:-1]:
            other = errors.get((taken.function, taken.edge))
            if other is None or other == fact or other.rule != fact.rule or other.paths != fact.paths or not fact.paths:
                continue
            if taken.function == function or fact.paths[0][0][0] == "@":
                return True
        return False

    def _message(self, fact: Fact) -> str:
        rule = self.rules[fact.rule]
        message = rule.transitions[fact.transition].message
        return (
            message
            if rule.tracks is None
            else message.replace(rule.tracks, spell_path(fact.paths[0]) if fact.paths else "the result")
        )

    def _finding(self, tracer: Tracer, places: Places, function: str, fact: Fact, way: list[Taken]) -> Finding:
        rule = self.rules[fact.rule]
        message = self._message(fact)
        place = places.place(function, fact.edge)
        text = without_temporaries(spell_effect(self.program.functions[function].by_id[fact.edge].effect))
        text = text.replace(place.path, "__FILE__")  # where the check is run from is no difference
        return Finding(
            rule=rule.name,
            status="possible",
            severity=rule.severity,
            message=message,
            place=place,
            function=display_name(function),
            fingerprint=digest_text(rule.name, display_name(function), message, text),
            trace=tracer.steps(way, message),
        )

    def verdicts(self, ms: float) -> dict[str, dict[str, RuleVerdict]]:
        """What is known of each function for each rule, after `findings`."""
        return self._answers.verdicts(self.program, self.graph, self._retrace, self._violated, self._undecided, ms)

    def summaries(self) -> dict[str, tuple[str, ...]]:
        """For each reached function, its entry/exit pairs in words, after `findings`."""
        return self._answers.summaries(self.graph, self._retrace)

    def work(self) -> Work:
        """What was computed for this revision, and what was taken over."""
        if self._repaired is None:
            return Work(configurations=Count(0, self.graph.configurations), derivations=Count(0, self.graph.derivations))
        done = self._repaired
        return Work(
            configurations=Count(done.configurations_reused, done.configurations_added),
            derivations=Count(done.derivations_reused, done.derivations_added),
        )

    def packed(self) -> bytes | None:
        """What `resume` needs in another process; None where a run from scratch is all that can follow."""
        return pack_graph(self.graph, self.facts, self._ways) if self.graph.complete else None

    def resume(self, known: Unpacked) -> None:
        """Takes over a graph of this program. Only the next revision can be asked for: nothing was rechecked, or computed."""
        for fact in known.facts:
            self.facts.number(fact)
        if len(self.facts) != len(known.facts):
            raise PackingError("the facts have other numbers")
        self.graph, self._ways = known.graph, known.ways


def numbered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings in order of place, with fingerprints that differ: the second of two alike gets a number."""
    seen: dict[str, int] = {}
    found = []
    for finding in sorted(findings, key=lambda f: (f.place.path, f.place.range, f.rule, f.message)):
        count = seen[finding.fingerprint] = seen.get(finding.fingerprint, 0) + 1
        print_ = finding.fingerprint if count == 1 else digest_text(finding.fingerprint, str(count))
        found.append(msgspec.structs.replace(finding, fingerprint=print_))
    return tuple(found)


def analyse(analysis: Analysis, places: Places, began: float) -> AutomatonResult:
    """The answers for the present revision; `began` is when work on it did (time.perf_counter)."""
    findings = analysis.findings(places)
    ms = (time.perf_counter() - began) * 1000
    verdicts, summaries = analysis.verdicts(ms), analysis.summaries()
    return AutomatonResult(findings, verdicts, summaries, analysis.work(), ms, (), analysis.take_rechecked())


class Engine:
    """Checks one revision of a program after the other; what a revision leaves unchanged is not computed again."""

    def __init__(self, algorithm: Algorithm = "incr-back", jobs: int = 1) -> None:
        self._algorithm = algorithm
        self._jobs = jobs
        self._analysis: Analysis | None = None
        self._asked: tuple[object, ...] = ()

    def forget(self) -> None:
        """The next check is from scratch."""
        self._analysis = None

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
                known = unpack_graph(data, lambda name, edge: program.functions[name].by_id[edge])
                analysis = Analysis(program, rules, limits, self._jobs)
                analysis.resume(known)
            except PackingError:
                return False
        self._analysis, self._asked = analysis, (rules, tuple(entries), limits)
        return True

    def check(
        self,
        program: Program,
        rules: tuple[Rule, ...],
        entries: Sequence[str],
        limits: Limits,
        places: Places,
        interruptible: AbstractContextManager[None],
    ) -> AutomatonResult:
        """Checks a program against rules. What enters `interruptible` may be ended by an exception from outside: only what leaves
        nothing half done, so not a repair."""
        began = time.perf_counter()
        with without_collecting():
            analysis = self._revised(program, rules, entries, limits, interruptible)
            with interruptible:
                return analyse(analysis, places, began)

    def _revised(
        self,
        program: Program,
        rules: tuple[Rule, ...],
        entries: Sequence[str],
        limits: Limits,
        interruptible: AbstractContextManager[None],
    ) -> Analysis:
        asked = (rules, tuple(entries), limits)
        before, self._analysis = self._analysis, None
        if before is None or asked != self._asked or not before.revise(program, entries, self._algorithm):
            with interruptible:
                before = Analysis(program, rules, limits, self._jobs)
                before.run(entries)
        self._analysis, self._asked = before, asked
        return before
