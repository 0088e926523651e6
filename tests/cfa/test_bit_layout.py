"""The one walk over the scalars of a type: what it does at unions, with bit-fields, within a range, and where there are none."""

import pytest
from support.walked_paths import program_of

from analysis.cfa.bit_layout import BitLayout
from analysis.model.c_types import LP64

TEXT = """
struct inner { char c; short s[2]; };
struct s { int a : 3, : 4, b : 5; union { char first; long largest; } u; struct inner i[2]; int *p; _Bool f : 1; };
struct s variable;
struct nothing {};
struct nothing many[1 << 30];
struct holder { struct { union { int i; } u; } of[1000][1000][1000]; } *holder;
int f(void) { return 0; }
"""
INNER = [(64 * 2 + 48 * n + at, width) for n in range(2) for at, width in ((0, 8), (16, 16), (32, 16))]


@pytest.fixture(scope="module")
def program():
    return program_of(TEXT)


@pytest.mark.parametrize(("union", "held"), [("largest", [(64, 64)]), ("first", [(64, 8)]), ("none", [])])
def test_a_union_is_what_the_asker_says(program, union, held):
    bits = BitLayout.of(program, LP64)
    expected = [(0, 3), (7, 5), *held, *INNER, (256, 64), (320, 1)]
    leaves = bits.leaves(program.globals["variable"].var.type, union)
    assert leaves is not None
    assert [(bit, bits.size(type_)) for bit, type_ in leaves] == expected


def test_within_a_range_are_those_that_have_bits_in_it(program):
    bits, type_ = BitLayout.of(program, LP64), program.globals["variable"].var.type
    every = [part for part in bits.parts(type_, "largest") if part is not None]
    for low in range(0, 384, 8):
        for high in range(low + 8, 392, 16):
            inside = {p for p in every if not p.is_bit_field and p.bit < high and p.bit + (bits.size(p.type) or 0) > low}
            assert {p for p in bits.parts(type_, "largest", 0, (low, high)) if p is not None and not p.is_bit_field} == inside


def test_elements_without_scalars_are_not_counted_one_by_one(program):
    bits = BitLayout.of(program, LP64)
    assert bits.leaves(program.globals["many"].var.type) == ()
    assert bits.leaves(program.globals["holder"].var.type.target, "none") == ()
