"""The names of C's comparisons, and which says the same the other way round."""

from __future__ import annotations

COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">="))
MIRRORED = {"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
"""The comparison that holds of `b` and `a` when this one holds of `a` and `b`."""
NEGATED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
"""The comparison that holds when this one does not. Of orders of floating values it is none: NaN (C11 F.9.3)."""
