"""What is known of values at a location: which expressions are zero, or not, and which variables equal what.

A null pointer counts as zero. Only *stable* expressions are spoken of: evaluated again, they give the same as long as nothing is
written that they read (`writes`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from analysis.c.library_variables import STREAMS
from analysis.certificate.nonzero.data_invariants import Always
from analysis.cfa.addresses_taken import taken_by, taken_by_initialisers
from analysis.cfa.graph import Cfa, Global, Program
from analysis.model import ir
from analysis.model.c_types import Integer, Pointer
from analysis.model.kept_with import kept_with

_LEAST_POINTER = 32  # bits
_MOST_POINTER = 64
_MOST_ADDED = 4096  # to a length: so much of the memory is no text
_DEEPEST = 12  # parts of an expression that are looked into
_NOTHING = Always(frozenset())
_STABLE = (ir.Var, ir.Deref, ir.Field, ir.Index, ir.AddressOf, ir.IntConst, ir.StringConst, ir.Unary, ir.Binary, ir.Cast)


class Told(NamedTuple):
    """That an expression is not zero (`nonzero`), or is, where a variable is not zero (`when`), or is."""

    variable: ir.Var
    when: bool
    expr: ir.Expr
    nonzero: bool


class Known(NamedTuple):
    """What is known at a location in one state: stable lvalues that are not zero, those that are, and variables with a stable
    expression that has the same value. `private`, and `unset`, as in `construction`: the variables that are, or lead to, objects
    that nothing else leads to, and the members of these that may not have been set. `unordered`: the groups of operands
    in an open order of which control is in one (`open_orders`). `told`: what results of calls tell of what was passed."""

    nonzero: frozenset[ir.Expr] = frozenset()
    zero: frozenset[ir.Expr] = frozenset()
    equal: frozenset[tuple[ir.Var, ir.Expr]] = frozenset()
    private: frozenset[ir.Var] = frozenset()
    unset: frozenset[ir.Expr] = frozenset()
    unordered: frozenset[tuple[int, int]] = frozenset()
    told: frozenset[Told] = frozenset()

    def covers(self, other: Known) -> bool:
        """Whether all that is known here is known in another state."""
        is_known = self.nonzero <= other.nonzero and self.zero <= other.zero and self.equal <= other.equal
        is_set = self.private <= other.private and self.unset >= other.unset
        return is_known and is_set and self.unordered >= other.unordered and self.told <= other.told

    def merged(self, other: Known) -> Known:
        """What is known in both."""
        return Known(
            self.nonzero & other.nonzero,
            self.zero & other.zero,
            self.equal & other.equal,
            self.private & other.private,
            self.unset | other.unset,
            self.unordered | other.unordered,
            self.told & other.told,
        )

    def expressions(self) -> Iterator[ir.Expr]:
        """All that something is known of."""
        yield from self.nonzero
        yield from self.zero
        for variable, value in self.equal:
            yield variable
            yield value
        for one in self.told:
            yield one.variable
            yield one.expr

    def values(self, lvalue: ir.Expr) -> Iterator[ir.Expr]:
        """The expressions that a variable equals."""
        if isinstance(lvalue, ir.Var):
            yield from (value for variable, value in self.equal if variable == lvalue)


@lru_cache(maxsize=1 << 16)
def is_stable(expr: ir.Expr) -> bool:
    """Whether it depends on nothing but what it reads, and is no floating value."""
    parts = ir.walk(expr)
    if len(parts) > _DEEPEST:
        return False
    return all(isinstance(part, _STABLE) for part in parts) and isinstance(expr.type, Integer | Pointer)


@kept_with
def open_streams(program: Program) -> frozenset[str]:
    """The streams of the library that are open from the start (C11 7.21.1p3), which nothing in the program assigns to, and whose
    address nothing in it names. (Where an initialiser is not known, other variables may be pointed to; these need not even be
    objects.) A program that does not use them may have variables of its own of these names."""
    named = frozenset(name for name in STREAMS.intersection(program.globals) if _is_elsewhere(program.globals[name]))
    changed = taken_by_initialisers(program.globals.values())
    for cfa in program.functions.values() if named else ():
        changed |= _changed_by(cfa)
    return named - changed


@kept_with
def _changed_by(cfa: Cfa) -> frozenset[str]:
    """The variables that a function assigns to, and those with static storage whose address it names."""
    roots = (ir.root(target) for edge in cfa.edges if (target := ir.target_of(edge.effect)) is not None)
    return taken_by(cfa).static.union(root.name for root in roots if isinstance(root, ir.Var))


def _is_elsewhere(variable: Global) -> bool:
    return isinstance(variable.initial, ir.Unknown) and not variable.parts and not variable.open


def constant(known: Known, expr: ir.Expr) -> int | None:
    """The integer that an expression is, if it is known."""
    if isinstance(expr, ir.IntConst):
        return expr.value if isinstance(expr.type, Integer) else None
    if isinstance(expr, ir.Cast) and isinstance(expr.type, Integer) and isinstance(expr.operand.type, Integer):
        inner = constant(known, expr.operand)
        return None if inner is None else ir.IntConst(inner, expr.type).value
    if isinstance(expr, ir.LVALUES) and isinstance(expr.type, Integer):
        if expr in known.zero:
            return 0
        return next((value.value for value in known.values(expr) if isinstance(value, ir.IntConst)), None)
    return None


def is_zero(known: Known, expr: ir.Expr) -> bool:
    """Whether the expression is zero, or null, for certain."""
    return _Values(known, _NOTHING).zero(expr)


def is_nonzero(known: Known, expr: ir.Expr, always: Always) -> bool:
    """Whether the expression is not zero, or not null, for certain."""
    return _Values(known, always).nonzero(expr)


class _Values:
    """What is known of one expression. What a variable equals is looked at once: each use of it could double the work."""

    def __init__(self, known: Known, always: Always) -> None:
        self._known, self._always = known, always
        self._looked_at = set[ir.Var]()

    def zero(self, expr: ir.Expr) -> bool:
        match expr:
            case ir.IntConst(value):
                return value == 0
            case ir.Cast(operand, type_):
                return _is_scalar(operand) and isinstance(type_, Integer | Pointer) and self.zero(operand)
            case ir.Var() | ir.Deref() | ir.Field() | ir.Index():
                return expr in self._known.zero
            case ir.Unary("-", operand):
                return isinstance(operand.type, Integer) and self.zero(operand)
            case ir.Unary("!", operand):
                return _is_scalar(operand) and self.nonzero(operand)
            case _:
                return False

    def nonzero(self, expr: ir.Expr) -> bool:
        match expr:
            case ir.IntConst(value, type_):
                return value % (1 << _LEAST_POINTER) != 0 if isinstance(type_, Pointer) else value != 0
            case ir.StringConst():
                return True
            case ir.AddressOf(lvalue):
                root = ir.root(lvalue)  # an object, or a part of one, is nowhere at null (C11 6.3.2.3p3)
                return self.nonzero(root.pointer) if isinstance(root, ir.Deref) else isinstance(root, ir.Var | ir.StringConst)
            case ir.Cast(operand, type_):
                return _keeps_nonzero(operand, type_) and self.nonzero(operand)
            case ir.Binary() | ir.Unary():
                return self._gives_nonzero(expr)
            case ir.Var() | ir.Deref() | ir.Field() | ir.Index():
                if expr in self._known.nonzero or (isinstance(expr, ir.Var) and self._variable(expr)):
                    return True
                return self._always.holds(expr, self._known.unset)
            case _:
                return False

    def _variable(self, variable: ir.Var) -> bool:
        if variable in self._looked_at:
            return False
        self._looked_at.add(variable)
        return any(not isinstance(value, ir.Var) and self.nonzero(value) for value in self._known.values(variable))

    def _gives_nonzero(self, expr: ir.Binary | ir.Unary) -> bool:
        """Whether an operator gives no zero with these operands. What is added to a pointer leaves it inside its object."""
        match expr:
            case ir.Binary("+" | "-", left, right):
                return isinstance(expr.type, Pointer) and isinstance(right.type, Integer) and self.nonzero(left)
            case ir.Binary("+", left, ir.IntConst(added)) if isinstance(expr.type, Integer) and not expr.type.signed:
                return 0 < added <= _MOST_ADDED and ir.Unary("~", left, left.type) in self._known.nonzero
            case ir.Binary("|", left, right):
                return self.nonzero(left) or self.nonzero(right)
            case ir.Unary("-", operand):
                return isinstance(operand.type, Integer) and self.nonzero(operand)
            case ir.Unary("!", operand):
                return _is_scalar(operand) and self.zero(operand)
            case _:
                return False


def _is_scalar(expr: ir.Expr) -> bool:
    return isinstance(expr.type, Integer | Pointer)


def _keeps_nonzero(operand: ir.Expr, type_: object) -> bool:
    """Whether a conversion gives zero for zero only, on machines of 32 and of 64 bits."""
    match operand.type, type_:
        case Pointer(), Pointer():
            return True
        case ((Integer() | Pointer()), Integer(_, _, "_Bool")):
            return True
        case Integer(before), Integer(after):
            return after >= before
        case Pointer(), Integer(after):
            return after >= _MOST_POINTER
        case Integer(before), Pointer():
            return before <= _LEAST_POINTER
        case _:
            return False
