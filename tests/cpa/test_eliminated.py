"""Symbolic identifiers put out of states: what is left holds wherever the state does, and says what it can."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from analysis.cpa.predicates.eliminated import Cell, without_identifiers
from analysis.cpa.symbolic_values.symbolic import INT, binary, cast, identifiers, substitute, unary
from analysis.model import ir
from analysis.model.c_types import Integer

LONG, CHAR = Integer(64, True, "long"), Integer(8, False, "unsigned char")
NAMES = [ir.Var(f"s{number}", "temporary", INT) for number in range(3)]


def number(value: int, type_: Integer = INT) -> ir.IntConst:
    return ir.IntConst(value, type_)


def operations(inner: st.SearchStrategy[ir.Expr]) -> st.SearchStrategy[ir.Expr]:
    """Values as the algebra makes them: what needs no identifier is folded."""

    def applied(operator: Any, left: ir.Expr, right: ir.Expr) -> ir.Expr:
        return binary(ir.Binary(operator, left, right, INT), left, right) or left

    def turned(operator: Any, operand: ir.Expr) -> ir.Expr:
        return unary(ir.Unary(operator, operand, INT), operand) or operand

    def converted(operand: ir.Expr, type_: Integer) -> ir.Expr:
        there = cast(operand, type_)
        return operand if there is None else cast(there, INT) or operand

    both = st.builds(applied, st.sampled_from(["+", "-", "*", "^", "&"]), inner, inner)
    return (
        both | st.builds(turned, st.sampled_from(["-", "~"]), inner) | st.builds(converted, inner, st.sampled_from([LONG, CHAR]))
    )


VALUES = st.recursive(st.sampled_from(NAMES) | st.integers(-100, 100).map(number), operations, max_leaves=4)
CONDITIONS = st.builds(
    lambda operator, left, right: ir.Binary(operator, left, right, INT), st.sampled_from(["<", "==", "!=", ">="]), VALUES, VALUES
)


def value_of(expr: ir.Expr, given_: dict[ir.Var, ir.Expr]) -> ir.Expr:
    return substitute(expr, given_)


@given(st.lists(VALUES, max_size=4), st.lists(CONDITIONS, max_size=3), st.tuples(*[st.integers(-(2**31), 2**31 - 1)] * 3))
def test_what_is_left_holds_wherever_the_state_does(
    values: list[ir.Expr], conditions: list[ir.Expr], numbers: tuple[int, ...]
) -> None:
    ids: dict[ir.Var, ir.Expr] = {name: number(value) for name, value in zip(NAMES, numbers, strict=True)}
    cells = [Cell(ir.Var(f"cell!{position}", "temporary", INT), value) for position, value in enumerate(values)]
    held: dict[ir.Var, ir.Expr] = {cell.var: value_of(cell.value, ids) for cell in cells}
    holding = [condition for condition in conditions if value_of(condition, ids) == number(1)]
    for left in without_identifiers(cells, holding, held):
        assert identifiers(left) <= held.keys()
        assert value_of(left, held) == number(1), left


def test_what_a_cell_holds_is_undone() -> None:
    name, cell, other = NAMES[0], ir.Var("cell!0", "temporary", INT), ir.Var("cell!1", "temporary", LONG)
    seven_less = ir.Binary("-", number(7), name, INT)
    positive = ir.Binary("<", number(0), name, INT)
    found = list(without_identifiers([Cell(cell, seven_less)], [positive], [cell]))
    assert ir.Binary("<", number(0), ir.Binary("-", number(7), cell, INT), INT) in found
    wide = cast(name, LONG)
    assert wide is not None
    found_wide = list(without_identifiers([Cell(other, wide)], [positive], [other]))
    assert ir.Binary("<", number(0), ir.Cast(other, INT), INT) in found_wide
    assert any(isinstance(one, ir.Binary) and one.left == other for one in found_wide), "and the cell is in that range"


def test_what_cannot_be_undone_is_left_out() -> None:
    name, cell = NAMES[0], ir.Var("cell!0", "temporary", INT)
    square = ir.Binary("*", name, name, INT)
    assert list(without_identifiers([Cell(cell, square)], [ir.Binary("<", name, number(3), INT)], [cell])) == []
