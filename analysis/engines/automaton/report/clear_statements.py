"""Which statements are free of an error, so that a later version that has it there has a new defect.

Of several errors with one message in a function, one is reported, and what is reached behind an error with the same value is a
consequence of it. So a later version can report a statement that was wrong before as well. A statement is *clear* of a rule where
no error of the rule is there, nor on any way to it. What is passed to a function can be wrong in one call and not in others: so a
call of the function of an error is clear where the value does not come from it, and no error of the rule is on any way to it.

So is a variable that holds no value which is an error of the rule in the function.

A statement is known by what it says: as the third of four of its function that say so, for example. Where a version adds or takes
one away, they are others.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import takewhile
from typing import NamedTuple
from weakref import WeakKeyDictionary

from analysis.cfa.graph import Cfa, Edge, Places, Program
from analysis.cfa.unnamed_values import without_temporaries
from analysis.engines.automaton.facts.facts import NOTHING
from analysis.engines.automaton.facts.product import ProgramDelta
from analysis.engines.automaton.functions.access_paths import Path
from analysis.engines.automaton.report.chains import Joined
from analysis.engines.automaton.report.raised_errors import Sought
from analysis.engines.automaton.report.suspicions import Error
from analysis.engines.automaton.report.trace import Taken
from analysis.engines.automaton.solver.full import DerivationGraph, Entry, unpack
from analysis.engines.automaton.solver.retrace import Retrace
from analysis.model import ir
from analysis.model.kept_with import kept_with
from analysis.model.places import Site
from analysis.model.same_findings import number_of, number_of_variable
from analysis.model.spelling import display_name, spell_effect

_MOST_ABOVE = 50  # entry states whose calls are looked at, for one error
_MOST_SITES = 500  # of one entry state


class _Named(NamedTuple):
    """What an edge is known by, in words and as a number."""

    text: str
    number: int


_OWN = ("local", "parameter")
_NAME = re.compile(r"[A-Za-z_]\w*(~\d+)?\Z")
_Names = Mapping[int, _Named]


class ClearStatements:
    """What the findings of one analysis are told apart by, revision by revision."""

    def __init__(self) -> None:
        self._names: WeakKeyDictionary[Cfa, _Names] = WeakKeyDictionary()
        self._behind: WeakKeyDictionary[Cfa, dict[frozenset[int], frozenset[int]]] = WeakKeyDictionary()
        self._clear: WeakKeyDictionary[Cfa, dict[frozenset[int], bytes]] = WeakKeyDictionary()

    def look(self, graph: DerivationGraph, delta: ProgramDelta, retrace: Retrace, errors: Mapping[Error, Sought]) -> ErrorFree:
        """What can be asked of one revision, with all that may be an error there."""
        return ErrorFree(self, graph, delta, retrace, errors)

    def names(self, cfa: Cfa, places: Places) -> _Names:
        """What the edges of a function are known by: their text, and which of those with this text they are."""
        found = self._names.get(cfa)
        if found is None:
            found = self._names[cfa] = _named(cfa, places)
        return found

    def behind(self, cfa: Cfa, edges: frozenset[int]) -> frozenset[int]:
        """The edges of a function that can be taken after one of these."""
        known = self._behind.setdefault(cfa, {})
        if edges not in known:
            known[edges] = _behind(cfa, edges)
        return known[edges]

    def clear(self, cfa: Cfa, places: Places, wrong: frozenset[int]) -> bytes:
        """The statements of a function to which no way leads over edges that are wrong."""
        known = self._clear.setdefault(cfa, {})
        if wrong not in known:
            unclear = wrong | self.behind(cfa, wrong)
            known[wrong] = _packed(one.number for edge, one in self.names(cfa, places).items() if edge not in unclear)
        return known[wrong]


class ErrorFree:
    """Which statements of a revision are free of errors."""

    def __init__(
        self,
        kept: ClearStatements,
        graph: DerivationGraph,
        delta: ProgramDelta,
        retrace: Retrace,
        errors: Mapping[Error, Sought],
    ) -> None:
        self._kept, self._graph, self._delta, self._retrace, self._errors = kept, graph, delta, retrace, errors
        self._wrong: dict[int, _Wrong] = {}
        self._held: dict[tuple[str, int], list[frozenset[str] | None]] = {}
        for function, fact in errors:
            self._held.setdefault((function, fact.rule), []).append(_roots(fact.paths))
        self._live: dict[Error, Mapping[str, Set[tuple[str, int]]] | None] = {}

    def statements(self, error: Error, joined: Joined, places: Places) -> tuple[tuple[int, ...], bytes]:
        """What the statement of an error is known by, with the calls that its value comes from; and the clear statements."""
        function, fact = error
        program = self._delta.program
        cfa = program.functions[function]
        own = self._kept.names(cfa, places).get(fact.edge)
        at = [] if own is None else [own.number]
        roots = _roots(fact.paths)
        if roots is not None and len(roots) == 1:
            at += map(number_of_variable, roots)
        for call in _open_calls(joined.steps):
            called = self._kept.names(program.functions[call.function], places).get(call.edge)
            at += [] if called is None else [_of_call(call.function, called)]
        clear = self._kept.clear(cfa, places, self._wrong_of(fact.rule).of(function))
        return tuple(at), clear + _packed((*self._clear_calls(error, places), *self._clear_variables(error)))

    def _clear_variables(self, error: Error) -> Iterator[int]:
        """The variables of the function of an error that hold no value which is an error of the rule there."""
        function, fact = error
        held = set[str]()
        for roots in self._held.get((function, fact.rule), ()):
            if not roots:
                return
            held |= roots
        yield from map(number_of_variable, _variables(self._delta.program.functions[function]) - held)

    def _clear_calls(self, error: Error, places: Places) -> Iterator[int]:
        """The calls of the function of an error, and of those that pass its value on, from which the value does not come."""
        program, wrong = self._delta.program, self._wrong_of(error[1].rule)
        for function, live in (self._sites(error) or {}).items():
            for caller, site, edge in self._graph.functions[function].sites.get(NOTHING, ()):
                if (caller, edge.id) in live or not self._retrace.live(caller, unpack(site)[1]):
                    continue
                cfa = program.functions[caller]
                named = self._kept.names(cfa, places).get(edge.id)
                if named is not None and edge.id not in self._kept.behind(cfa, wrong.of(caller)):
                    yield _of_call(caller, named)

    def _sites(self, error: Error) -> Mapping[str, Set[tuple[str, int]]] | None:
        """The calls from which the value of an error comes, by the function that is called; None where there are too many."""
        if error not in self._live:
            self._live[error] = self._find_sites(error)
        return self._live[error]

    def _find_sites(self, error: Error) -> Mapping[str, Set[tuple[str, int]]] | None:
        name, configurations = self._errors[error].at
        waiting: list[Entry] = [(name, unpack(one)[1]) for one in sorted(configurations)]
        seen, live = set(waiting), dict[str, set[tuple[str, int]]]()
        while waiting:
            function, entry = waiting.pop()
            if entry == NOTHING:
                continue
            sites = self._graph.functions[function].sites[entry]
            if len(seen) > _MOST_ABOVE or len(sites) > _MOST_SITES or entry in self._graph.initial.get(function, ()):
                return None
            for caller, site, edge in sites:
                above = caller, unpack(site)[1]
                if self._retrace.live(*above):
                    live.setdefault(function, set()).add((caller, edge.id))
                    if above not in seen:
                        seen.add(above)
                        waiting.append(above)
        return live

    def _wrong_of(self, rule: int) -> _Wrong:
        if rule not in self._wrong:
            found = self._wrong[rule] = _Wrong(self._delta.program)
            for error in self._errors:
                if error[1].rule == rule:
                    found.add(error, self._sites(error))
        return self._wrong[rule]


class _Wrong:
    """The edges behind which a value is not followed any more: errors of a rule, and calls that pass a value on to one."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._edges: dict[str, set[int]] = {}
        self._found: dict[str, frozenset[int]] = {}
        self._are_all = False

    def add(self, error: Error, sites: Mapping[str, Set[tuple[str, int]]] | None) -> None:
        """Adds an error, with the calls that its value comes from."""
        self._edges.setdefault(error[0], set()).add(error[1].edge)
        self._are_all = self._are_all or sites is None
        for calls in (sites or {}).values():
            for caller, edge in calls:
                self._edges.setdefault(caller, set()).add(edge)

    def of(self, function: str) -> frozenset[int]:
        """The edges of a function, after all errors were added."""
        found = self._found.get(function)
        if found is None:
            calls = {edge.id for edge in self._program.functions[function].calls} if self._are_all else set[int]()
            found = self._found[function] = frozenset(calls | self._edges.get(function, set()))
        return found


