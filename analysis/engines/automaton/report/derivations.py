"""The derivation graph as text and as Graphviz, for `everproof dump derivation`.

A configuration is shown under its function and entry fact, as its location and its fact. The configurations
that were derived from it stand below it: each with the edge, the callee whose summary was used, the location,
and the fact if it changed. A derivation can stand for several edges on which nothing happens to the fact
(`full.Delta.quiet`). Then follow the callees that the configuration enters. Nothing is derived from an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from analysis.cfa.cfa_text import effect_text, quoted
from analysis.engines.automaton.engine import Analysis
from analysis.engines.automaton.facts.facts import RESULT_KEY, Fact
from analysis.engines.automaton.facts.spelled import spell_path
from analysis.engines.automaton.functions.access_paths import CALLER
from analysis.engines.automaton.solver.full import DIRECT, FunctionGraph, pack, unpack
from analysis.model.intervals import Interval
from analysis.model.spelling import display_name
from analysis.rules.automaton import Rule


def spell_fact(fact: Fact, rules: Sequence[Rule]) -> str:
    """A fact in words: rule, the paths that hold the value, its state; or what is wrong."""
    if fact.rule < 0:
        return "nothing"
    rule = rules[fact.rule]
    holders = ", ".join("something of the caller's" if path[0] == CALLER else spell_path(path) for path in fact.paths)
    known = "".join(f", {_spell_known(name, interval)}" for name, interval in fact.environment)
    if fact.transition >= 0:
        message = rule.transitions[fact.transition].message
        shown = (
            message if rule.tracks is None else message.replace(rule.tracks, spell_path(fact.paths[0]) if fact.paths else "it")
        )
        return f"{rule.name}: error: {shown}"
    return f"{rule.name}: {holders or 'the value'} is {fact.state}{known}"


def _spell_known(name: int | str, interval: Interval) -> str:
    what = "the result" if name == RESULT_KEY else f"condition {name}"
    if interval.low is not None and interval.low == interval.high:
        return f"{what} is {interval.low}"
    bounds = [("at least", interval.low), ("at most", interval.high)]
    said = [f"{words} {bound}" for words, bound in bounds if bound is not None] + (["not 0"] if interval.nonzero else [])
    return f"{what} is {' and '.join(said)}"


def dump_derivation(analysis: Analysis, functions: Iterable[str]) -> str:
    """The configurations, derivations, call sites and summaries of these functions, given by linkage name."""
    chosen = list(functions)
    reached = [(name, graph) for name in chosen if (graph := analysis.graph.functions.get(name)) is not None]
    texts = ["".join(f"{line}\n" for line in _Text(analysis, name, graph).lines()) for name, graph in reached]
    missed = [display_name(name) for name in chosen if name not in analysis.graph.functions]
    return "\n".join([*texts, *([f"not reached: {', '.join(missed)}\n"] if missed else [])])


def dot_derivation(analysis: Analysis, functions: Iterable[str]) -> str:
    """The same for Graphviz: a box for each function and entry fact, calls dashed, errors red."""
    shown = set(functions)
    lines = ["digraph derivation {", "  node [shape=box];"]
    for name, graph in analysis.graph.functions.items():
        if name in shown:
            lines += [f"  {line}" for line in _Dot(analysis, name, graph, shown).lines()]
    return "\n".join([*lines, "}"]) + "\n"


class _Text:
    """One function's part of the graph."""

    def __init__(self, analysis: Analysis, name: str, graph: FunctionGraph) -> None:
        self._analysis = analysis
        self._name = name
        self._cfa = analysis.delta.program.functions[name]
        self._graph = graph

    def lines(self) -> Iterator[str]:
        """The whole text of the function."""
        graph = self._graph
        sizes = f"{_count(len(graph.derived), 'configuration')}, {_count(graph.size, 'derivation')}"
        yield f"{display_name(self._name)}: entry {self._cfa.entry}, exit {self._cfa.exit}; {sizes}"
        for entry, exits in graph.summaries.items():
            yield f"  entered with {self._fact(entry)}"
            yield from (f"    {line}" for line in self._context(entry, exits))
            for configuration in graph.derived:
                if unpack(configuration)[1] == entry:
                    yield from (f"    {line}" for line in self._configuration(configuration))

    def _context(self, entry: int, exits: Sequence[int]) -> Iterator[str]:
        if entry in self._analysis.graph.initial.get(self._name, ()):
            yield "at the start of the program"
        for caller, configuration, edge in self._graph.sites[entry]:
            where = f"{display_name(caller)} {edge.source} -> {edge.target}"
            yield f"by the call at {where}, with {self._fact(unpack(configuration)[2])}"
        yield from (f"summary: returns with {self._fact(exit_)}" for exit_ in exits)
        if not exits:
            yield "no summary"

    def _configuration(self, configuration: int) -> Iterator[str]:
        graph = self._graph
        location, _, state = unpack(configuration)
        yield f"{location}: {self._fact(state)}"
        for edge_id, derived in graph.derivations(configuration):
            target, _, after = unpack(derived)
            by = _supports(graph, configuration, edge_id, derived)
            callees = "".join(f", by the summary of {display_name(c)} {self._pair(entry, exit_)}" for c, entry, exit_ in by)
            first = graph.parent(derived) == (edge_id, configuration)
            known = "" if first else "  (known before)"
            fact = "" if after == state else f": {self._fact(after)}"
            yield f"    {effect_text(self._cfa.by_id[edge_id].effect)}{callees} => {target}{fact}{known}"
        for edge, callee, entry in graph.calls.get(configuration, ()):
            yield f"    {effect_text(edge.effect)} enters {display_name(callee)} with {self._fact(entry)}"

    def _pair(self, entry: int, exit_: int) -> str:
        return f"from {self._fact(entry)} to {self._fact(exit_)}"

    def _fact(self, number: int) -> str:
        return spell_fact(self._analysis.facts[number], self._analysis.rules)


