"""Conditions ([DIFFDP] Definitions 2, 3): automata that say which paths of the new version need not be looked at again, and how
one is made from a difference graph (Algorithm 1).

A path with calls has a stack of nodes, one for each function that is active. It is covered from where none of them can come to a
regression bug indicator any more: not the top one, within its function and what that calls, nor those below to which it can
return.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from analysis.engines.difference.difference_graph import Context, DifferenceGraph, Move, Node, ProgramGraph

_Stack = list[tuple[Context, Node]]


class Automaton(msgspec.Struct, frozen=True):
    """The condition of one function in one context. From the nodes that are `open`, an indicator can be reached; from those that
    are `returning`, location `exit`, where the function has ended. `moves` lead from open and returning nodes."""

    initial: Node
    exit: int
    open: frozenset[Node]
    returning: frozenset[Node]
    moves: Mapping[Node, Mapping[int, Move]]


class Condition(msgspec.Struct, frozen=True):
    """A condition: the automata of the functions by context, and where paths begin."""

    entry: Context
    automata: Mapping[Context, Automaton]

    @property
    def covers_all(self) -> bool:
        """Whether every path is covered: nothing needs to be looked at again."""
        return self._accepts([(self.entry, self.automata[self.entry].initial)])

    def covers(self, path: Iterable[tuple[str, int]]) -> bool:
        """Whether a path is covered: the functions and ids of the edges of the new version that it takes, from the entry on."""
        stack = [(self.entry, self.automata[self.entry].initial)]
        if self._accepts(stack):
            return True
        for function, edge in path:
            if not self._step(stack, function, edge):
                return False
            if self._accepts(stack):
                return True
        return False

    def _accepts(self, stack: _Stack) -> bool:
        for context, node in reversed(stack):
            automaton = self.automata[context]
            if node in automaton.open:
                return False
            if node not in automaton.returning:
                return True
        return True

    def _step(self, stack: _Stack, function: str, edge: int) -> bool:
        """Takes one edge; whether the automata have it. Where a call may lead to several functions, they do not follow it."""
        if not stack or stack[-1][0].function != function:
            return False
        context, node = stack.pop()
        move = self.automata[context].moves.get(node, {}).get(edge)
        if move is None or len(move.calls) > 1 or move.target.is_indicator:
            return False
        stack.append((context, move.target))
        if move.calls:
            stack.append((move.calls[0], self.automata[move.calls[0]].initial))
        while stack and stack[-1][1].location == self.automata[stack[-1][0]].exit:
            stack.pop()
        return True


def condition_of(graph: ProgramGraph) -> Condition:
    """Algorithm 1: a search backward from the indicators finds the nodes that accept nothing, through calls as well."""
    open_nodes = _open(graph)
    automata = {}
    for context, one in graph.graphs.items():
        mine, returning = frozenset(open_nodes.get(context, ())), _returning(one)
        moves = {node: found for node, found in one.moves.items() if node in mine or node in returning}
        automata[context] = Automaton(one.initial, one.exit, mine, returning, moves)
    return Condition(graph.entry, automata)


def _open(graph: ProgramGraph) -> dict[Context, set[Node]]:
    before: dict[tuple[Context, Node], list[tuple[Context, Node]]] = {}
    waiting: _Stack = []
    for context, one in graph.graphs.items():
        if one.initial.is_indicator:
            waiting.append((context, one.initial))
        for node, moves in one.moves.items():
            for move in moves.values():
                called = [(callee, graph.graphs[callee].initial) for callee in move.calls]
                for target in [(context, move.target), *called]:
                    before.setdefault(target, []).append((context, node))
                    if target[1].is_indicator:
                        waiting.append(target)
    found: dict[Context, set[Node]] = {}
    while waiting:
        at = waiting.pop()
        nodes = found.setdefault(at[0], set())
        if at[1] not in nodes:
            nodes.add(at[1])
            waiting.extend(before.get(at, ()))
    return found


def _returning(graph: DifferenceGraph) -> frozenset[Node]:
    before: dict[Node, list[Node]] = {}
    for node, moves in graph.moves.items():
        for move in moves.values():
            before.setdefault(move.target, []).append(node)
    waiting = [node for node in (graph.initial, *before) if node.location == graph.exit and not node.is_indicator]
    found = set[Node]()
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting.extend(before.get(node, ()))
    return frozenset(found)
