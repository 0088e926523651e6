"""Precisions of the value domains: which variables are tracked at which location (SYMCEGAR section 3.2.4, the type L -> 2^X)."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.cpa.memory import Store
from analysis.cpa.variables import RESULT


class VariablePrecision:
    """Variables by function and location: globals as `@name`, others as `function:name`. A location that is not mentioned tracks
    nothing. Objects that no variable names (allocated ones, and what symbolic pointers point to) and results on their way to
    the caller are always tracked."""

    __slots__ = ("_tracked",)

    def __init__(self, tracked: Mapping[tuple[str, int], frozenset[str]]) -> None:
        self._tracked = dict(tracked)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VariablePrecision) and self._tracked == other._tracked

    def __hash__(self) -> int:
        return hash(frozenset(self._tracked.items()))

    def at(self, function: str, location: int) -> frozenset[str]:
        """The variables that are tracked at a location."""
        return self._tracked.get((function, location), frozenset())

    def refined(self, more: Mapping[tuple[str, int], frozenset[str]]) -> VariablePrecision:
        """This precision, with more variables."""
        tracked = dict(self._tracked)
        for place, names in more.items():
            tracked[place] = tracked.get(place, frozenset()) | names
        return VariablePrecision(tracked)

    def restrict(self, store: Store, function: str, location: int) -> Store:
        """The store without what is not tracked at the location."""
        tracked = self.at(function, location)
        return store.without([root for root in store.map if not _is_tracked(root, tracked)])


TrackedVariables = VariablePrecision | None
"""None: everything is tracked everywhere."""


def _is_tracked(root: str, tracked: frozenset[str]) -> bool:
    if root[0] == "@":
        return root in tracked
    if root[0] in '*"' or root.startswith("new "):
        return True
    function, _, rest = root.rpartition("#")
    name = rest.partition(":")[2]
    return name == RESULT or f"{function}:{name}" in tracked
