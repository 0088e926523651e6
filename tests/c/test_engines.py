"""All engines agree with gcc's code about operators on corner values: each is asked whether the result can be another one, and
whether it can be this one.

The class: an engine that follows another table than `analysis.c`. A few operations are asked about; at night some of each row.
"""

from __future__ import annotations

import os

import pytest

from analysis.c.operators import BINARY
from analysis.model.comparisons import COMPARISONS
from benchmarks.agreement import Expression, Value, judged
from tests.support.operator_cases import Case, measured

NIGHTLY = bool(os.environ.get("EVERPROOF_NIGHTLY"))
CASES_OF_A_ROW = 12 if NIGHTLY else 1
ROWS = sorted(BINARY) if NIGHTLY else [("-", "signed"), (">>", "signed"), ("<", "unsigned")]


def shown(value: int, case: Case, bits: int) -> str:
    pattern = value & ((1 << bits) - 1)
    return f"({case.type.name if bits == case.type.bits else 'int'}){pattern}ul"


def expression(case: Case, number: int) -> Expression:
    """The operation on two variables; whether these are inputs varies."""
    right_bits = 32 if case.operator in ("<<", ">>") else case.type.bits
    right_type = "int" if case.operator in ("<<", ">>") else case.type.name
    variables = (
        (case.type.name, "x0", shown(case.left, case, case.type.bits), number % 2 == 0),
        (right_type, "x1", f"({right_type}){(case.right or 0) & ((1 << right_bits) - 1)}ul", number % 3 == 0),
    )
    return Expression(variables, (), f"x0 {case.operator} x1")


@pytest.mark.parametrize(("operator", "operands"), [row for row in ROWS if row[1] in ("signed", "unsigned")])
def test_no_engine_contradicts_compiled_code(operator: str, operands: str) -> None:
    cases, _ = measured()
    row = [c for c in cases if c.operator == operator and c.type.bits < 128 and c.type.signed == (operands == "signed")]
    row = [c for c in row if c.right is not None]
    step = max(1, len(row) // CASES_OF_A_ROW)
    for number, case in enumerate(row[step // 2 :: step]):
        is_long = case.result is not None and operator not in COMPARISONS
        value = case.result
        if is_long and value is not None and value >= 1 << 63:
            value -= 1 << 64  # as the program has it: converted to long
        found = judged(expression(case, number), Value(value, not case.violated), 1.0)
        assert found.wrong == (), case
