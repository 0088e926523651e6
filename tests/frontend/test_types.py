"""Conversions and layout."""

from __future__ import annotations

import pytest

from analysis.frontend.declarations.types import (
    Layout,
    arithmetic_type,
    bit_field_type,
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


def layout(*members: t.Member, kind: str = "struct", model: t.DataModel = t.LP64) -> tuple[Layout, t.Record]:
    definition = t.RecordDefinition("struct s", kind, members)  # type: ignore[arg-type]
    inner = t.RecordDefinition("struct in", "struct", (t.Member("c", t.CHAR), t.Member("d", t.DOUBLE)))
    known = {"struct s": definition, "struct in": inner}
    return Layout(model, known.get), t.Record("struct", "struct s")


def test_records_are_padded() -> None:
    sizes, record = layout(t.Member("a", t.CHAR), t.Member("b", t.INT), t.Member("c", t.CHAR), t.Member("p", t.Pointer(t.VOID)))
    assert sizes.size(record) == 24
    assert [sizes.offset(record, name) for name in "abcp"] == [0, 4, 8, 16]
    assert sizes.alignment(record) == 8
    small, record = layout(t.Member("a", t.CHAR), t.Member("p", t.Pointer(t.VOID)), model=t.ILP32)
    assert small.size(record) == 8


def test_unions_overlap() -> None:
    sizes, record = layout(t.Member("a", t.Array(t.CHAR, 5)), t.Member("b", t.INT), kind="union")
    assert sizes.size(record) == 8
    assert sizes.offset(record, "b") == 0


def test_bit_fields_share_units() -> None:
    sizes, record = layout(t.Member("a", t.INT, 3), t.Member("b", t.INT, 29), t.Member("c", t.INT, 1))
    assert sizes.size(record) == 8
    assert sizes.offset(record, "a") is None


def test_where_bit_fields_are() -> None:
    members = [t.Member("a", t.INT, 3), t.Member("c", t.CHAR), t.Member("b", t.UNSIGNED_INT, 5), t.Member("", t.INT, 0)]
    sizes, record = layout(*members, t.Member("d", t.INT, 9), t.Member("", t.UNSIGNED_INT, 30), t.Member("e", t.CHAR))
    assert [sizes.bit_field(record, name) for name in "abcde"] == [0, 16, None, 32, None]
    assert (sizes.offset(record, "c"), sizes.offset(record, "e"), sizes.size(record)) == (1, 12, 16)


def test_bit_fields_promote_by_their_width() -> None:
    assert promote(bit_field_type(t.UNSIGNED_INT, 31)) == t.INT
    assert promote(bit_field_type(t.UNSIGNED_INT, 32)) == t.UNSIGNED_INT
    assert promote(bit_field_type(t.INT, 32)) == t.INT
    assert promote(bit_field_type(ULONG, 3)) == t.INT
    with pytest.raises(RefusedError):  # gcc computes in 40 bits, clang in 64
        promote(bit_field_type(ULONG, 40))
    assert bit_field_type(t.BOOL, 1) == t.BOOL


def test_members_of_anonymous_records() -> None:
    sizes, record = layout(t.Member("a", t.INT), t.Member("", t.Record("struct", "struct in")))
    assert sizes.offset(record, "d") == 16
    assert sizes.size(record) == 24


def test_incomplete_types_have_no_size() -> None:
    sizes, _ = layout()
    assert sizes.size(t.Record("struct", "struct unknown")) is None
    assert sizes.size(t.Array(t.INT, None)) is None
    assert sizes.size(t.Array(t.Array(t.INT, 3), 2)) == 24
