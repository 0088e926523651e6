"""Whether a function does something whenever it is called: no branch of it decides that, but for tests of what it is passed.

`void release(char *p) { if (p) free(p); }` frees what it is passed in each call that passes something. So a caller that passes
the same pointer twice knows all there is to know.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.cfa.graph import Cfa, Program
from analysis.engines.automaton.report.trace import Taken
from analysis.model import ir
from analysis.model.c_types import Pointer
from analysis.model.kept_with import kept_with

_DOWN = frozenset(("call", "descent"))


def meeting(functions: Mapping[str, Cfa], steps: Sequence[Taken]) -> Taken:
    """A step of the activation in which a value and its use meet, on a path from where the value begins to the error: that of the
    error; or, where a function uses what it is passed in each run, that of its caller."""
    home = steps[-1]
    while any(taken.depth < home.depth for taken in steps) and is_unavoidable(functions[home.function], home.edge):
        home = next(taken for taken in reversed(steps) if taken.depth < home.depth)
        if home.event not in _DOWN:
            break
    return home


def always_begins(program: Program, path: Sequence[Taken], home: Taken) -> bool:
    """Whether the last step of a path is below a call that the activation of `home` makes, and taken in each run of that call. A
    call through a pointer that can reach several functions may run another one."""
    functions = program.functions
    last = path[-1]
    depth = last.depth
    if last.event != "edge" or depth <= home.depth:
        return False
    for number in reversed(range(len(path))):
        taken = path[number]
        if taken.depth == depth and (taken is last or taken.event in _DOWN):
            if leads_elsewhere(program, path, number):
                return False
            if depth == home.depth:
                return taken.function == home.function
            if not is_unavoidable(functions[taken.function], taken.edge):
                return False
            depth -= 1
    return False


def leads_elsewhere(program: Program, path: Sequence[Taken], number: int) -> bool:
    """Whether a step of a path is a call of another function than the one that it names, or that the program assigns to the
    pointer: one that only fits, or may come from outside."""
    taken = path[number]
    effect = None if taken.edge < 0 else program.functions[taken.function].by_id[taken.edge].effect
    if not isinstance(effect, ir.Call) or ir.direct_callee(effect) is not None:
        return False
    only = program.only_target(effect)
    if taken.event != "edge":
        inside = number + 1 if taken.event in _DOWN else number - 1
        return not 0 <= inside < len(path) or path[inside].function != only
    return only is None or any(target != only for target in program.targets(effect) if target not in program.functions)


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
