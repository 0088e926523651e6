"""Whether a function does something whenever it is called: no branch of it decides that, but for tests of what it is passed.

`void release(char *p) { if (p) free(p); }` frees what it is passed in each call that passes something. So a caller that passes
the same pointer twice knows all there is to know.
"""

from __future__ import annotations

from analysis.cfa.graph import Cfa
from analysis.model import ir
from analysis.model.c_types import Pointer
from analysis.model.kept_with import kept_with


def is_unavoidable(cfa: Cfa, edge: int) -> bool:
    """Whether each run through a function takes an edge, given by its id, or makes the same call or test at another one. Runs in
    which a pointer that is passed is null do not count, nor those that do not return."""
    known = _known(cfa)
    if edge not in known:
        known[edge] = _is_unavoidable(cfa, edge)
    return known[edge]


@kept_with
def _known(_cfa: Cfa) -> dict[int, bool]:
    """What was asked of a function before, by edge."""
    return {}


def _is_unavoidable(cfa: Cfa, edge: int) -> bool:
    asked = cfa.by_id[edge].effect
    alike = {one.id for one in cfa.edges if one.id == edge or _is_alike(asked, one.effect)}
    passed = _passed(cfa)
    after: dict[int, list[int]] = {}
    for one in cfa.edges:
        if one.id not in alike and not _finds_null(passed, one.effect):
            after.setdefault(one.source, []).append(one.target)
    reached, waiting = {cfa.entry}, [cfa.entry]
    while waiting:
        for target in after.get(waiting.pop(), ()):
            if target not in reached:
                reached.add(target)
                waiting.append(target)
    return cfa.exit not in reached


def _is_alike(asked: ir.Effect, effect: ir.Effect) -> bool:
    if isinstance(asked, ir.Assume):
        return isinstance(effect, ir.Assume) and effect.condition == asked.condition
    return isinstance(asked, ir.Call) and effect == asked


def _passed(cfa: Cfa) -> frozenset[ir.Expr]:
    """The pointers that a function is passed, and the variables that hold copies of them."""
    assigned = [edge.effect for edge in cfa.edges if isinstance(edge.effect, ir.Assign)]
    found = {ir.strip_casts(one) for one in cfa.parameters if isinstance(one.type, Pointer)}
    return frozenset(found.union(one.target for one in assigned if ir.strip_casts(one.value) in found))


def _finds_null(passed: frozenset[ir.Expr], effect: ir.Effect) -> bool:
    """Whether an edge is the branch of a test on which a pointer is null."""
    if not isinstance(effect, ir.Assume):
        return False
    condition, truth = ir.strip_casts(effect.condition), effect.truth
    while isinstance(condition, ir.Unary) and condition.operator == "!":
        truth = not truth
        condition = ir.strip_casts(condition.operand)
    if isinstance(condition, ir.Binary) and condition.operator in ("==", "!=") and _is_zero(condition.right):
        truth = truth == (condition.operator == "!=")
        condition = ir.strip_casts(condition.left)
    return not truth and condition in passed


def _is_zero(expr: ir.Expr) -> bool:
    bare = ir.strip_casts(expr)
    return isinstance(bare, ir.IntConst) and bare.value == 0
