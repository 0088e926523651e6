"""The store of values along a path: what was executed never contradicts it, and every value lies in the interval that it says."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.engines.automaton.feasibility.path_values import Kill, Store
from analysis.engines.automaton.functions.known_conditions import expr_cells
from analysis.model import ir
from analysis.model.c_types import Integer
from analysis.model.intervals import contains, make
from analysis.model.ranges import bounds, wrapped

_INT = Integer(32, True, "int")
_NATURAL = Integer(32, False, "unsigned int")
_VARS = tuple(ir.Var(name, "local", _INT) for name in "abcd")
_COMPARE = {
    "==": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
}
_OPERATORS = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "&": lambda x, y: x & y,
    "|": lambda x, y: x | y,
    "^": lambda x, y: x ^ y,
    "/": lambda x, y: x // y,
    "%": lambda x, y: x % y,
    ">>": lambda x, y: x >> y,
    "<<": lambda x, y: x << y,
}
_ATOMS = st.one_of(st.sampled_from(_VARS), st.integers(-5, 5).map(lambda value: ir.IntConst(value, _INT)))
_SUMS = st.builds(lambda op, x, y: ir.Binary(op, x, y, _INT), st.sampled_from("+-"), _ATOMS, _ATOMS)
_PRODUCTS = st.builds(lambda op, x, y: ir.Binary(op, x, y, _INT), st.sampled_from("*&|^"), _ATOMS, _ATOMS)
_UNSIGNED = _ATOMS.map(lambda x: ir.Cast(x, _NATURAL))
_FOUR = st.integers(1, 5).map(lambda value: ir.IntConst(value, _NATURAL))
_WRAPPED = st.one_of(
    _UNSIGNED,
    st.builds(lambda op, x, y: ir.Binary(op, x, y, _NATURAL), st.sampled_from("+-*&|^"), _UNSIGNED, _UNSIGNED),
    st.builds(lambda op, x, y: ir.Binary(op, x, y, _NATURAL), st.sampled_from(["/", "%", ">>", "<<"]), _UNSIGNED, _FOUR),
)
_ALL = st.one_of(_ATOMS, _SUMS, _PRODUCTS)
_TESTS = st.one_of(
    st.builds(lambda op, x, y: ir.Binary(op, x, y, _INT), st.sampled_from(sorted(_COMPARE)), _ALL, _ALL),
    st.builds(lambda op, x, y: ir.Binary(op, x, y, _INT), st.sampled_from(sorted(_COMPARE)), _WRAPPED, _WRAPPED),
)
_BACK = _WRAPPED.map(lambda x: ir.Cast(ir.Binary("&", x, ir.IntConst(7, _NATURAL), _NATURAL), _INT))
_VALUES = st.one_of(_ATOMS, _SUMS, _PRODUCTS, _TESTS, _BACK, st.builds(lambda x: ir.Unary("!", x, _INT), _ATOMS))
_STEPS = st.one_of(
    st.builds(lambda target, value: ir.Assign(target, value), st.sampled_from(_VARS), _VALUES),
    st.builds(lambda condition: ir.Assume(condition, True), st.one_of(_TESTS, st.sampled_from(_VARS))),
)


def evaluate(expr: ir.Expr, values: dict[ir.Expr, int]) -> int:
    """The value of an expression."""
    match expr:
        case ir.Var():
            return values[expr]
        case ir.IntConst(value):
            return value
        case ir.Unary("!", operand):
            return int(not evaluate(operand, values))
        case ir.Binary(operator, left, right):
            x, y = evaluate(left, values), evaluate(right, values)
            if operator in _COMPARE:
                return int(_COMPARE[operator](x, y))
            return wrapped(_OPERATORS[operator](x, y), expr.type)
        case ir.Cast(operand):
            return wrapped(evaluate(operand, values), expr.type)
    raise AssertionError(expr)


def overflows(expr: ir.Expr, values: dict[ir.Expr, int]) -> bool:
    """Whether signed arithmetic in the expression has a result that is no value of its type."""
    low, high = bounds(_INT)
    for part in ir.walk(expr):
        if isinstance(part, ir.Binary) and part.operator in _OPERATORS and part.type == _INT:
            exact = _OPERATORS[part.operator](evaluate(part.left, values), evaluate(part.right, values))
            if not low <= exact <= high:
                return True
    return False


def written_by(target: ir.Expr) -> Kill:
    """What a write to a variable changes."""
    written = expr_cells(target, frozenset())
    return lambda exprs: {expr for expr in exprs if not frozenset(expr_cells(expr, frozenset())).isdisjoint(written)}


@settings(max_examples=1500, deadline=None)
@given(
    st.fixed_dictionaries({var: st.integers(-5, 5) for var in _VARS}),
    st.lists(_STEPS, max_size=14),
    st.sets(st.sampled_from(_VARS)),
)
def test_what_was_executed_is_never_contradicted(
    start: dict[ir.Expr, int], steps: list[ir.Assign | ir.Assume], followed: set[ir.Expr]
) -> None:
    values = dict(start)
    whole = Store("f", lambda _function, _expr: True)
    part = Store("f", lambda _function, expr: expr in followed)
    for step in steps:
        if overflows(step.value if isinstance(step, ir.Assign) else step.condition, values):
            return  # what C leaves undefined says nothing about what is known
        for store in (whole, part):
            if isinstance(step, ir.Assign):
                store.assign(step.target, step.value, written_by(step.target))
            else:  # the branch that the values take
                assert store.assume(ir.Assume(step.condition, bool(evaluate(step.condition, values))))
        if isinstance(step, ir.Assign):
            values[step.target] = evaluate(step.value, values)
        for store in (whole, part):
            for var in _VARS:
                interval, _ = store.value(var)
                assert contains(interval, values[var])


def test_a_contradiction_names_what_must_be_followed() -> None:
    store = Store("f", lambda _function, _expr: True)
    a, b, c, _ = _VARS
    store.assign(a, ir.IntConst(0, _INT), written_by(a))
    store.assign(b, a, written_by(b))
    store.assign(c, ir.IntConst(1, _INT), written_by(c))
    assert not store.assume(ir.Assume(b, True))
    assert {expr for _, expr in store.contradiction} == {a, b}
    assert Store("f", lambda _function, expr: expr != b).assume(ir.Assume(b, True))


def test_what_is_learnt_of_an_operand_is_known_of_the_result_in_this_copy_alone() -> None:
    a, b, _, _ = _VARS
    store = Store("f", lambda _function, _expr: True)
    assert store.assume(ir.Assume(_compared(a, ">=", 0), True))
    assert store.assume(ir.Assume(_compared(a, "<=", 9), True))
    store.assign(b, ir.Binary("*", a, ir.IntConst(2, _INT), _INT), written_by(b))
    assert store.value(b)[0] == make(0, 18, False)
    copy = store.copy()
    assert copy.assume(ir.Assume(_compared(a, "==", 3), True))
    assert copy.value(b) == (make(6, 6, True), {("f", a), ("f", b)})
    assert store.value(b)[0] == make(0, 18, False)


def test_an_operand_and_the_result_contradict_each_other_in_either_order() -> None:
    a, b, _, _ = _VARS
    store = Store("f", lambda _function, _expr: True)
    assert store.assume(ir.Assume(_compared(a, ">=", 0), True))
    assert store.assume(ir.Assume(_compared(a, "<=", 9), True))
    store.assign(b, ir.Binary("*", a, ir.IntConst(2, _INT), _INT), written_by(b))
    assert store.copy().assume(ir.Assume(_compared(a, "==", 4), True))
    for first, second in ((_compared(b, "==", 6), _compared(a, "==", 4)), (_compared(a, "==", 4), _compared(b, "==", 6))):
        copy = store.copy()
        assert copy.assume(ir.Assume(first, True))
        assert not copy.assume(ir.Assume(second, True))
        assert copy.contradiction == {("f", a), ("f", b)}


def _compared(var: ir.Expr, operator: str, number: int) -> ir.Expr:
    return ir.Binary(operator, var, ir.IntConst(number, _INT), _INT)
