"""Values that abstract states hold for scalar objects, and C's arithmetic on those that are known.

A value is

- an `int`: the value of an integer, or of a pointer that was made from an integer (null is 0);
- an `Address`: a pointer to a place in an object, or to a function;
- an IR expression over symbolic identifiers ([SYMCEGAR] section 3.2.5): a symbolic value;
- None: any value.

Arithmetic on known integers is that of gcc on two's complement machines: signed overflow wraps (C11 6.5p5 leaves it undefined, so
every result is an over-approximation), what else is undefined (division by zero, shifts too far) gives None.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from analysis.model import ir
from analysis.model.c_types import Floating, Integer, Pointer, Type


class Address(msgspec.Struct, frozen=True, cache_hash=True):
    """The byte `offset` of the object `root` (see `store_memory`); a function by its linkage name, with `&` before it."""

    root: str
    offset: int = 0


Known = int | Address
Value = int | Address | ir.Expr | None


def wrap(value: int, type_: Type) -> int | None:
    """The value brought into the range of an integer or pointer type, modulo its width; None for other types."""
    match type_:
        case Integer(bits, signed, name):
            if name == "_Bool":
                return int(value != 0)
            value &= (1 << bits) - 1
            return value - (1 << bits) if signed and value >> (bits - 1) else value
        case Pointer():
            return value & 0xFFFF_FFFF_FFFF_FFFF
        case _:
            return None


def _quotient(a: int, b: int) -> int | None:
    return None if b == 0 else (abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1)


def _remainder(a: int, b: int) -> int | None:
    quotient = _quotient(a, b)
    return None if quotient is None else a - quotient * b


_EXACT: dict[str, Callable[[int, int], int | None]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _quotient,
    "%": _remainder,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
}

COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
BinaryOperation = Callable[[int, int], int | None]


def binary_operation(operator: str, type_: Type) -> BinaryOperation:
    """The operation on known operands of one type; `type_` is the result's, which is the operands' but for comparisons."""
    if operator in COMPARISONS:
        return _EXACT[operator]
    if not isinstance(type_, Integer | Pointer):
        return lambda a, b: None
    if operator in ("<<", ">>"):
        return _shift(operator, type_)
    exact = _EXACT[operator]
    if isinstance(type_, Integer) and type_.name != "_Bool":
        return _wrapped(exact, type_)

    def apply(a: int, b: int) -> int | None:
        result = exact(a, b)
        return None if result is None else wrap(result, type_)

    return apply


def _wrapped(exact: BinaryOperation, type_: Integer) -> BinaryOperation:
    low = -(1 << (type_.bits - 1)) if type_.signed else 0
    high = (1 << (type_.bits - type_.signed)) - 1

    def apply(a: int, b: int) -> int | None:
        result = exact(a, b)
        if result is None or low <= result <= high:
            return result
        return wrap(result, type_)

    return apply


def _shift(operator: str, type_: Type) -> BinaryOperation:
    bits = type_.bits if isinstance(type_, Integer) else 64

    def apply(a: int, b: int) -> int | None:
        if not 0 <= b < bits:
            return None
        return wrap(a << b, type_) if operator == "<<" else a >> b

    return apply


def unary_operation(operator: str, type_: Type) -> Callable[[int], int | None]:
    """`-`, `~` or `!` on a known operand; `type_` is the result's."""
    match operator:
        case "-":
            return lambda a: wrap(-a, type_)
        case "~":
            return lambda a: wrap(~a, type_)
        case _:
            return lambda a: int(a == 0)


def converted(value: Value, target: Type, pointer_bits: int) -> Known | None:
    """A number or address converted to a type; None if that is not known exactly."""
    if type(value) is int:
        return value & (1 << pointer_bits) - 1 if isinstance(target, Pointer) else wrap(value, target)
    if type(value) is Address and isinstance(target, Pointer | Integer) and bits_of(target, pointer_bits) == pointer_bits:
        return value
    return None


def bits_of(type_: Type, pointer_bits: int) -> int | None:
    """The width of a scalar type's representation; None for other types."""
    match type_:
        case Integer(bits) | Floating(bits):
            return bits
        case Pointer():
            return pointer_bits
        case _:
            return None
