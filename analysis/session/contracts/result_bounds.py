"""What is said of the bounds of a result."""

from __future__ import annotations

import re

from analysis.certificate.ranges.bounded_values import Range
from analysis.model.c_types import Type
from analysis.model.ranges import bounds
from analysis.session.contracts.function_contract import Clause, Status

_SAID = re.compile(r"(always returns|returns( at (least|most))?) -?[0-9]+( (or|to) -?[0-9]+)?")
_LARGE = 1 << 31
_NEAR = 8  # of the values of the type, in powers of two
_FROM = "all that it returns, where no signed computation overflows"


def telling(found: Range | None, type_: Type) -> Range | None:
    """Bounds without those that are so near to the limit of a large type that they tell nobody anything; None if none is left."""
    if found is None:
        return None
    (low, high), (least, most) = found, bounds(type_)
    near = (most - least) >> _NEAR if most - least >= _LARGE else 0
    kept = least if low - least <= near else low, most if most - high <= near else high
    return None if kept == (least, most) else kept


def is_bounds(text: str) -> bool:
    """Whether a clause has this text because of bounds of the result."""
    return _SAID.fullmatch(text) is not None


def bounded_clause(found: Range, type_: Type, status: Status) -> Clause:
    """The clause for bounds that say more than the type."""
    (low, high), (least, most) = found, bounds(type_)
    if low == high:
        return Clause(f"always returns {low}", f"result == {low}", status, _FROM)
    if high == low + 1:
        return Clause(f"returns {low} or {high}", f"result == {low} || result == {high}", status, _FROM)
    if low > least and high < most:
        return Clause(f"returns {low} to {high}", f"{low} <= result && result <= {high}", status, _FROM)
    if low > least:
        return Clause(f"returns at least {low}", f"result >= {low}", status, _FROM)
    return Clause(f"returns at most {high}", f"result <= {high}", status, _FROM)
