"""Finds where a variable may be read that has a value from an earlier run of its block.

A variable of an inner block is a new object each time that control enters the block, without a value until its declaration gives
it one (C11 6.2.4p5-6). A jump into the block, to a label or a `case`, passes the declaration. So what the variable held when its
block was left last is not what it holds then, though it has the same name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from analysis.frontend.lowering.flow import Flow, RawEdge
from analysis.model import ir

Block = tuple[int, ...]


def earlier_values(flow: Flow, edges: Sequence[RawEdge], placed: Mapping[str, Block]) -> dict[int, str]:
    """The numbers of the edges that may read such a variable, with its name in the text. `placed` are the blocks of variables.
    Results of calls are no such variables: no jump passes what makes them."""
    declared = {name for _, name in flow.declared}
    entered = {block[:depth] for block in flow.labelled for depth in range(1, len(block) + 1)}
    names = (name for name, block in placed.items() if block in entered and name in declared)
    inner = {name: number for number, name in enumerate(names)}
    return dict(_Search(flow, edges, inner, placed).found()) if inner else {}


class _Search:
    """Follows sets of variables, as bits, from location to location: those that may have had a value, and those of them whose
    block was left since, and that nothing gave one in the block that control is in now."""

    def __init__(self, flow: Flow, edges: Sequence[RawEdge], inner: Mapping[str, int], placed: Mapping[str, Block]) -> None:
        self._edges, self._inner, self._placed = edges, inner, placed
        self._outside: dict[Block, int] = {}
        self._ended: dict[int, int] = {}  # at the heads of loops and labels, between whose edges blocks may end
        for location, block in flow.heads:
            self._ended[flow.find(location)] = self._ended.get(flow.find(location), 0) | self._not_in(block)
        self._declared: dict[int, int] = {}
        for location, name in flow.declared:
            self._declared[flow.find(location)] = self._declared.get(flow.find(location), 0) | self._bits((name,))
        self._mentions = [self._mentioned(edge.effect) for edge in edges]
        self._steps = [self._step(edge) for edge in edges]

    def found(self) -> Iterator[tuple[int, str]]:
        """See `earlier_values`."""
        names = list(self._inner)
        for number, before in self._before().items():
            stale = self._mentions[number] & before
            if stale:
                name = names[stale.bit_length() - 1]
                yield number, "a compound literal" if name.startswith("$") else name.partition("~")[0]

    def _before(self) -> dict[int, int]:
        """The variables in front of each edge that have a value from before, if any."""
        leaving: dict[int, list[int]] = {}
        for number, edge in enumerate(self._edges):
            leaving.setdefault(edge.source, []).append(number)
        states: dict[int, tuple[int, int]] = {}
        waiting = dict.fromkeys(reversed(range(len(self._edges))))
        found: dict[int, int] = {}
        while waiting:
            number, _ = waiting.popitem()
            edge = self._edges[number]
            had, stale = states.get(edge.source, (0, 0))
            stale = (stale | (had & self._ended.get(edge.source, 0))) & ~self._declared.get(edge.source, 0)
            if stale:
                found[number] = stale
            given, others, left = self._steps[number]
            had |= self._mentions[number] | given
            stale = (stale & others) | (had & left)
            known = states.get(edge.target, (0, 0))
            joined = known[0] | had, known[1] | stale
            if joined != known:
                states[edge.target] = joined
                waiting.update(dict.fromkeys(leaving.get(edge.target, ())))
        return found

    def _step(self, edge: RawEdge) -> tuple[int, int, int]:
        """The variables that an edge gives a value, those that it does not assign to as a whole, and those whose blocks it
        leaves."""
        effect = edge.effect
        given = self._given(effect)
        is_declaration = isinstance(effect, ir.Assign) and isinstance(effect.value, ir.Undefined)
        others = ~given if isinstance(ir.target_of(effect), ir.Var) else -1
        return 0 if is_declaration else given, others, self._not_in(edge.blocks)

    def _not_in(self, block: Block) -> int:
        """The variables whose blocks do not run inside this one."""
        known = self._outside.get(block)
        if known is None:
            names = (name for name in self._inner if block[: len(self._placed[name])] != self._placed[name])
            known = self._outside[block] = self._bits(names)
        return known

    def _bits(self, names: Iterable[str]) -> int:
        return sum({1 << self._inner[name] for name in names if name in self._inner})

    def _mentioned(self, effect: ir.Effect) -> int:
        """The variables that the effect reads, or whose address it uses."""
        target = ir.target_of(effect)
        root = None if target is None else ir.root(target)
        places = () if target is None else ir.walk(target)
        parts = [*(part for value in ir.values_of(effect) for part in ir.walk(value)), *(p for p in places if p is not root)]
        return self._bits(part.name for part in parts if isinstance(part, ir.Var))

    def _given(self, effect: ir.Effect) -> int:
        """The variable that the effect gives a value, in whole or in part."""
        target = ir.target_of(effect)
        root = None if target is None else ir.root(target)
        return self._bits((root.name,)) if isinstance(root, ir.Var) else 0
