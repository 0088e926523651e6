"""The tables of `analysis.c` say what gcc's code computes, and what its sanitizers say is undefined.

The class: a wrong row, which every engine would follow.
"""

from __future__ import annotations

from typing import get_args

from analysis.c import results, undefined
from analysis.c.conversions import converter
from analysis.c.operators import BINARY, UNARY, fault, possible_rules
from analysis.model import ir
from analysis.model.c_types import INT, Integer
from analysis.model.ranges import bounds, keeps, wrapped
from tests.support.operator_cases import CONVERTED, Case, corners, measured


def test_undefined_is_what_sanitizers_say() -> None:
    cases, _ = measured()
    for case in cases:
        first = next((rule for rule in undefined.OPERATOR_RULES if rule in case.violated), None)
        assert fault(case.operator, case.left, case.right, case.type) == first, case
    assert {rule for case in cases for rule in case.violated} == set(undefined.OPERATOR_RULES)


def computed(case: Case) -> tuple[int | None, int | None]:
    """What the table says C defines, and what machines compute."""
    if case.right is None:
        machine = results.machine_unary(case.operator, case.type)(case.left)
        if case.operator == "!":
            return machine, machine
        return results.defined_unary(case.operator, case.type)(case.left), machine
    values = case.left, case.right
    return results.defined(case.operator, case.type)(*values), results.machine(case.operator, case.type)(*values)


def test_a_constant_operand_excludes_what_no_left_operand_violates() -> None:
    for signed in (True, False):
        type_ = Integer(4, signed, "nibble")
        low, high = bounds(type_)
        left = ir.Var("x", "local", type_)
        for (operator, operands), row in BINARY.items():
            if operands != ("signed" if signed else "unsigned") or row.right == "any":
                continue
            for right in range(low, high + 1):
                violated = {fault(operator, value, right, type_) for value in range(low, high + 1)} - {None}
                expr = ir.Binary(operator, left, ir.IntConst(right, type_), type_)  # type: ignore[arg-type]  # of the table
                assert possible_rules(expr) == violated, expr


def test_results_are_those_of_compiled_code() -> None:
    cases, _ = measured()
    for case in cases:
        defined, machine = computed(case)
        assert (defined is None) == bool(case.violated), case
        assert defined in (None, case.result), case
        assert machine in (None, case.result), case
        if not case.violated or (case.violated == {"signed-overflow"} and case.operator not in "/%"):
            assert machine == case.result, case


def test_conversions_are_those_of_compiled_code() -> None:
    _, conversions = measured()
    for case in conversions:
        assert wrapped(case.value, case.target) == case.result, case
        convert = converter(case.source, case.target, 64)
        assert (case.value if convert is None else convert(case.value)) == case.result, case


def test_a_conversion_keeps_every_value_if_it_keeps_the_corners() -> None:
    for source in CONVERTED:
        for target in CONVERTED:
            kept = all(wrapped(value, target) == value for value in corners(source))
            assert keeps(source, target) == kept, (source, target)


def test_bounds_of_results_hold_them() -> None:
    values = (*range(-9, 10), *corners(INT))
    pairs = [(low, high) for low in values[::3] for high in values[::3] if low <= high]
    for operator in "+-*&|^":
        exact = BINARY[operator, "signed"].exact
        for left in pairs:
            for right in pairs:
                least, most = results.results(operator, left, right)
                assert all(least <= exact(one, other) <= most for one in within(left) for other in within(right))


def within(ends: tuple[int, int]) -> list[int]:
    low, high = ends
    return [value for value in (low, low + 1, low // 2, -3, -1, 0, 1, 5, high // 2, high - 1, high) if low <= value <= high]


def test_every_row_has_a_section() -> None:
    for row in (*UNARY.values(), *BINARY.values()):
        assert row.section.startswith("6.5.")
        assert (row.gives == "int") <= (row.overflow == "never")
    assert bounds(INT) == (-(1 << 31), (1 << 31) - 1)
    assert set(undefined.CONDITIONS) == set(get_args(undefined.EdgeRule))
    assert set(get_args(undefined.CertifiedRule)) < set(get_args(undefined.EdgeRule)) < set(get_args(undefined.ObservedRule))
