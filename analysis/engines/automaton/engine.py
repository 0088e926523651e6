"""The automaton engine: rules over a program, to findings, verdicts per function and readable summaries."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterable, Sequence

import msgspec

from analysis.cfa.graph import Cfa, Places, Program
from analysis.engines.automaton.delta import ProgramDelta
from analysis.engines.automaton.facts import NOTHING, Fact, FactTable
from analysis.engines.automaton.feasibility import Feasibility
from analysis.engines.automaton.full import DerivationGraph, Full, unpack
from analysis.engines.automaton.spelled import spell_path, summary_line, without_temporaries
from analysis.engines.automaton.trace import Taken, Tracer
from analysis.model import ir
from analysis.model.digest import digest_text
from analysis.model.limits import Limits
from analysis.model.report import Count, Finding, Message, RuleVerdict, Work
from analysis.model.spelling import display_name, spell_effect
from analysis.rules.automaton import Rule

ENGINE = "automaton"
_TRIES = 3  # of errors with one message in one function, when the search for a way gives up
UNDECIDED = "the rule can be broken as far as the automaton sees, but no way there was found within the search's budget"


class AutomatonResult(msgspec.Struct, frozen=True):
    """The engine's answer. `verdicts` and `summaries` are by linkage name; `ms` is the engine's time in milliseconds."""

    findings: tuple[Finding, ...]
    verdicts: dict[str, dict[str, RuleVerdict]]
    summaries: dict[str, tuple[str, ...]]
    work: Work
    ms: float
    messages: tuple[Message, ...]


class Analysis:
    """One run of the engine over one program; keeps the derivation graph."""

    def __init__(self, program: Program, rules: tuple[Rule, ...], limits: Limits) -> None:
        self.program = program
        self.rules = rules
        self._limits = limits
        self.facts = FactTable()
        self.delta = ProgramDelta(program, rules, self.facts, limits.global_edges)
        self.graph = DerivationGraph()
        self._violated: dict[str, set[int]] = {}
        self._undecided: dict[str, set[int]] = {}

    def run(self, entries: Sequence[str]) -> None:
        """Full from scratch, from the entry functions."""
        collecting = gc.isenabled()
        gc.disable()  # millions of small objects and no cycles among them
        try:
            self.graph = Full(self.delta, self._limits.configurations).analyse(self.delta.initial(entries))
        finally:
            if collecting:
                gc.enable()

    def findings(self, places: Places) -> tuple[Finding, ...]:
        """One finding per function, rule and message (the others have the same cause, and go when it goes): the first in the
        text whose branches do not contradict each other, with a short trace; in order of place."""
        tracer = Tracer(self.graph, self.delta, places, self._limits.trace_steps)
        feasibility = Feasibility(self.graph, self.delta, self.delta.thorough)
        errors = self._errors()
        facts = {(name, fact.edge): fact for name, fact in errors}
        alike: dict[tuple[str, str, int, str], list[tuple[str, Fact]]] = {}
        for name, fact in errors:
            alike.setdefault((places.place(name, fact.edge).path, name, fact.rule, self._message(fact)), []).append((name, fact))
        found = []
        for same in alike.values():
            tries = _TRIES
            for name, fact in sorted(same, key=lambda error: places.place(error[0], error[1].edge).range):
                way = self._way(feasibility, tracer, name, fact.rule, frozenset(errors[name, fact]))
                if way is None:
                    tries -= fact.rule in self._undecided.get(name, ())
                    if tries <= 0:
                        break
                    continue
                self._violated.setdefault(name, set()).add(fact.rule)
                if not self._follows(facts, fact, way):
                    found.append(self._finding(tracer, places, name, fact, way))
                    break
        return numbered(found)

    def _errors(self) -> dict[tuple[str, Fact], list[int]]:
        """The error configurations by function and what is wrong."""
        found: dict[tuple[str, Fact], list[int]] = {}
        for name in self.program.functions:
            graph = self.graph.functions.get(name)
            for configuration in graph.errors if graph is not None else ():
                found.setdefault((name, self.facts[unpack(configuration)[2]]), []).append(configuration)
        return found

    def _way(
        self, feasibility: Feasibility, tracer: Tracer, name: str, rule: int, configurations: frozenset[int]
    ) -> list[Taken] | None:
        """The steps from the program's entry to one of the error configurations, None if no way is feasible."""
        fact = self.facts[unpack(min(configurations))[2]]
        must_be_sure = self.delta.transfer.asks_for_decision(self.delta.model(name), fact)
        way = feasibility.way(name, configurations, must_be_sure)
        if way.steps is not None and way.start is not None:
            return tracer.joined(*way.start, way.steps)
        if not way.decided:
            self._undecided.setdefault(name, set()).add(rule)
        return None

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
        text = without_temporaries(spell_effect(self.program.functions[function].by_id[fact.edge].effect))
        return Finding(
            rule=rule.name,
            status="possible",
            severity=rule.severity,
            message=message,
            place=places.place(function, fact.edge),
            function=display_name(function),
            fingerprint=digest_text(rule.name, display_name(function), message, text),
            trace=tracer.steps(way, message),
        )

    def verdicts(self, ms: float) -> dict[str, dict[str, RuleVerdict]]:
        """What is known of each function for each rule, after `findings`."""
        verdicts = {}
        for name, cfa in self.program.functions.items():
            share = ms / max(len(self.program.functions), 1)
            reason, assumptions = self._doubt(name, cfa), self._assumptions(cfa)
            verdicts[name] = {
                rule.name: verdict(
                    number in self._violated.get(name, ()),
                    UNDECIDED if number in self._undecided.get(name, ()) else reason,
                    assumptions,
                    share,
                )
                for number, rule in enumerate(self.rules)
            }
        return verdicts

    def _doubt(self, name: str, cfa: Cfa) -> str:
        """Why nothing is shown of the function where nothing is wrong."""
        if not self.graph.complete:
            return "the exploration was cut off at the limit of configurations"
        graph = self.graph.functions.get(name)
        if graph is None:
            return "it is not reached from the program's entries"
        reached = {unpack(configuration)[0] for configuration in graph.derived}
        for edge in cfa.edges:
            if isinstance(edge.effect, ir.Unsupported) and edge.source in reached:
                return f"it contains {edge.effect.reason}, which is not supported"
        return "the automaton engine found no violation; it does not prove"

    def _assumptions(self, cfa: Cfa) -> tuple[str, ...]:
        bodiless: set[str] = set()
        for edge in cfa.calls:
            assert isinstance(edge.effect, ir.Call)
            bodiless.update(display_name(t) for t in self.program.targets(edge.effect) if t not in self.program.functions)
        return tuple(f"{name}() has no body; it changes only what its arguments point to" for name in sorted(bodiless))

    def summaries(self) -> dict[str, tuple[str, ...]]:
        """For each reached function, its entry/exit pairs in words."""
        found = {}
        for name, graph in self.graph.functions.items():
            lines: dict[str, None] = {}
            for entry, exits in graph.summaries.items():
                for exit_ in exits:
                    line = summary_line(self.facts[entry], self.facts[exit_], self.rules, entry == NOTHING, exit_ == NOTHING)
                    if line:
                        lines[line] = None
            if not graph.summaries.get(NOTHING):
                lines["never returns"] = None
            found[name] = tuple(lines)
        return found

    def work(self) -> Work:
        """What was done; from scratch, everything was recomputed."""
        return Work(
            configurations=Count(0, self.graph.configurations),
            derivations=Count(0, self.graph.derivations),
        )


