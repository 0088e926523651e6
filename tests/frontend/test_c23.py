"""The class: text that means something else in C23 than in C11. What is only C23 has its meaning there; what both have, and mean
otherwise, is not understood."""

from __future__ import annotations

import pytest

from analysis.interpreter.outcome import Returned
from analysis.model import ir
from analysis.model.c_types import INT
from tests.support.lowered import cfa_of, unit_of
from tests.support.runs import run_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("int main(void) { return sizeof(true) * 10 + sizeof(false); }", 11),
        ("int main(void) { return true + true; }", 2),
        ("int main(void) { return sizeof(!true) * 10 + sizeof(true + 1); }", 44),
        ("enum b { true, false }; int main(void) { return sizeof(true) * 10 + true; }", 40),
        ("int main(void) { int true = 3, nullptr = 4; return true * 10 + nullptr; }", 34),
    ],
)
def test_truth_values_are_bool_where_the_program_has_no_such_names(text: str, value: int) -> None:
    assert run_of(text).end == Returned(value)


@pytest.mark.parametrize(
    "text",
    [
        'int f(void) { return u8"\\xff"[0] < 0; }',
        "int f(void) { alignas(16) char c; return sizeof(c); }",
        "int f(void) { struct s { alignas(16) char c; }; return sizeof(struct s); }",
        "alignas(16) char g; int f(void) { return sizeof(g); }",
        "int f(void) { return sizeof(3wb); }",
        "int f(void) { return 1'000; }",
    ],
)
def test_what_is_not_understood(text: str) -> None:
    assert cfa_of(text).unsupported


@pytest.mark.parametrize("member", ["alignas(16) char c;", "char alignas(16) c;"])
def test_a_record_with_aligned_members_has_no_size(member: str) -> None:
    assert [edge.effect for edge in cfa_of(f"struct s {{ {member} }}; int f(void) {{ return sizeof(struct s); }}").edges] == [
        ir.Return(ir.Unknown(INT))
    ]


@pytest.mark.parametrize(
    "text", ["int f(void) { auto x = 5L; return sizeof(x); }", "auto x = 5L; int f(void) { return sizeof(x); }"]
)
def test_a_type_that_is_inferred_is_not_int(text: str) -> None:
    unit = unit_of(text)
    assert unit.broken or cfa_of(text).unsupported
