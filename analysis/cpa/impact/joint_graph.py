"""Two revisions of a program as one graph: the new one's edges, and those edges of the old one that are gone.

A location of the old revision that the new one does not have is a node of its own. What was deleted has an impact as well: what
it wrote is not written any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from analysis.cfa.graph import Cfa, Edge, Program
from analysis.cfa.linking.rewrite import Renaming
from analysis.cfa.revisions.location_map import FunctionMap, ProgramMap
from analysis.model import ir

Node = tuple[str, int]
"""A function, and a location of it; -1 - l for a location l that only the old revision has."""


class JointEdge(NamedTuple):
    """An edge of either revision, in the names of the new one. `is_changed`: the other revision has no equal one at this place.
    `targets`: the functions that a call can reach, by their names now."""

    function: str
    source: int
    target: int
    effect: ir.Effect
    is_changed: bool
    is_old: bool = False
    targets: tuple[str, ...] = ()


class JointGraph:
    """The graph of a pair of revisions. `edges` by function; a function that only the old one has, or that has other parameters
    now, is `replaced`: nothing of it corresponds."""

    def __init__(self, pair: ProgramMap) -> None:
        self.pair = pair
        self._back = {theirs: mine for mine, theirs in pair.linked.items()}
        before = {one.old.name for one in pair.functions.values()}
        self.replaced = frozenset(
            [name for name in pair.new.functions if name not in pair.functions]
            + [self._name(name) for name in pair.old.functions if name not in before]
        )
        self.edges: dict[str, tuple[JointEdge, ...]] = {name: tuple(self._edges(cfa)) for name, cfa in pair.new.functions.items()}
        self._externals = {
            name
            for name in pair.new.externals.keys() | map(self._name, pair.old.externals)
            if pair.new.externals.get(name) != self._renamed(name)
        }

    def ends(self, function: str) -> tuple[int, int]:
        """The entry and the exit of a function."""
        cfa = self.pair.new.functions[function]
        return cfa.entry, cfa.exit

    def is_other(self, edge: JointEdge) -> bool:
        """Whether an edge that is the same in both revisions does something else now: it calls something else."""
        return any(name in self.replaced or name in self._externals for name in edge.targets)

    def _name(self, old: str) -> str:
        return self._back.get(old, old)

    def _renamed(self, name: str) -> object:
        return self.pair.old.externals.get(self.pair.linked.get(name, name))

    def _edges(self, cfa: Cfa) -> Iterator[JointEdge]:
        known = self.pair.functions.get(cfa.name)
        for edge in cfa.edges:
            targets = _targets(self.pair.new, edge)
            is_changed = known is None or edge.id in known.changed or self._reaches_other(known, edge, targets)
            yield JointEdge(cfa.name, edge.source, edge.target, edge.effect, is_changed, targets=targets)
        if known is not None:
            yield from self._deleted(known)

    def _reaches_other(self, known: FunctionMap, edge: Edge, targets: tuple[str, ...]) -> bool:
        """Whether a call through a pointer can reach other functions than before."""
        if not isinstance(edge.effect, ir.Call):
            return False
        before = _targets(self.pair.old, known.old.by_id[known.aligned[edge.id]])
        return sorted(map(self._name, before)) != sorted(targets)

    def _deleted(self, known: FunctionMap) -> Iterator[JointEdge]:
        place = {theirs: mine for mine, theirs in known.locations.items()}
        for number in sorted(known.deleted):
            edge = known.old.by_id[number]
            source, target = (place.get(at, -1 - at) for at in (edge.source, edge.target))
            targets = tuple(map(self._name, _targets(self.pair.old, edge)))
            yield JointEdge(known.new.name, source, target, known.to_new(edge.effect), True, is_old=True, targets=targets)


def old_name(pair: ProgramMap, name: str) -> str:
    """The old linkage name of what has this one now."""
    return pair.linked.get(name, name)


def renaming(pair: ProgramMap) -> Renaming:
    """Gives what has linkage in the old revision the names of the new one."""
    return Renaming(linked={theirs: mine for mine, theirs in pair.linked.items()})


def _targets(program: Program, edge: Edge) -> tuple[str, ...]:
    return program.targets(edge.effect) if isinstance(edge.effect, ir.Call) else ()