class _Dot:
    """One function's part of the graph for Graphviz."""

    def __init__(self, analysis: Analysis, name: str, graph: FunctionGraph, shown: set[str]) -> None:
        self._analysis = analysis
        self._name = name
        self._graph = graph
        self._cfa = analysis.delta.program.functions[name]
        self._shown = shown

    def lines(self) -> Iterator[str]:
        """A cluster for each entry fact; then derivations and calls."""
        for entry in self._graph.summaries:
            title = f"{display_name(self._name)}, entered with {self._fact(entry)}"
            yield f"subgraph {quoted(f'cluster {self._name} {entry}')} {{ label={quoted(title)};"
            for configuration in self._graph.derived:
                location, of, state = unpack(configuration)
                if of == entry:
                    colour = ", color=red3" if self._analysis.facts[state].transition >= 0 else ""
                    label = f"{location}: {self._fact(state)}"
                    yield f"  {self._node(self._name, configuration)} [label={quoted(label)}{colour}];"
            yield "}"
        for configuration in self._graph.derived:
            here = self._node(self._name, configuration)
            for edge, derived in self._graph.derivations(configuration):
                label = quoted(effect_text(self._cfa.by_id[edge].effect))
                yield f"{here} -> {self._node(self._name, derived)} [label={label}];"
            for _, callee, entry in self._graph.calls.get(configuration, ()):
                if callee in self._shown:
                    entered = pack(self._analysis.delta.program.functions[callee].entry, entry, entry)
                    yield f"{here} -> {self._node(callee, entered)} [style=dashed];"

    def _node(self, function: str, configuration: int) -> str:
        return quoted(" ".join([function, *map(str, unpack(configuration))]))

    def _fact(self, number: int) -> str:
        return spell_fact(self._analysis.facts[number], self._analysis.rules)


def _supports(graph: FunctionGraph, configuration: int, edge: int, derived: int) -> list[tuple[str, int, int]]:
    return [via for via in graph.via.get((configuration, edge, derived), ()) if via != DIRECT]


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
