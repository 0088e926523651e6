"""Conversions between types."""

from __future__ import annotations

import pytest

from analysis.frontend.declarations.types import (
    arithmetic_type,
    promote,
    promote_argument,
    same_representation,
)
from analysis.frontend.lowering.refused import RefusedError
from analysis.model import c_types as t

LONG, ULONG = t.LP64.long, t.LP64.unsigned_long
LONG32, ULONG32 = t.ILP32.long, t.ILP32.unsigned_long
COLOUR = t.Integer(32, False, "enum colour")


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (t.CHAR, t.CHAR, t.INT),
        (t.UNSIGNED_SHORT, t.CHAR, t.INT),
        (t.INT, t.UNSIGNED_INT, t.UNSIGNED_INT),
        (LONG, t.UNSIGNED_INT, LONG),
        (LONG32, t.UNSIGNED_INT, ULONG32),
        (ULONG, LONG, ULONG),
        (ULONG, t.LONG_LONG, t.UNSIGNED_LONG_LONG),
        (t.INT, t.DOUBLE, t.DOUBLE),
        (t.FLOAT, t.DOUBLE, t.DOUBLE),
        (COLOUR, t.INT, t.UNSIGNED_INT),
        (t.BOOL, t.BOOL, t.INT),
    ],
)
def test_usual_arithmetic_conversions(left: t.Type, right: t.Type, expected: t.Type) -> None:
    assert arithmetic_type(left, right) == expected
    assert arithmetic_type(right, left) == expected


def test_promotions() -> None:
    assert promote(COLOUR) == t.UNSIGNED_INT
    assert promote(t.UNSIGNED_CHAR) == t.INT
    assert promote(LONG) == LONG
    assert promote_argument(t.FLOAT) == t.DOUBLE


def test_same_representation() -> None:
    assert same_representation(t.Pointer(t.VOID), t.Pointer(t.INT))
    assert same_representation(t.INT, t.UNSIGNED_INT)
    assert not same_representation(t.INT, LONG)
    assert not same_representation(t.CHAR, t.BOOL)
    assert not same_representation(t.Pointer(t.INT), LONG)


def test_bit_fields_promote_by_their_width() -> None:
    assert promote(t.Member("m", t.UNSIGNED_INT, 31).value_type) == t.INT
    assert promote(t.Member("m", t.UNSIGNED_INT, 32).value_type) == t.UNSIGNED_INT
    assert promote(t.Member("m", t.INT, 32).value_type) == t.INT
    assert promote(t.Member("m", ULONG, 3).value_type) == t.INT
    with pytest.raises(RefusedError):  # gcc computes in 40 bits, clang in 64
        promote(t.Member("m", ULONG, 40).value_type)
    assert t.Member("m", t.BOOL, 1).value_type == t.BOOL
