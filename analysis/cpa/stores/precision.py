"""Precisions of the value domains: which variables are tracked at which location ([SYMCEGAR] section 3.2.4,
the type L -> 2^X); and of the constraints (section 3.2.6): which constraints are, given by themselves (L ->
2^gamma+) or by the variables of the branches that they came from (L -> 2^X).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from analysis.cpa.stores.store_memory import Store
from analysis.cpa.stores.variables import RESULT
from analysis.model import ir
from analysis.model.symbolic_operators import ConstraintsBy


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


def tracked_name(root: str) -> str | None:
    """The name in a precision of the variable that a root names; None for what no variable names."""
    if root[0] == "@":
        return root
    function, separator, rest = root.rpartition("#")
    return f"{function}:{rest.partition(':')[2]}" if separator and root[0] not in '*"' and not root.startswith("new ") else None


def variable_name(var: ir.Var, function: str) -> str:
    """The name in a precision of a variable of a function."""
    return f"@{var.name}" if var.scope == "global" else f"{function}:{var.name}"


class Origin(NamedTuple):
    """A constraint, and the variables of the branch that it came from."""

    condition: ir.Expr
    variables: frozenset[str]


class ConstraintPrecision:
    """Constraints by function and location. By `variables`: a constraint is tracked where all variables of its branch are. By
    `conditions`: where it is itself."""

    __slots__ = ("_tracked", "by")

    def __init__(self, tracked: Mapping[tuple[str, int], frozenset[object]], by: ConstraintsBy = "variables") -> None:
        self._tracked = dict(tracked)
        self.by = by

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConstraintPrecision) and self.by == other.by and self._tracked == other._tracked

    def __hash__(self) -> int:
        return hash(frozenset(self._tracked.items()))

    def words(self, constraints: Iterable[Origin]) -> frozenset[object]:
        """What has to be tracked for these constraints to be."""
        if self.by == "conditions":
            return frozenset(origin.condition for origin in constraints)
        return frozenset(name for origin in constraints for name in origin.variables)

    def tracks(self, constraint: Origin, function: str, location: int) -> bool:
        """Whether a constraint is kept at a location."""
        return self.words((constraint,)) <= self.at(function, location)

    def at(self, function: str, location: int) -> frozenset[object]:
        """The words that are tracked at a location."""
        return self._tracked.get((function, location), frozenset())

    def refined(self, more: Mapping[tuple[str, int], frozenset[object]]) -> ConstraintPrecision:
        """This precision, with more words."""
        tracked = dict(self._tracked)
        for place, words in more.items():
            tracked[place] = tracked.get(place, frozenset()) | words
        return ConstraintPrecision(tracked, self.by)


TrackedConstraints = ConstraintPrecision | None
"""None: everything is tracked everywhere."""
