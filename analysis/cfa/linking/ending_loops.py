"""Whether all loops of a function come to an end, shown by what most loops do: they count, or walk through an object.

A part of the CFA in which control can go round ends if a variable moves by the same step wherever the part writes it, and each
time between two steps one of these holds:

- `v < e`, `v > e` or `v != e`, for one `e` that the part does not write, of the type of `v`; the step is 1 or -1. The variable
  takes all values of its type, if it does not overflow before, and one of them fails the test.
- `*v`, or `s[v]` for a pointer `s` that the part does not write, is read, and the steps go up: the pointer leaves the object,
  and what is read behind it is undefined (C11 6.5.6p8). `v` is a pointer or as wide as the widest one, so that it does not come
  round.

Without the steps the rest of the part has to end, too, as inner loops do. Variables count whose addresses nobody takes. So no
run stays in the part for ever: it would take infinitely many steps (a ranking function; lexicographic for inner loops).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from analysis.cfa.addresses_taken import taken_by
from analysis.cfa.components import strongly_connected
from analysis.cfa.graph import Cfa, Edge
from analysis.model import ir
from analysis.model.c_types import Integer, Pointer, is_scalar
from analysis.model.ranges import is_bool

_STRICT = {("<", True), (">", True), ("!=", True), (">=", False), ("<=", False), ("==", False)}
_WIDEST = 64
_FAR = 1 << 16  # elements: what is not the program's is wider
_READ = "read"


class _Test(NamedTuple):
    """What holds where an edge is taken: how a variable compares with another expression, which is None where it is followed."""

    variable: ir.Var
    relation: str
    other: ir.Expr | None


def loops_end(cfa: Cfa) -> bool:
    """Whether control leaves each loop of a function, if all that it calls comes back."""
    taken = taken_by(cfa).own
    return all(_ends(part, taken) for part in _parts(cfa.edges))


def _parts(edges: Sequence[Edge]) -> Iterator[list[Edge]]:
    """The edges of each part in which control can go round."""
    graph: dict[int, list[int]] = {}
    for edge in edges:
        graph.setdefault(edge.source, []).append(edge.target)
    component = {location: number for number, part in enumerate(strongly_connected(graph)) for location in part}
    inside: dict[int, list[Edge]] = {}
    for edge in edges:
        if component.get(edge.target, -1) == component[edge.source]:
            inside.setdefault(component[edge.source], []).append(edge)
    yield from inside.values()


def _ends(part: list[Edge], taken: frozenset[str]) -> bool:
    for test in dict.fromkeys(test for edge in part for test in _tests(edge)):
        steps = _steps(part, test, taken)
        if steps and _is_between(part, steps, test):
            rest = [edge for edge in part if edge not in steps]
            return all(_ends(inner, taken) for inner in _parts(rest))
    return False


def _tests(edge: Edge) -> Iterator[_Test]:
    effect = edge.effect
    if isinstance(effect, ir.Assume):
        yield from _compared(effect)
    expressions = [part for expr in ir.expressions(effect) for part in ir.walk(expr)]
    if any(isinstance(part, ir.AddressOf) for part in expressions):
        return  # what is below need not be read
    for part in expressions:
        if isinstance(part, ir.Deref) and is_scalar(part.type):
            yield from _followed(part.pointer)


def _compared(effect: ir.Assume) -> Iterator[_Test]:
    condition = effect.condition
    if isinstance(condition, ir.Var) and effect.truth:
        yield _Test(condition, "!=", ir.IntConst(0, condition.type))
    if not isinstance(condition, ir.Binary) or (condition.operator, effect.truth) not in _STRICT:
        return
    if condition.left.type != condition.right.type:
        return
    for one, other in ((condition.left, condition.right), (condition.right, condition.left)):
        if isinstance(one, ir.Var) and isinstance(other, ir.Var | ir.IntConst):
            side = "left" if one is condition.left else "right"
            yield _Test(one, f"{condition.operator} {effect.truth} {side}", other)


def _followed(pointer: ir.Expr) -> Iterator[_Test]:
    if isinstance(pointer, ir.Var):
        yield _Test(pointer, _READ, None)
    if isinstance(pointer, ir.Binary) and pointer.operator == "+" and isinstance(pointer.left, ir.Var):
        index = ir.strip_casts(pointer.right)
        if isinstance(index, ir.Var) and isinstance(index.type, Integer) and index.type.bits == _WIDEST:
            yield _Test(index, _READ, pointer.left)


def _steps(part: Sequence[Edge], test: _Test, taken: frozenset[str]) -> list[Edge]:
    """The edges on which the variable moves; none if it does anything else, or what it is compared with may change."""
    variable, other = test.variable, test.other
    fixed = other if isinstance(other, ir.Var) else None
    if not _is_own(variable, taken) or (fixed is not None and not _is_own(fixed, taken)):
        return []
    steps: dict[int, int] = {}
    for edge in part:
        written = ir.target_of(edge.effect)
        root = None if written is None else ir.root(written)
        if fixed is not None and root == fixed:
            return []
        if root == variable:
            step = _step(edge.effect, variable)
            if not step:
                return []
            steps[edge.id] = step
    kinds = set(steps.values())
    if test.relation == _READ:
        is_fitting = all(0 < step < _FAR for step in kinds)
    else:
        is_fitting = kinds in ({1}, {-1}) and isinstance(variable.type, Integer) and not is_bool(variable.type)
    return [edge for edge in part if edge.id in steps] if is_fitting else []


def _is_own(variable: ir.Var, taken: frozenset[str]) -> bool:
    return variable.scope in ("local", "parameter", "temporary") and variable.name not in taken


def _step(effect: ir.Effect, variable: ir.Var) -> int:
    """The constant that an effect adds to a variable; 0 if it does something else."""
    if not isinstance(effect, ir.Assign) or effect.target != variable or not isinstance(effect.value, ir.Binary):
        return 0
    operator, left, right = effect.value.operator, effect.value.left, effect.value.right
    if left != variable or not isinstance(right, ir.IntConst) or operator not in ("+", "-"):
        return 0
    if isinstance(variable.type, Pointer) and not is_scalar(variable.type.target):
        return 0  # it may have no size
    return right.value if operator == "+" else -right.value


def _is_between(part: Sequence[Edge], steps: Iterable[Edge], test: _Test) -> bool:
    """Whether control cannot go from one step to the next without the test."""
    onward: dict[int, list[int]] = {}
    for edge in part:
        if test not in _tests(edge):
            onward.setdefault(edge.source, []).append(edge.target)
    sources, waiting = {step.source for step in steps}, [step.target for step in steps]
    seen = set(waiting)
    while waiting:
        location = waiting.pop()
        if location in sources:
            return False
        fresh = [target for target in onward.get(location, ()) if target not in seen]
        seen.update(fresh)
        waiting.extend(fresh)
    return True
