"""What would have happened on the other side of a branch that a path takes, by the form of the function alone."""

from __future__ import annotations

from collections.abc import Callable, Set

from analysis.cfa.graph import Cfa, Edge
from analysis.model import ir

_FAR = 2_000  # locations that are looked at, of one question


class OtherSide:
    """The other sides of the branches of one function."""

    def __init__(self, cfa: Cfa) -> None:
        self._cfa = cfa
        self._reached: dict[tuple[int, int], frozenset[int]] = {}

    def decides(self, branch: Edge, place: int) -> bool:
        """Whether the branch decides if a location is come to, and more than that the function is not left."""
        for other in self._others(branch):
            if other.target == place:
                continue
            avoiding = self._from(other.target, place)
            if self._cfa.exit not in avoiding:
                continue
            joined = avoiding & self._from(place, -1) - {self._cfa.exit}
            if joined or len(avoiding) > len(self._from(branch.target, -1)):
                return True
        return False

    def avoids(self, branch: Edge, place: int) -> bool:
        """Whether a run can leave the function by the other side without coming to a location."""
        return any(other.target != place and self._cfa.exit in self._from(other.target, place) for other in self._others(branch))

    def is_part(self, branch: Edge, next_: Edge) -> bool:
        """Whether two branches are of one condition: the second is right behind the first, and their other sides are the same."""
        ways = {edge.target for edge in self._others(branch)}
        return branch.target == next_.source and any(edge.target in ways for edge in self._others(next_))

    def changes(self, branch: Edge, later: Set[int], names: Set[str], also: Callable[[Edge], bool]) -> bool:
        """Whether the other side assigns one of the variables on a way to where the path is later, or calls what changes the
        value by `also`."""
        if not names:
            return False
        for other in self._others(branch):
            seen, waiting = {other.target}, [other.target]
            writes = joins = False
            while waiting and len(seen) < _FAR:
                at = waiting.pop()
                if at in later:
                    joins = True
                    continue
                for edge in self._cfa.outgoing.get(at, ()):
                    writes = writes or not names.isdisjoint(_written(edge.effect)) or also(edge)
                    if edge.target not in seen:
                        seen.add(edge.target)
                        waiting.append(edge.target)
            if joins and writes:
                return True
        return False

    def _others(self, branch: Edge) -> list[Edge]:
        return [edge for edge in self._cfa.outgoing.get(branch.source, ()) if edge is not branch]

    def _from(self, start: int, without: int) -> frozenset[int]:
        """The locations that are come to from one, not over another."""
        known = self._reached.get((start, without))
        if known is None:
            seen, waiting = {start}, [start]
            while waiting and len(seen) < _FAR:
                for edge in self._cfa.outgoing.get(waiting.pop(), ()):
                    if edge.target not in seen and edge.target != without:
                        seen.add(edge.target)
                        waiting.append(edge.target)
            known = self._reached[start, without] = frozenset(seen - {without})
        return known


def _written(effect: ir.Effect) -> set[str]:
    """The variables that an effect assigns, or that a call is given the address of."""
    target = ir.target_of(effect)
    root = None if target is None else ir.root(target)
    found = {root.name} if isinstance(root, ir.Var) else set()
    if isinstance(effect, ir.Call):
        for argument in effect.arguments:
            parts = (part for part in ir.walk(argument) if isinstance(part, ir.AddressOf))
            found.update(inner.name for part in parts if isinstance(inner := ir.root(part.lvalue), ir.Var))
    return found
