"""Which edges of the new version a condition leaves: those that paths take which are not covered, at any time.

A path that is not covered never comes to a node that accepts. So it takes an edge only

- from a node that accepts nothing, to another one (or an indicator), or into a function where an indicator can come;
- or behind an indicator, where no alignment is known: every edge that comes then, over calls and returns.

All other edges are taken by covered paths alone, and a violation at one of them is on a covered path (Theorem 2.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from analysis.cfa.graph import Program
from analysis.cpa.obstacles.passed_code import may_call_back
from analysis.engines.difference.difference_condition import Automaton, Condition
from analysis.engines.difference.difference_graph import Context, Move, Node
from analysis.model import ir

Edges = Mapping[str, frozenset[int]]
"""The ids of edges, by function."""
_ENTRY = -1  # stands, among locations, for the entry of a function that is entered from one of them
_Found = dict[str, set[int]]


def left_edges(program: Program, conditions: Iterable[Condition]) -> Edges:
    """The edges of the new version, by function, that paths take which none of the conditions of their entry covers."""
    found: _Found = {name: set() for name in program.functions}
    for condition in conditions:
        _add(program, condition, found)
    return {name: frozenset(edges) for name, edges in found.items()}


def all_edges_from(program: Program, entries: Iterable[str]) -> Edges:
    """The edges that paths from these entries take if nothing is covered."""
    found: _Found = {name: set() for name in program.functions}
    for name, location in _behind(program, [(entry, _ENTRY) for entry in entries]):
        found[name].update(edge.id for edge in program.functions[name].outgoing.get(location, ()))
    return {name: frozenset(edges) for name, edges in found.items()}


def _add(program: Program, condition: Condition, found: _Found) -> None:
    needed = _needed(condition)
    unaligned: list[tuple[str, int]] = []
    for context, automaton in condition.automata.items():
        cfa, mine = program.functions[context.function], found[context.function]
        for node in _not_covered(automaton, returns=context in needed):
            if node.is_indicator:
                unaligned.append((context.function, cfa.entry if node == automaton.initial else node.location))
                continue
            moves = automaton.moves.get(node, {})
            for edge in cfa.outgoing.get(node.location, ()):
                move = moves.get(edge.id)
                if move is None or move.target.is_indicator:
                    mine.add(edge.id)
                    unaligned.append((context.function, edge.target))
                    unaligned += [(called, _ENTRY) for called in _entered(program, edge.effect)]
                elif _is_left(condition, automaton, move, returns=context in needed):
                    mine.add(edge.id)
    for name, location in _behind(program, unaligned):
        found[name].update(edge.id for edge in program.functions[name].outgoing.get(location, ()))


def _not_covered(automaton: Automaton, *, returns: bool) -> Iterator[Node]:
    yield from automaton.open
    if returns:
        yield from automaton.returning - automaton.open


def _is_left(condition: Condition, automaton: Automaton, move: Move, *, returns: bool) -> bool:
    """Whether what comes behind an edge is not all covered: in its function, or in what it calls."""
    if move.target in automaton.open or (returns and move.target in automaton.returning):
        return True
    return any(_opens(condition, called) for called in move.calls)


def _opens(condition: Condition, context: Context) -> bool:
    automaton = condition.automata[context]
    return automaton.initial in automaton.open


def _needed(condition: Condition) -> set[Context]:
    """The contexts that have to be left for a path to come to an indicator, or to what comes behind one."""
    needed = set[Context]()
    waiting = list(condition.automata)
    while waiting:
        context = waiting.pop()
        automaton = condition.automata[context]
        for move in _moves(automaton):
            is_left = move.target in automaton.open or (context in needed and move.target in automaton.returning)
            for called in move.calls if is_left else ():
                if called not in needed:
                    needed.add(called)
                    waiting.append(called)
    return needed


def _moves(automaton: Automaton) -> Iterator[Move]:
    for moves in automaton.moves.values():
        yield from moves.values()


def _behind(program: Program, unaligned: list[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """All locations that come behind these, over calls and returns: what is entered returns to where it was entered from."""
    callers: dict[str, list[tuple[str, int]]] = {}
    for name, cfa in program.functions.items():
        for edge in cfa.calls:
            for target in _entered(program, edge.effect):
                callers.setdefault(target, []).append((name, edge.target))
    seen: dict[tuple[str, int], bool] = {}  # whether it is a part of a function that was entered before
    waiting: list[tuple[str, int, bool]] = []
    for name, location in unaligned:
        waiting.append((name, program.functions[name].entry if location == _ENTRY else location, location == _ENTRY))
    while waiting:
        name, location, is_inside = waiting.pop()
        known = seen.get((name, location))
        if known is not None and known <= is_inside:
            continue
        if known is None:
            yield name, location
        seen[name, location] = is_inside
        cfa = program.functions[name]
        if location == cfa.exit and not is_inside:
            waiting += ((caller, behind, False) for caller, behind in callers.get(name, ()))
        for edge in cfa.outgoing.get(location, ()):
            waiting.append((name, edge.target, is_inside))
            waiting += ((called, program.functions[called].entry, True) for called in _entered(program, edge.effect))


def _entered(program: Program, effect: ir.Effect) -> list[str]:
    """The functions of the program that an edge enters: those that it calls, and those that what it calls may call back."""
    if not isinstance(effect, ir.Call):
        return []
    targets = program.targets(effect)
    called = {name for name in targets if name in program.functions}
    if any(name not in program.functions and may_call_back(program, name, effect) for name in targets):
        called |= {name for name in program.address_taken if name in program.functions}
    return sorted(called)