def verdict(violated: bool, doubt: str, assumptions: tuple[str, ...], ms: float) -> RuleVerdict:
    """A rule's verdict on a function."""
    if violated:
        return RuleVerdict("violated", None, assumptions, ENGINE, ms=ms)
    return RuleVerdict("unknown", doubt, assumptions, ENGINE, ms=ms)


def numbered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings in order of place, with fingerprints that differ: the second of two alike gets a number."""
    seen: dict[str, int] = {}
    found = []
    for finding in sorted(findings, key=lambda f: (f.place.path, f.place.range, f.rule, f.message)):
        count = seen[finding.fingerprint] = seen.get(finding.fingerprint, 0) + 1
        print_ = finding.fingerprint if count == 1 else digest_text(finding.fingerprint, str(count))
        found.append(msgspec.structs.replace(finding, fingerprint=print_))
    return tuple(found)


def analyse(program: Program, rules: tuple[Rule, ...], entries: Sequence[str], limits: Limits, places: Places) -> AutomatonResult:
    """Checks a program against rules, from scratch."""
    began = time.perf_counter()
    analysis = Analysis(program, rules, limits)
    analysis.run(entries)
    findings = analysis.findings(places)
    ms = (time.perf_counter() - began) * 1000
    return AutomatonResult(findings, analysis.verdicts(ms), analysis.summaries(), analysis.work(), ms, ())
