"""The automaton engine: rules over a program, to findings, verdicts per function and readable summaries."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterable, Sequence

import msgspec

from analysis.cfa.graph import Cfa, Places, Program
from analysis.engines.automaton.delta import ProgramDelta
from analysis.engines.automaton.facts import NOTHING, Fact, FactTable
from analysis.engines.automaton.full import DerivationGraph, Full, unpack
from analysis.engines.automaton.spelled import spell_path, summary_line, without_temporaries
from analysis.engines.automaton.trace import Tracer
from analysis.model import ir
from analysis.model.digest import digest_text
from analysis.model.limits import Limits
from analysis.model.report import Count, Finding, Message, RuleVerdict, Work
from analysis.model.spelling import display_name, spell_effect
from analysis.rules.automaton import Rule

ENGINE = "automaton"


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
        """One finding per place and transition, each with a short trace, in order of place."""
        tracer = Tracer(self.graph, self.delta, places, self._limits.trace_steps)
        chosen: dict[tuple[str, int, int, int], tuple[int, str, int]] = {}
        for name in self.program.functions:
            graph = self.graph.functions.get(name)
            for configuration in graph.errors if graph is not None else ():
                fact = self.facts[unpack(configuration)[2]]
                key = (name, fact.edge, fact.rule, fact.transition)
                length = len(tracer.way(name, configuration))
                if key not in chosen or length < chosen[key][0]:
                    chosen[key] = (length, name, configuration)
        places_of_errors = {(name, edge): self.facts[unpack(c)[2]] for (name, edge, _, _), (_, _, c) in chosen.items()}
        found = [
            self._finding(tracer, places, name, configuration)
            for _, name, configuration in chosen.values()
            if not self._follows(tracer, places_of_errors, name, configuration)
        ]
        return tuple(sorted(distinct(found), key=lambda f: (f.place.path, f.place.range, f.rule, f.message)))

    def _follows(self, tracer: Tracer, errors: dict[tuple[str, int], Fact], function: str, configuration: int) -> bool:
        """Whether the way to an error leads over another error with the same value: then it is a consequence of that one."""
        fact = tracer.error(configuration)
        for taken in tracer.way(function, configuration)[:-1]:
            other = errors.get((taken.function, taken.edge))
            if other is None or other == fact or other.rule != fact.rule or other.paths != fact.paths or not fact.paths:
                continue
            if taken.function == function or fact.paths[0][0][0] == "@":
                return True
        return False

    def _finding(self, tracer: Tracer, places: Places, function: str, configuration: int) -> Finding:
        fact = tracer.error(configuration)
        rule = self.rules[fact.rule]
        message = rule.transitions[fact.transition].message
        if rule.tracks is not None:
            message = message.replace(rule.tracks, spell_path(fact.paths[0]) if fact.paths else "the result")
        text = without_temporaries(spell_effect(self.program.functions[function].by_id[fact.edge].effect))
        return Finding(
            rule=rule.name,
            status="possible",
            severity=rule.severity,
            message=message,
            place=places.place(function, fact.edge),
            function=display_name(function),
            fingerprint=digest_text(rule.name, display_name(function), message, text),
            trace=tracer.steps(function, configuration, message),
        )

    def verdicts(self, ms: float) -> dict[str, dict[str, RuleVerdict]]:
        """What is known of each function for each rule."""
        wrong: dict[str, set[int]] = {}
        for name, graph in self.graph.functions.items():
            for configuration in graph.errors:
                wrong.setdefault(name, set()).add(self.facts[unpack(configuration)[2]].rule)
        verdicts = {}
        for name, cfa in self.program.functions.items():
            share = ms / max(len(self.program.functions), 1)
            reason, assumptions = self._doubt(name, cfa), self._assumptions(cfa)
            verdicts[name] = {
                rule.name: verdict(number in wrong.get(name, ()), reason, assumptions, share)
                for number, rule in enumerate(self.rules)
            }
        return verdicts

    def _doubt(self, name: str, cfa: Cfa) -> str | None:
        """Why nothing was shown of the function, None when it was explored whole."""
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


def verdict(violated: bool, doubt: str | None, assumptions: tuple[str, ...], ms: float) -> RuleVerdict:
    """A rule's verdict on a function."""
    if violated:
        return RuleVerdict("violated", None, assumptions, ENGINE, ms=ms)
    if doubt is not None:
        return RuleVerdict("unknown", doubt, assumptions, ENGINE, ms=ms)
    return RuleVerdict("safe", None, assumptions, ENGINE, ms=ms)


def distinct(findings: Iterable[Finding]) -> list[Finding]:
    """One finding per function, rule and message, at the first place (the others have the same cause, and go when it goes), with
    fingerprints that differ: the second of two alike gets a number."""
    best: dict[tuple[object, ...], Finding] = {}
    for finding in findings:
        key = (finding.place.path, finding.function, finding.rule, finding.message)
        if key not in best or _sooner(finding, best[key]):
            best[key] = finding
    seen: dict[str, int] = {}
    numbered = []
    for finding in sorted(best.values(), key=lambda f: (f.place.path, f.place.range, f.rule, f.message)):
        count = seen[finding.fingerprint] = seen.get(finding.fingerprint, 0) + 1
        print_ = finding.fingerprint if count == 1 else digest_text(finding.fingerprint, str(count))
        numbered.append(msgspec.structs.replace(finding, fingerprint=print_))
    return numbered


def _sooner(one: Finding, other: Finding) -> bool:
    return (one.place.range, len(one.trace)) < (other.place.range, len(other.trace))


def analyse(program: Program, rules: tuple[Rule, ...], entries: Sequence[str], limits: Limits, places: Places) -> AutomatonResult:
    """Checks a program against rules, from scratch."""
    began = time.perf_counter()
    analysis = Analysis(program, rules, limits)
    analysis.run(entries)
    findings = analysis.findings(places)
    ms = (time.perf_counter() - began) * 1000
    return AutomatonResult(findings, analysis.verdicts(ms), analysis.summaries(), analysis.work(), ms, ())
