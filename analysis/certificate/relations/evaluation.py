"""The terms that expressions have at a location, and differences of integers that follow from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from analysis.certificate.nonzero.writes import Objects, Place
from analysis.certificate.relations.differences import ZERO, Difference, Differences
from analysis.certificate.relations.relation_state import (
    RelationState,
    fits,
    is_followed,
    is_in_frame,
    is_of_entry,
    now,
)
from analysis.model import ir
from analysis.model.c_types import Integer, Pointer
from analysis.model.comparisons import COMPARISONS
from analysis.model.ranges import bounds, wrapped

Linear = tuple[ir.Expr, int]
"""A term and a number that is added to it, without overflow."""
_FOLDED = {"+": lambda one, other: one + other, "-": lambda one, other: one - other, "*": lambda one, other: one * other}


class Evaluation:
    """Terms in one state. `objects`: which objects lvalues of the function are. `own`: the variables that only its own edges
    change. `given`: what is passed, where expressions are those of a called function's entry."""

    def __init__(
        self, objects: Objects, own: frozenset[str], state: RelationState, given: Mapping[str, ir.Expr] | None = None
    ) -> None:
        self._objects, self._own, self._state, self._given = objects, own, state, given
        self.differences = Differences(state.differences)

    def term(self, expr: ir.Expr) -> ir.Expr | None:
        """A term of the same value; None if there is none. It may speak of what variables hold now."""
        if not is_followed(expr.type):
            return None
        match expr:
            case ir.IntConst():
                return expr
            case ir.Var() | ir.Deref() | ir.Field() | ir.Index():
                return self._held(expr)
            case ir.AddressOf(lvalue, type_):
                place = self.place(lvalue)
                return None if place is None else fits(ir.AddressOf(place, type_))
            case ir.Cast(operand, type_):
                return self._cast(self.term(operand), type_)
            case ir.Unary(operator, operand, type_):
                inner = self.term(operand)
                return None if inner is None else fits(ir.Unary(operator, inner, type_))
            case ir.Binary(operator, left, right, type_):
                return self._binary(operator, self.term(left), self.term(right), type_)
        return None

    def place(self, lvalue: ir.Expr) -> ir.Expr | None:
        """An lvalue by what was there at the entry; None if that is not known. Parameters are no places: their names are what
        they held."""
        match lvalue:
            case ir.Var(_, scope):
                is_frame = scope in ("local", "temporary") and self._given is None
                return lvalue if scope in ("global", "function") or is_frame else None
            case ir.Deref(pointer, type_):
                term = self.term(pointer)
                if isinstance(term, ir.AddressOf):
                    return term.lvalue if term.lvalue.type == type_ else None
                return ir.Deref(term, type_) if term is not None and is_of_entry(term) else None
            case ir.Field(record, name, type_):
                inner = self.place(record)
                return None if inner is None else fits(ir.Field(inner, name, type_))
            case ir.Index(array, index, type_):
                inner, at = self.place(array), self.term(index)
                is_known = inner is not None and at is not None and is_of_entry(at)
                return fits(ir.Index(inner, at, type_)) if is_known and inner is not None and at is not None else None
        return None

    def held(self, place: ir.Expr) -> ir.Expr | None:
        """What an object holds, as `place` names it."""
        known = self._state.values.get(place)
        if known is not None or is_in_frame(place):
            return known
        where = self._objects.place(place)
        is_same = isinstance(where, Place) and not any(where.meets(one) for one in self._state.written)
        return place if is_same else None

    def _held(self, lvalue: ir.Expr) -> ir.Expr | None:
        if isinstance(lvalue, ir.Var) and lvalue.scope == "parameter" and self._given is not None:
            return self._given.get(lvalue.name)
        if isinstance(lvalue, ir.Var) and lvalue.name in self._own and lvalue.scope != "global":
            return self._state.values.get(lvalue) or now(lvalue)
        if isinstance(lvalue, ir.Var) and lvalue.scope == "parameter":
            return self._state.values.get(lvalue)
        place = self.place(lvalue)
        return None if place is None else self.held(place)

    def _cast(self, term: ir.Expr | None, type_: Integer | Pointer | object) -> ir.Expr | None:
        if term is None or not isinstance(type_, Integer | Pointer):
            return None
        if isinstance(term, ir.IntConst) and isinstance(term.type, Integer) and isinstance(type_, Integer):
            return ir.IntConst(wrapped(term.value, type_), type_)
        return term if term.type == type_ else fits(ir.Cast(term, type_))

    def _binary(self, operator: str, left: ir.Expr | None, right: ir.Expr | None, type_: object) -> ir.Expr | None:
        if left is None or right is None or not isinstance(type_, Integer | Pointer):
            return None
        is_number = isinstance(left, ir.IntConst) and isinstance(right, ir.IntConst) and isinstance(type_, Integer)
        if is_number and operator in _FOLDED and isinstance(left, ir.IntConst) and isinstance(right, ir.IntConst):
            return ir.IntConst(wrapped(_FOLDED[operator](left.value, right.value), type_), type_)
        if isinstance(type_, Integer) and isinstance(right, ir.IntConst) and operator in ("+", "-"):
            left, right, operator = _summed(left, right.value if operator == "+" else -right.value, type_)
            if right.value == 0:
                return left
        found = ir.Binary(operator, left, right, type_)  # type: ignore[arg-type]
        return fits(found)

    # -- numbers ------------------------------------------------------------------------------------------------

    def linear(self, term: ir.Expr | None) -> Linear | None:
        """An integer as a term and a number; None for what is no integer."""
        if term is None or not isinstance(term.type, Integer):
            return None
        inner: Linear | None = None
        match term:
            case ir.IntConst(value):
                return ZERO, value
            case ir.Cast(operand):
                inner = self.linear(operand)
            case ir.Binary("+", left, ir.IntConst(value)) | ir.Binary("+", ir.IntConst(value), left):
                inner = self.linear(left)
                inner = None if inner is None else (inner[0], inner[1] + value)
            case ir.Binary("-", left, ir.IntConst(value)):
                inner = self.linear(left)
                inner = None if inner is None else (inner[0], inner[1] - value)
        if inner is not None and self._is_within(inner, term.type):
            return inner
        return term, 0

    def _is_within(self, linear: Linear, type_: Integer) -> bool:
        least, greatest = self.differences.range(linear[0])
        low, high = bounds(type_)
        return least is not None and greatest is not None and low <= least + linear[1] and greatest + linear[1] <= high

    def assumed(self, condition: ir.Expr, *, truth: bool) -> Iterator[Difference]:
        """The differences that follow from a condition."""
        match condition:
            case ir.Unary("!", operand):
                yield from self.assumed(operand, truth=not truth)
            case ir.Binary("!=" | "==" as operator, left, ir.IntConst(0)) if _is_truth(left):
                yield from self.assumed(left, truth=truth == (operator == "!="))
            case ir.Binary(operator, left, right) if operator in COMPARISONS:
                one, other = self.linear(self.term(left)), self.linear(self.term(right))
                if one is not None and other is not None:
                    yield from self._compared(operator, one, other, truth=truth)
            case _ if isinstance(condition.type, Integer):
                one = self.linear(self.term(condition))
                if one is not None:
                    yield from self._compared("!=", one, (ZERO, 0), truth=truth)

    def _compared(self, operator: str, one: Linear, other: Linear, *, truth: bool) -> Iterator[Difference]:
        (left, added), (right, also) = one, other
        apart = also - added  # left - right is compared with this
        match operator, truth:
            case ("<", True) | (">=", False):
                yield Difference(left, right, apart - 1)
            case ("<=", True) | (">", False):
                yield Difference(left, right, apart)
            case (">", True) | ("<=", False):
                yield Difference(right, left, -apart - 1)
            case (">=", True) | ("<", False):
                yield Difference(right, left, -apart)
            case ("==", True) | ("!=", False):
                yield Difference(left, right, apart)
                yield Difference(right, left, -apart)
            case _:
                if self.differences.most(left, right) == apart:
                    yield Difference(left, right, apart - 1)
                if self.differences.most(right, left) == -apart:
                    yield Difference(right, left, -apart - 1)

    def equal(self, variable: ir.Expr, value: Linear, others: Iterable[ir.Expr]) -> Iterator[Difference]:
        """The differences of a variable that gets a value and other terms."""
        term, added = value
        for other in others:
            above, below = self.differences.most(term, other), self.differences.most(other, term)
            if above is not None:
                yield Difference(variable, other, above + added)
            if below is not None:
                yield Difference(other, variable, below - added)


def _summed(term: ir.Expr, added: int, type_: Integer) -> tuple[ir.Expr, ir.IntConst, str]:
    """A sum with a number, in one step: as it wraps, the order does not matter."""
    while (
        isinstance(term, ir.Binary) and term.operator in ("+", "-") and isinstance(term.right, ir.IntConst) and term.type == type_
    ):
        added += term.right.value if term.operator == "+" else -term.right.value
        term = term.left
    return term, ir.IntConst(abs(added), type_), "+" if added >= 0 else "-"


def _is_truth(expr: ir.Expr) -> bool:
    """Whether an expression is 0 or 1 by its operator."""
    is_comparison = isinstance(expr, ir.Binary) and expr.operator in COMPARISONS
    return is_comparison or (isinstance(expr, ir.Unary) and expr.operator == "!")
