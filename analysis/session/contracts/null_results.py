"""Where a function returns NULL by what its text says alone: a `return` of the null constant, or of what a function returned that
may return NULL whatever it is passed, and that nothing looked at since: one of the library, or one of the program, by its own
text, that is passed no constant.

Whether any run gets there is not asked. A local variable that only holds such a result counts as the result.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from analysis.certificate.ownership.tracked_variables import tracked
from analysis.cfa.graph import Cfa, Edge, Program
from analysis.model import ir
from analysis.model.c_types import Pointer
from analysis.model.kept_with import kept_with

_NO_NAMES: frozenset[str] = frozenset()


def may_return_null(program: Program, cfa: Cfa) -> bool:
    """Whether a statement of the function returns NULL, or may do so."""
    return cfa.name in returning_null(program)


@kept_with
def returning_null(program: Program) -> frozenset[str]:
    """The functions of which a statement returns NULL, or may do so: the least set."""
    open_ = [cfa for cfa in program.functions.values() if isinstance(cfa.type.result, Pointer)]
    found = {cfa.name for cfa in open_ if any(_is_null_return(edge.effect) for edge in cfa.edges)}
    while True:
        new = {
            cfa.name
            for cfa in open_
            if cfa.name not in found
            and any(_is_returned(cfa, edge.target, name) for edge, name in _null_results(program, cfa, found))
        }
        if not new:
            return frozenset(found)
        found |= new


def _is_null_return(effect: ir.Effect) -> bool:
    return isinstance(effect, ir.Return) and effect.value is not None and _is_null(effect.value)


def _is_null(expr: ir.Expr) -> bool:
    bare = ir.strip_casts(expr)
    return isinstance(bare, ir.IntConst) and bare.value == 0


def _null_results(program: Program, cfa: Cfa, returning: Collection[str]) -> Iterator[tuple[Edge, str]]:
    """The edges that give a pointer of the function's own such a value, each with its name: calls, and the second or third
    operand of `?:`."""
    for edge in cfa.edges:
        match edge.effect:
            case ir.Call(result=ir.Var(name)) if name in tracked(cfa) and _gives_null(program, edge.effect, returning):
                yield edge, name
            case ir.Assign(ir.Var(name, "temporary"), value) if name in tracked(cfa) and _is_null(value):
                yield edge, name


def _gives_null(program: Program, call: ir.Call, returning: Collection[str]) -> bool:
    name = ir.direct_callee(call)
    if name in returning:  # one that is passed a number may return NULL for another number only
        return not any(isinstance(ir.strip_casts(argument), ir.IntConst) for argument in call.arguments)
    function = None if name is None or name in program.functions else program.known(name)
    return function is not None and function.null == "?"


def _is_returned(cfa: Cfa, start: int, name: str) -> bool:
    """Whether a path from a location returns what a variable holds there before anything looks at it."""
    own, waiting = tracked(cfa), [(start, frozenset((name,)))]
    seen = set(waiting)
    while waiting:
        location, names = waiting.pop()
        for edge in cfa.outgoing.get(location, ()):
            if _returns(edge.effect, names):
                return True
            after = (edge.target, _still(edge.effect, names, own))
            if after[1] and after not in seen:
                seen.add(after)
                waiting.append(after)
    return False


def _returns(effect: ir.Effect, names: frozenset[str]) -> bool:
    return isinstance(effect, ir.Return) and effect.value is not None and _variable(effect.value) in names


def _still(effect: ir.Effect, names: frozenset[str], own: frozenset[str]) -> frozenset[str]:
    """The names that hold the value after an effect; none if the effect looks at it."""
    match effect:
        case ir.Assign(ir.Var(target), value) if target in own and _variable(value) in names:
            return names | {target}
        case ir.Unsupported():
            return _NO_NAMES
    read = {one.name for expr in ir.expressions_read(effect) for one in ir.variables(expr)}
    if not read.isdisjoint(names):
        return _NO_NAMES
    assigned = ir.target_of(effect)
    return names - {assigned.name} if isinstance(assigned, ir.Var) else names


def _variable(expr: ir.Expr) -> str:
    bare = ir.strip_casts(expr)
    return bare.name if isinstance(bare, ir.Var) else ""
