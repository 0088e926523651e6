"""What the operators of C compute: on two numbers, and on all numbers between bounds.

The functions for one operator and type are made once and asked often. Those on numbers differ in
what they say where C leaves the result undefined: `defined` says nothing, `machine` what gcc's code
computes on every machine.
"""

from __future__ import annotations

from collections.abc import Callable

from analysis.c.bitwise_bounds import bitwise_bounds
from analysis.c.operators import BINARY, UNARY, class_of, fault, row_of, sign_of
from analysis.model.c_types import Integer, Type
from analysis.model.ranges import bounds, width, wrapped

Operation = Callable[[int, int], int | None]
Change = Callable[[int], int | None]
Bounds = tuple[int | None, int | None]


def defined(operator: str, type_: Integer) -> Operation:
    """The result on two values of a type, for a shift of the left one's; None where C leaves it undefined."""
    row = BINARY[operator, sign_of(type_)]
    exact, is_truth = row.exact, row.gives == "int"

    def apply(left: int, right: int) -> int | None:
        if fault(operator, left, right, type_) is not None:
            return None
        result: int = exact(left, right)
        return int(result) if is_truth else wrapped(result, type_)

    return apply


def defined_unary(operator: str, type_: Integer) -> Change:
    """The result of `-` or `~` on a value of the type; None where C leaves it undefined."""
    exact = UNARY[operator, sign_of(type_)].exact
    return lambda value: None if fault(operator, value, None, type_) is not None else wrapped(exact(value), type_)


def machine(operator: str, type_: Type) -> Operation:
    """The result on two values of an integer or pointer type as gcc's code computes it: signed
    overflow wraps. None where a run does not go on, or machines differ: division by zero, the least
    value divided by -1, shifts too far."""
    row = row_of(operator, type_)
    if row is not None and row.gives == "int":
        compare = row.exact
        return lambda left, right: int(compare(left, right))
    if row is None or row.operands == "floating":
        return lambda left, right: None
    exact, (low, high) = row.exact, bounds(type_)
    if row.right == "distance":
        return _machine_shift(exact, type_)
    if row.right == "nonzero":
        return _machine_division(exact, low if row.overflow == "undefined" else None)

    def apply(left: int, right: int) -> int | None:
        result: int = exact(left, right)
        return result if low <= result <= high else wrapped(result, type_)

    return apply


def _machine_shift(exact: Callable[[int, int], int], type_: Type) -> Operation:
    bits = width(type_)
    return lambda left, right: wrapped(exact(left, right), type_) if 0 <= right < bits else None


def _machine_division(exact: Callable[[int, int], int], least: int | None) -> Operation:
    return lambda left, right: None if right == 0 or (right == -1 and left == least) else exact(left, right)


def machine_unary(operator: str, type_: Type) -> Change:
    """The result of `-` or `~` on a value of a type, or of `!` on a number; see `machine`."""
    if operator == "!":
        return lambda value: int(value == 0)
    of = class_of(type_)
    row = None if of is None or of == "floating" else UNARY.get((operator, of))
    if row is None:
        return lambda value: None
    exact = row.exact
    return lambda value: wrapped(exact(value), type_)


def results(operator: str, left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
    """Bounds of the exact results of `+`, `-`, `*`, `&`, `|` or `^`, for operands between bounds. Raises KeyError for others."""
    (low, high), (least, most) = left, right
    match operator:
        case "+":
            return low + least, high + most
        case "-":
            return low - most, high - least
        case "*":
            corners = (low * least, low * most, high * least, high * most)
            return min(corners), max(corners)
        case "&" | "|" | "^":
            return bitwise_bounds(operator, left, right)
    raise KeyError(operator)


def compared(operator: str, left: Bounds, right: Bounds) -> bool | None:
    """Whether a comparison holds of all numbers between two bounds (None: unbounded), or of none of
    them; None: neither."""
    (low, high), (least, most) = left, right
    match operator:
        case "==" | "!=":
            same = _equal(left, right)
            return same if operator == "==" or same is None else not same
        case ">" | ">=":
            return compared("<" if operator == ">" else "<=", right, left)
    is_strict = operator == "<"
    if high is not None and least is not None and (high < least or (not is_strict and high == least)):
        return True
    if low is not None and most is not None and (low > most or (is_strict and low == most)):
        return False
    return None


def _equal(left: Bounds, right: Bounds) -> bool | None:
    (low, high), (least, most) = left, right
    if high is not None and least is not None and high < least:
        return False
    if low is not None and most is not None and low > most:
        return False
    return True if low is not None and low == high == least == most else None
