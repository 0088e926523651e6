"""When an edge fails: the conditions of undefined behaviour and of failed assertions, at the current point of a path.

The operations of an edge are looked at one by one, in the order of evaluation. Each fails if its operands can be evaluated and
their values are bad. An lvalue is one access, of what is read or written, however many members and elements it goes through; what
only has its address taken is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from analysis.c.blocks import ENDING
from analysis.c.control import FAILED_ASSERTIONS
from analysis.c.failing import ends_object
from analysis.c.operators import rules_of
from analysis.c.undefined import OperatorRule
from analysis.cfa.graph import Edge
from analysis.model import ir
from analysis.model.c_types import Array, Floating, Integer, Pointer
from analysis.model.spelling import spell_expr
from analysis.smt.encoding.numbers.formula import Condition, FailureKind, Formula
from analysis.smt.encoding.numbers.operator_faults import fault
from analysis.smt.encoding.paths.path_state import State
from analysis.smt.encoding.storage.content import ANY_TAG
from analysis.smt.encoding.storage.regions import Spot
from analysis.smt.logic import linear
from analysis.smt.logic.term_building import FALSE, TRUE, and_, constant_of, eq, not_, or_
from analysis.smt.logic.terms import Term, subterms


class Operation(NamedTuple):
    """An expression that is evaluated: an lvalue that is read or written, or an operator that is computed."""

    expr: ir.Expr
    role: Literal["read", "write", "value"]


Finder = Callable[[State, Operation], tuple[Term, str] | None]


class Failures:
    """Conditions of failure in one state, which is not changed."""

    def __init__(self, state: State) -> None:
        self._state = state

    def condition(self, edge: Edge, kind: FailureKind) -> Condition | None:
        """See PathEncoder.condition_at."""
        if kind == "assertion":
            return self._assertion(edge)
        if kind in ("double-free", "invalid-free"):
            return self._free(edge, kind)
        finder = _FINDERS[kind]
        found: list[Term] = []
        text = ""
        approximations, assumptions = list(self._state.ledger.approximations), list(self._state.ledger.assumptions)
        for operation in operations(edge.effect):
            if not _applies(kind, operation):
                continue
            state = self._state.fork()
            before = len(state.ledger.constraints)
            failure = finder(state, operation)
            if failure is None or failure[0] is FALSE:
                continue
            found.append(and_(*state.ledger.constraints[before:], failure[0]))
            text = text or failure[1]
            approximations += [s for s in state.ledger.approximations if s not in approximations]
            assumptions += [s for s in state.ledger.assumptions if s not in assumptions]
        if not found:
            return None
        conjuncts = (*self._state.ledger.constraints, or_(*found))
        return Condition(kind, Formula(conjuncts, tuple(approximations), tuple(assumptions)), text)

    def reaches_unknown(self, edge: Edge) -> bool:
        """See PathEncoder.reaches_unknown."""
        for operation in operations(edge.effect):
            if operation.role == "value" or isinstance(operation.expr, ir.Var):
                continue
            state = self._state.fork()  # in which objects may come to be
            spots = _accessed(state, operation.expr)
            if any(spot.region == 0 or state.memory.size(spot.region) is None for _, spot in spots):
                return True
        return False

    def ends_unknown(self, edge: Edge) -> bool:
        """See PathEncoder.ends_unknown."""
        call = edge.effect
        if not isinstance(call, ir.Call) or ir.direct_callee(call) not in ENDING or not call.arguments:
            return False
        state = self._state.fork()
        memory, pointer = state.memory, state.places.expressions.value(call.arguments[0])
        known = {0, *memory.given_outside}
        cases = [(condition, term) for condition, term in memory.cases(pointer) if not known & {term, constant_of(term)}]
        return any(spot.region == 0 for condition, term in cases for _, spot in memory.resolve_case(condition, term, ANY_TAG))

    def reached_variables(self, edge: Edge) -> set[tuple[str, str]]:
        """See PathEncoder.reached_variables."""
        state = self._state.fork()
        variables = {number: (frame.cfa.name, name) for frame in state.frames for name, number in frame.variables.items()}
        regions: set[int | None] = set()
        for operation in operations(edge.effect):
            if _dereferenced(operation) is not None:
                regions.update(spot.region for _, spot in _accessed(state, operation.expr))
        for argument in edge.effect.arguments if isinstance(edge.effect, ir.Call) else ():
            inner = ir.strip_casts(argument)
            is_here = isinstance(inner, ir.AddressOf) and isinstance(ir.root(inner.lvalue), ir.Var)
            if isinstance(argument.type, Pointer) and not is_here:
                regions |= state.memory.objects_of(state.places.expressions.value(argument))
        if None in regions:
            return set(variables.values())
        return {variables[region] for region in regions if region in variables}

    def _assertion(self, edge: Edge) -> Condition | None:
        name = ir.direct_callee(edge.effect) if isinstance(edge.effect, ir.Call) else None
        if name not in FAILED_ASSERTIONS:
            return None
        ledger = self._state.ledger
        return Condition("assertion", Formula(tuple(ledger.constraints), ledger.approximations, ledger.assumptions), f"{name}()")

    def _free(self, edge: Edge, kind: FailureKind) -> Condition | None:
        call = edge.effect
        if not isinstance(call, ir.Call) or ir.direct_callee(call) not in ENDING or not call.arguments:
            return None
        state = self._state.fork()
        pointer = state.places.expressions.value(call.arguments[0])
        failure = _bad_free(state, pointer, kind)
        if failure is FALSE:
            return None
        ledger = state.ledger
        text = f"{spell_expr(call.arguments[0])} {'was freed before' if kind == 'double-free' else 'is no allocated block'}"
        return Condition(kind, Formula((*ledger.constraints, failure), ledger.approximations, ledger.assumptions), text)


def operations(effect: ir.Effect) -> Iterator[Operation]:
    """What an edge evaluates, operands first."""
    for value in ir.values_of(effect):
        yield from _values(value)
    target = ir.target_of(effect)
    if target is not None:
        yield from _reached(target)
        yield Operation(target, "write")


def _values(expr: ir.Expr) -> Iterator[Operation]:
    """What the value of an expression needs."""
    if isinstance(expr, ir.LVALUES):
        yield from _reached(expr)
        yield Operation(expr, "read")
    elif isinstance(expr, ir.AddressOf):
        yield from _reached(expr.lvalue)
    else:
        for operand in ir.operands(expr):
            yield from _values(operand)
        if isinstance(expr, ir.Unary | ir.Binary):
            yield Operation(expr, "value")


def _reached(lvalue: ir.Expr) -> Iterator[Operation]:
    """What telling the place of an lvalue needs."""
    match lvalue:
        case ir.Field(record):
            yield from _reached(record)
        case ir.Index(array, index):
            yield from _reached(array)
            yield from _values(index)
        case ir.Deref(pointer):
            yield from _values(pointer)


def _bad_free(state: State, pointer: Term, kind: FailureKind) -> Term:
    memory = state.memory
    failures: list[Term] = []
    for condition, term in memory.cases(pointer):
        if constant_of(term) == 0:
            continue
        failures.append(and_(condition, is_undefined(state, term)))  # it need not lead to any block
        for inner, spot in memory.resolve_case(condition, term, ANY_TAG):
            if spot.region == 0:
                freed = [and_(when, eq(other, term)) for when, other in memory.freed_outside]
                if kind == "double-free":
                    failures.append(and_(inner, or_(*freed)))
                continue
            is_heap = memory.regions[spot.region].kind == "heap"
            at_start = _is_start(state, spot)
            if kind == "double-free":
                failures.append(and_(inner, at_start, not_(memory.alive(spot.region))) if is_heap else FALSE)
            else:
                failures.append(and_(inner, not_(at_start)) if is_heap else inner)
    return or_(*failures)


def _is_start(state: State, spot: Spot) -> Term:
    offset = state.memory.fills.offset(spot.bits // 8)
    return eq(offset if spot.symbolic is None else linear.add(offset, spot.symbolic), state.memory.fills.offset(0))


def _applies(kind: FailureKind, operation: Operation) -> bool:
    """Whether an operation can fail so, by its form: a quick answer for most."""
    expr = operation.expr
    match kind:
        case "null-dereference" | "use-after-free" | "use-after-scope":
            return _dereferenced(operation) is not None
        case "array-bounds":
            return operation.role != "value" and not isinstance(expr, ir.Var)
        case "uninitialized-read":
            return operation.role == "read"
    return kind in rules_of(expr)


# -- finders: that an operation fails, after its operands were evaluated in the state ------------------------------------


def _dereferenced(operation: Operation) -> ir.Expr | None:
    """The pointer that an access goes through; None for accesses of variables, and for what is no access."""
    root = ir.root(operation.expr)
    return root.pointer if isinstance(root, ir.Deref) and operation.role != "value" else None


def _null(state: State, operation: Operation) -> tuple[Term, str] | None:
    pointer = _dereferenced(operation)
    if pointer is None:
        return None
    while isinstance(pointer, ir.Binary) and isinstance(pointer.left.type, Pointer):
        pointer = pointer.left
    value = state.places.expressions.value(pointer)
    return eq(value, state.memory.fills.offset(0)), f"{spell_expr(pointer)} is null"


def _accessed(state: State, expr: ir.Expr) -> list[tuple[Term, Spot]]:
    return list(state.places.spots(expr, state.places.tag(expr)))


def _out_of_bounds(state: State, operation: Operation) -> tuple[Term, str] | None:
    expr = operation.expr
    if operation.role == "value":
        return None
    failures = _bad_indices(state, expr)
    width = state.memory.layout.bytes(expr.type)
    if width is not None and not _is_inside_by_indices(expr):
        size = state.memory.fills.offset(width)
        failures += [and_(condition, outside(state, spot, size)) for condition, spot in _accessed(state, expr)]
    return or_(*failures), f"{spell_expr(expr)} is outside of its object"


def _is_inside_by_indices(lvalue: ir.Expr) -> bool:
    """Whether an lvalue is inside its object if its indices are those of elements. The object that a pointer leads to can be
    smaller than the type says."""
    arrays = [step.array.type for step in ir.steps(lvalue) if isinstance(step, ir.Index)]
    return isinstance(ir.root(lvalue), ir.Var) and all(isinstance(array, Array) and array.length for array in arrays)


def _bad_indices(state: State, lvalue: ir.Expr) -> list[Term]:
    """The condition that the indices that an lvalue goes through are not those of elements, where arrays are
    as long as they are declared."""
    failures: list[Term] = []
    while isinstance(lvalue, ir.Field | ir.Index):
        if isinstance(lvalue, ir.Field):
            lvalue = lvalue.record
            continue
        length = lvalue.array.type.length if isinstance(lvalue.array.type, Array) else None
        if length:
            index, type_ = state.places.expressions.value(lvalue.index), lvalue.index.type
            failures.append(state.arithmetic.compare("<", index, state.arithmetic.constant(0, type_), type_))
            if not ends_object(lvalue.array, state.memory.layout.records.get):
                failures.append(state.arithmetic.compare(">=", index, state.arithmetic.constant(length, type_), type_))
        lvalue = lvalue.array
    return failures


def outside(state: State, spot: Spot, width: Term) -> Term:
    """The condition that an access of some bytes, as many as `width` says, leaves its object; an object of
    unknown size is never left."""
    size = state.memory.size(spot.region)
    if spot.region == 0 or size is None:
        return FALSE
    if spot.symbolic is None and spot.bits < 0:
        return TRUE
    offset = state.memory.fills.offset(spot.bits // 8)
    if spot.symbolic is not None:
        offset = linear.add(offset, spot.symbolic)
    signed = Integer(state.model.pointer_bits, True, "long")
    end = linear.add(offset, width)
    compare = state.arithmetic.compare
    below, beyond = compare("<", offset, state.memory.fills.offset(0), signed), compare(">", end, size, signed)
    if constant_of(width) is None:  # so many bytes that the sum wraps
        beyond = or_(beyond, compare(">", width, size, state.size_type))
    return or_(below, beyond)


def _freed(state: State, operation: Operation) -> tuple[Term, str] | None:
    pointer = _dereferenced(operation)
    if pointer is None:
        return None
    memory = state.memory
    failures = list(_gone(state, operation.expr, variables=False))
    if memory.freed_outside:
        value = state.places.expressions.value(pointer)
        failures += [and_(when, eq(freed, value)) for when, freed in memory.freed_outside]
    return or_(*failures), f"what {spell_expr(pointer)} points to is freed"


def _left(state: State, operation: Operation) -> tuple[Term, str] | None:
    pointer = _dereferenced(operation)
    if pointer is None:
        return None
    return or_(*_gone(state, operation.expr, variables=True)), f"the variable that {spell_expr(pointer)} points to is gone"


def _gone(state: State, expr: ir.Expr, *, variables: bool) -> Iterator[Term]:
    """The condition that what is accessed is no more: one of the variables of functions that have returned, or anything else."""
    for condition, spot in _accessed(state, expr):
        if is_variable(state, spot) == variables:
            yield and_(condition, not_(state.memory.alive(spot.region)))


def is_variable(state: State, spot: Spot) -> bool:
    """Whether a place is in an object that goes with the function that made it."""
    return spot.region != 0 and state.memory.regions[spot.region].kind in ("local", "stack")


def _faulty(rule: OperatorRule, say: Callable[[ir.Expr], str]) -> Finder:
    """That an operator violates the rule; `say` says it."""

    def find(state: State, operation: Operation) -> tuple[Term, str] | None:
        if rule not in rules_of(operation.expr):
            return None
        return fault(state.arithmetic, rule, operation.expr, state.places.expressions.value), say(operation.expr)

    return find


def _bad_distance(expr: ir.Expr) -> str:
    return f"{spell_expr(_right(expr))} is negative or not less than {getattr(expr.type, 'bits', 0)}"


def _right(expr: ir.Expr) -> ir.Expr:
    return expr.right if isinstance(expr, ir.Binary) else expr


def _uninitialised(state: State, operation: Operation) -> tuple[Term, str] | None:
    if operation.role != "read" or not isinstance(operation.expr.type, Integer | Pointer | Floating):
        return None
    value = state.places.read(operation.expr)
    return is_undefined(state, value), f"{spell_expr(operation.expr)} was never set"


def is_undefined(state: State, value: Term) -> Term:
    """The condition that a value was read from an object without an initialiser, or was computed
    from such a value."""
    if value.op == "ite":
        condition, then, otherwise = value.args
        return or_(and_(condition, is_undefined(state, then)), and_(not_(condition), is_undefined(state, otherwise)))
    inputs = state.memory.fills.inputs
    return TRUE if any(part in inputs and inputs[part].kind == "undefined" for part in subterms((value,))) else FALSE


_FINDERS: dict[str, Finder] = {
    "null-dereference": _null,
    "array-bounds": _out_of_bounds,
    "use-after-free": _freed,
    "use-after-scope": _left,
    "division-by-zero": _faulty("division-by-zero", lambda expr: f"{spell_expr(_right(expr))} is 0"),
    "shift-range": _faulty("shift-range", _bad_distance),
    "signed-overflow": _faulty("signed-overflow", lambda expr: f"{spell_expr(expr)} overflows"),
    "uninitialized-read": _uninitialised,
}