def statements_of(cfa: Cfa, places: Places) -> frozenset[int]:
    """The statements of a function, as `Finding.at` has them."""
    return frozenset(one.number for one in _named(cfa, places).values())


def _named(cfa: Cfa, places: Places) -> _Names:
    sites = places.source(cfa.name)[1].sites
    edges: dict[str, list[Edge]] = {}
    for edge in sorted((edge for edge in cfa.edges if edge.id in sites), key=lambda edge: (*_order(sites[edge.id]), edge.id)):
        edges.setdefault(without_temporaries(spell_effect(edge.effect)), []).append(edge)
    found = ((edge.id, f"{number} {len(same)} {text}") for text, same in edges.items() for number, edge in enumerate(same))
    return {edge: _Named(text, number_of(text)) for edge, text in found}


def _packed(numbers: Iterable[int]) -> bytes:
    return array("I", sorted(set(numbers))).tobytes()


def _order(site: Site) -> tuple[int, int]:
    return site.start, site.end


def _behind(cfa: Cfa, edges: frozenset[int]) -> frozenset[int]:
    waiting = [cfa.by_id[edge].target for edge in sorted(edges) if edge in cfa.by_id]
    found, seen = set[int](), set(waiting)
    while waiting:
        for edge in cfa.outgoing.get(waiting.pop(), ()):
            found.add(edge.id)
            if edge.target not in seen:
                seen.add(edge.target)
                waiting.append(edge.target)
    return frozenset(found)


def _open_calls(path: Sequence[Taken]) -> Iterator[Taken]:
    """The calls in which a path ends, the inner ones first, as far as they pass the value on."""
    calls: list[Taken] = []
    for taken in path:
        if taken.event in ("call", "descent"):
            calls.append(taken)
        elif taken.event == "return" and calls:
            calls.pop()
    return takewhile(lambda call: call.after != NOTHING, reversed(calls))


@kept_with
def _variables(cfa: Cfa) -> frozenset[str]:
    parts = (part for parts in cfa.parts.values() for part in parts)
    return frozenset(display_name(part.name) for part in parts if isinstance(part, ir.Var) and part.scope in _OWN)


def _roots(paths: Iterable[Path]) -> frozenset[str] | None:
    """The variables that lead to a value, by the names that people know them by; None where something else may."""
    roots = [path[0] for path in paths]
    return frozenset(map(display_name, roots)) if all(_NAME.match(root) for root in roots) else None


def _of_call(caller: str, call: _Named) -> int:
    return number_of(f"{display_name(caller)}: {call.text}")
