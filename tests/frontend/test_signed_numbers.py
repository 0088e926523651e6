"""A sign between `sizeof(T)` and a number is an operator, also where nothing stands between (C11 6.5.3p1, 6.5.6).

The class: the grammar takes a sign into a number, so that what is before it reads as a cast."""

from __future__ import annotations

import pytest

from analysis.frontend.syntax.parser import parse
from analysis.frontend.syntax.signed_numbers import as_names
from analysis.model import ir
from tests.support.lowered import edges_of, unit_of

SIZES = [
    ("sizeof(int)-4", 0),
    ("sizeof(int)+1", 5),
    ("sizeof (char *) -1", 7),
    ("(int)sizeof(struct s)-5", 3),
    ("2*sizeof(int)-1*3", 5),
    ("sizeof(int)-4*2+10", 6),
    ("sizeof(unsigned char)-0x1u", 0),
    ("sizeof(int[2])-1", 7),
    ("sizeof(int)-sizeof(char)-1", 2),
    ("sizeof(word)-1", 1),
    ("sizeof(char (*)[3])-1", 7),
    ("sizeof n-1", 3),
    ("SIX+sizeof(struct less)-1", 9),
]


@pytest.mark.parametrize(("written", "value"), SIZES)
def test_what_is_added_to_a_size_is_no_operand_of_it(written: str, value: int) -> None:
    (function,) = unit_of(
        "struct s { char a; int b; }; typedef short word; enum { SIX = sizeof(struct s)-2 };"
        f"struct less {{ char a[sizeof(int)-1], b[1]; }}; unsigned long f(int n) {{ return {written}; }}"
    ).functions
    (returned,) = (edge.effect for edge in function.cfa.edges)
    assert isinstance(returned, ir.Return)
    assert returned.value is not None
    assert isinstance(ir.strip_casts(returned.value), ir.IntConst)
    assert ir.strip_casts(returned.value) == ir.IntConst(value, ir.strip_casts(returned.value).type)


def test_what_is_left_as_it_reads_is_not_understood() -> None:
    for written in (
        "sizeof(int)-1.5",
        "sizeof(char[sizeof(int)-1])-1",
        "({ switch (n) { case 1 ... sizeof(int)-1: n = 2; } n; })",
    ):
        assert "sizeof in front of a number" in edges_of(f"double f(int n) {{ return {written}; }}")


def test_an_edit_of_the_number_is_seen() -> None:
    before, after = (f"int f(void) {{ return sizeof(int)-{number}; }}".encode() for number in (4, 31))
    assert str(parse(after, parse(before)).root) == str(parse(after).root)
    assert as_names(after) == after.replace(b"31", b"_1")
    assert as_names(b'char *s = "sizeof(int)-1"; int n = sizeof(int) - 1;').count(b"_") == 0
