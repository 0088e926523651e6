"""Objects whose own data say of what kind they are: `if (item->flags & FROM_FILE) free(item);`.

Objects of one kind may own nothing in a member in which others own something. So where the path needs that a bit of the object
is set, or that a member has a certain value, it is not known that this one owns anything. A member that the function counts up
or down says how many hold the object, and not of which kind it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from analysis.cfa.graph import Cfa
from analysis.engines.automaton.functions.access_paths import path_of
from analysis.model import ir
from analysis.model.kept_with import kept_with


def is_tagged(effects: Iterable[ir.Effect], owner: str, counted: Set[ir.Expr]) -> bool:
    """Whether one of the conditions says of which kind the object is that the variable points to. `counted` are members that
    say no such thing."""
    return any(isinstance(effect, ir.Assume) and _says_kind(effect, owner, counted) for effect in effects)


@kept_with
def counted_members(cfa: Cfa) -> Set[ir.Expr]:
    """The members that a function increments or decrements."""
    return frozenset(
        effect.target
        for effect in (edge.effect for edge in cfa.edges)
        if isinstance(effect, ir.Assign)
        and isinstance(effect.target, ir.Field)
        and _is_next(ir.strip_casts(effect.value), effect.target)
    )


def _is_next(value: ir.Expr, member: ir.Field) -> bool:
    """Whether a value is one more or one less than that of a member."""
    if not isinstance(value, ir.Binary) or value.operator not in ("+", "-") or ir.strip_casts(value.left) != member:
        return False
    right = ir.strip_casts(value.right)
    return isinstance(right, ir.IntConst) and right.value == 1


def _says_kind(branch: ir.Assume, owner: str, counted: Set[ir.Expr]) -> bool:
    condition, truth = ir.strip_casts(branch.condition), branch.truth
    if isinstance(condition, ir.Binary) and condition.operator in ("==", "!=") and _is_number(condition.right, zero=True):
        truth = truth == (condition.operator == "!=")  # (item->flags & BIT) != 0
        condition = ir.strip_casts(condition.left)
    if not isinstance(condition, ir.Binary) or condition.operator not in ("&", "==", "!="):
        return False
    is_met = truth == (condition.operator != "!=") and ir.strip_casts(condition.left) not in counted
    return is_met and _is_number(condition.right, zero=False) and _is_inside(condition.left, owner)


def _is_number(value: ir.Expr, *, zero: bool) -> bool:
    bare = ir.strip_casts(value)
    return isinstance(bare, ir.IntConst) and (bare.value == 0) == zero


def _is_inside(value: ir.Expr, owner: str) -> bool:
    path = path_of(ir.strip_casts(value))
    return path is not None and path[:2] == (owner, "*") and len(path) > 2 and all(step[0] != "*" for step in path[2:])
