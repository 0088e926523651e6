"""Objects whose own data say of what kind they are: `if (item->flags & FROM_FILE) free(item);`.

Objects of one kind may own nothing in a member in which others own something. So where the path needs that a bit of the object
is set, or that a member has a certain value, it is not known that this one owns anything.
"""

from __future__ import annotations

from collections.abc import Iterable

from analysis.engines.automaton.functions.access_paths import path_of
from analysis.model import ir


def is_tagged(effects: Iterable[ir.Effect], owner: str) -> bool:
    """Whether one of the conditions says of which kind the object is that the variable points to."""
    return any(isinstance(effect, ir.Assume) and _says_kind(effect, owner) for effect in effects)


def _says_kind(branch: ir.Assume, owner: str) -> bool:
    condition, truth = ir.strip_casts(branch.condition), branch.truth
    if isinstance(condition, ir.Binary) and condition.operator in ("==", "!=") and _is_number(condition.right, zero=True):
        truth = truth == (condition.operator == "!=")  # (item->flags & BIT) != 0
        condition = ir.strip_casts(condition.left)
    if not isinstance(condition, ir.Binary) or condition.operator not in ("&", "==", "!="):
        return False
    is_met = truth == (condition.operator != "!=")
    return is_met and _is_number(condition.right, zero=False) and _is_inside(condition.left, owner)


def _is_number(value: ir.Expr, *, zero: bool) -> bool:
    bare = ir.strip_casts(value)
    return isinstance(bare, ir.IntConst) and (bare.value == 0) == zero


def _is_inside(value: ir.Expr, owner: str) -> bool:
    path = path_of(ir.strip_casts(value))
    return path is not None and path[:2] == (owner, "*") and len(path) > 2 and all(step[0] != "*" for step in path[2:])
