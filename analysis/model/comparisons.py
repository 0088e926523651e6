"""The names of C's comparisons, which says the same the other way round, and when each holds."""

from __future__ import annotations

from collections.abc import Callable

COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">="))
MIRRORED = {"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
"""The comparison that holds of `b` and `a` when this one holds of `a` and `b`."""
NEGATED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
"""The comparison that holds when this one does not. Of orders of floating values it is none: NaN (C11 F.9.3)."""
HOLDS: dict[str, Callable[[int, int], bool]] = {
    "==": lambda one, other: one == other,
    "!=": lambda one, other: one != other,
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
}
"""Whether the comparison holds of two integers."""
