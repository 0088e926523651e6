"""Literals at the edge of what types hold: what compilers differ in is no constant, and none ends a check."""

from __future__ import annotations

import math

import msgspec
import pytest

from analysis.c.formats import scanned
from analysis.frontend.declarations.literal_values import character, float_value, number
from analysis.model import ir
from analysis.model.c_types import DOUBLE, FLOAT, LP64
from tests.support.lowered import unit_of


@pytest.mark.parametrize(
    "text", ["9" * 5000, "18446744073709551616", "9223372036854775808", "3i", "1.0f16", "089", "1'000", "0x1.8"]
)
def test_what_has_no_type_of_the_standard_is_no_number(text: str) -> None:
    assert number(text, LP64) is None


def test_a_float_is_rounded_once() -> None:
    assert float_value("16777217.0000000001f", FLOAT) == 16777218.0
    assert float_value("16777217.0000000001", DOUBLE) == 16777217.0
    assert float_value("0x1.0000010000001p0f", FLOAT) == float.fromhex("0x1.000002p0")
    assert float_value("1" + "0" * 5000 + "e-5000f", FLOAT) == 1.0
    assert math.isinf(float_value("0x1p99999999999999999999f", FLOAT))


@pytest.mark.parametrize(
    ("text", "value"), [("'a'", 97), ("L'a'", 97), ("'\\377'", -1), ("'ab'", 24930), ("L'\\xff'", None), ("u8'a'", None)]
)
def test_characters(text: str, value: int | None) -> None:
    found = character(text, LP64)
    assert (None if found is None else found.value) == value
    assert found is None or isinstance(found, ir.IntConst)


def test_a_character_of_an_unsigned_char() -> None:
    found = character("'\\377'", msgspec.structs.replace(LP64, has_signed_char=False))
    assert found is not None
    assert found.value == 255


@pytest.mark.parametrize(
    "text",
    [
        "int x __attribute__((aligned(N)));",
        "struct s { int a; } __attribute__((aligned(N), vector_size(N)));",
        "#pragma pack(N)\n",
        "#pragma pack(push, N)\n",
        '#line N "other.c"\n',
        '# N "other.c" 1\n',
        "void g(int *) __attribute__((nonnull(N)));",
        "void g(int) __attribute__((constructor(N), alloc_size(N)));",
        "enum e { A = N };",
        "struct s { int a : N; _Alignas(N) int b; };",
        "int g(int a) { switch (a) { case N: return 1; case 1 ... N: return 2; } return N; }",
        "int g(void) { char b[N]; return sizeof b + 0xN; }",
        "double d = 1eN, e = 0x1pN, h = N.N;",
        "char c = '\\xN', s[] = \"\\xN\";",
    ],
)
def test_a_number_of_any_length_loses_no_other_function(text: str) -> None:
    """Python converts no number of over 4,300 digits. What is so large is not understood; all else is."""
    unit = unit_of(text.replace("N", "9" * 6000) + "\nint other(int n) { return n; }\n")
    assert "other" in {one.cfa.name for one in unit.functions}


def test_a_width_of_any_length_is_no_width() -> None:
    assert scanned('"%' + "9" * 6000 + 's"') is None
    assert scanned('"%' + "9" * 10 + 's"') is None
