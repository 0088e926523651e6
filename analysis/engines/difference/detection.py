"""Difference detectors over whole programs: they explore functions of both versions in step, and make a `ProgramGraph`.

Functions are explored by context: with what is affected when they are entered. What a function does to its callers, the objects
affected when both versions have returned, grows until nothing changes; a call waits for it. A function that is entered in more
than `_MOST_CONTEXTS` ways is not followed into any more: such calls lead to regression bug indicators.

A detector says what one edge does: `data_detector` is diffDP, `syntax_detector` diffCond.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from analysis.cfa.graph import Edge
from analysis.engines.difference.dependencies import NOTHING, Affected
from analysis.engines.difference.difference_graph import Context, DifferenceGraph, Move, Node, ProgramGraph, unaligned
from analysis.engines.difference.function_pairs import FunctionPair, ProgramPair

_MOST_CONTEXTS = 12
_MOST_STEPS = 200_000  # edges that are looked at for one entry


class After(NamedTuple):
    """What is behind an edge: the location of the old version that is aligned with its end, and what is affected there.

    `partner` None: no witness path was found, so that the end is a regression bug indicator. `ended`: nothing behind it needs to
    be looked at, as the old version violates the property there, or no path comes to the end.
    """

    partner: int | None
    affected: Affected = NOTHING
    calls: tuple[Context, ...] = ()
    ended: bool = False


INDICATOR = After(None)


class Detector(Protocol):
    """Says what becomes of the alignment of two versions."""

    def begins(self, pair: FunctionPair) -> bool:
        """Whether the entries of both versions are aligned."""

    def step(self, pair: FunctionPair, edge: Edge, partner: int, affected: Affected, calls: Calls) -> After:
        """What is behind an edge of the new version that begins where the old one is at location `partner`."""


class Calls(Protocol):
    """What calls lead to; exploring them is begun by asking."""

    def returned(self, function: str, affected: Affected) -> tuple[Context, Affected | None] | None:
        """The context of a function that is entered with this affected, and what is affected when both versions have returned:
        None if they have not, as far as it is known. None altogether if the function is not followed."""


class _Explored:
    """The exploration of one context."""

    def __init__(self, pair: FunctionPair | None, context: Context) -> None:
        self.pair = pair
        self.context = context
        self.affected: dict[Node, Affected] = {}
        self.moves: dict[Node, dict[int, Move]] = {}
        self.exit: Affected | None = None
        self.callers: dict[Context, None] = {}
        entry = -1 if pair is None else pair.new.cfa.entry
        self.initial = Node(entry, None if pair is None else pair.old.cfa.entry)


class Detection:
    """The contexts of a program that were explored."""

    def __init__(self, programs: ProgramPair, detector: Detector) -> None:
        self._programs = programs
        self._detector = detector
        self._explored: dict[Context, _Explored] = {}
        self._contexts: dict[str, int] = {}
        self._waiting: deque[Context] = deque()
        self._left = _MOST_STEPS

    def explore(self, entry: Context) -> ProgramGraph:
        """The graph of what can be reached from an entry. If that is too much, it is an indicator."""
        self._begin(entry)
        self._left = _MOST_STEPS
        while self._waiting:
            self._explore(self._explored[self._waiting.popleft()])
            if self._left < 0:
                self._waiting.clear()
                self._explored.clear()
                self._contexts.clear()
                return unaligned(entry)
        return ProgramGraph(entry, {context: self._graph(self._explored[context]) for context in self._reached(entry)})

    def exit(self, context: Context) -> Affected | None:
        """What is affected when both versions of a function that was explored have returned; None if they never do, or the
        exploration was given up."""
        known = self._explored.get(context)
        return None if known is None else known.exit

    def _begin(self, context: Context) -> _Explored:
        known = self._explored.get(context)
        if known is None:
            pair = self._programs.pair(context.function)
            if pair is not None and not self._detector.begins(pair):
                pair = None
            known = self._explored[context] = _Explored(pair, context)
            self._contexts[context.function] = self._contexts.get(context.function, 0) + 1
            self._waiting.append(context)
        return known

    def _is_followed(self, context: Context) -> bool:
        return context in self._explored or self._contexts.get(context.function, 0) < _MOST_CONTEXTS

    def _explore(self, one: _Explored) -> None:
        """Explores a context anew, with what is known now of what it calls."""
        pair = one.pair
        if pair is None:
            return
        one.affected = {one.initial: one.context.affected}
        one.moves = {}
        ended: Affected | None = None
        waiting = deque([one.initial])
        while waiting and self._left >= 0:
            node = waiting.popleft()
            if node.location == pair.new.cfa.exit:
                ended = one.affected[node] | (ended or NOTHING)
                continue
            moves = one.moves.setdefault(node, {})
            for edge in pair.new.outgoing(node.location):
                assert node.partner is not None
                self._left -= 1
                asked = _Asked(self, one.context)
                after = self._detector.step(pair, edge, node.partner, one.affected[node], asked)
                target = Node(edge.target, after.partner)
                moves[edge.id] = Move(target, after.calls)
                is_left = target.is_indicator or after.ended
                if not is_left and _joined(one.affected, target, after.affected):
                    waiting.append(target)
        if ended is not None and (one.exit is None or not ended <= one.exit):
            one.exit = ended | (one.exit or NOTHING)
            self._waiting.extend(context for context in one.callers if context not in self._waiting)

    def _graph(self, one: _Explored) -> DifferenceGraph:
        if one.pair is None:
            return DifferenceGraph(Node(one.initial.location, None), -1, {})
        return DifferenceGraph(one.initial, one.pair.new.cfa.exit, dict(_from(one.initial, one.moves)))

    def _reached(self, entry: Context) -> Iterator[Context]:
        seen, waiting = {entry}, [entry]
        while waiting:
            context = waiting.pop()
            yield context
            for moves in self._explored[context].moves.values():
                for called in (called for move in moves.values() for called in move.calls):
                    if called not in seen:
                        seen.add(called)
                        waiting.append(called)


def _from(initial: Node, moves: Mapping[Node, dict[int, Move]]) -> Iterator[tuple[Node, dict[int, Move]]]:
    """The moves that can be reached: others were taken before more was known to be affected."""
    seen, waiting = {initial}, [initial]
    while waiting:
        node = waiting.pop()
        if node in moves:
            yield node, moves[node]
            for move in moves[node].values():
                if move.target not in seen:
                    seen.add(move.target)
                    waiting.append(move.target)


def _joined(affected: dict[Node, Affected], node: Node, more: Affected) -> bool:
    """Adds what is affected at a node; whether that is new."""
    before = affected.get(node)
    affected[node] = more if before is None else before | more
    return before is None or not more <= before


class _Asked:
    """`Calls` for one context, which waits for what it asks for."""

    def __init__(self, detection: Detection, caller: Context) -> None:
        self._detection = detection
        self._caller = caller

    def returned(self, function: str, affected: Affected) -> tuple[Context, Affected | None] | None:
        context = Context(function, affected)
        if not self._detection._is_followed(context):
            return None
        callee = self._detection._begin(context)
        callee.callers.setdefault(self._caller)
        return context, callee.exit


def joined(found: Sequence[Affected]) -> Affected:
    """What is affected after any of these."""
    return NOTHING.union(*found)
