"""Whoever computes operators agrees with gcc's code on corner values: folding, the interpreter,
the value domain, symbolic values, both encodings, the automaton's intervals.

The class: two copies of a piece of C that differ. An answer may be open where another is exact; never may two exclude each other.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from typing import Any

import pytest

from analysis.c.results import machine
from analysis.c.undefined import OPERATOR_RULES, OperatorRule
from analysis.cpa.stores.evaluate import Evaluator, Work
from analysis.cpa.stores.store_memory import Store as Memory
from analysis.cpa.stores.variables import Variables
from analysis.cpa.symbolic_values import symbolic
from analysis.cpa.symbolic_values.symbolic_algebra import SymbolicAlgebra
from analysis.engines.automaton.feasibility.path_values import Store
from analysis.frontend.lowering import operators
from analysis.interpreter import arithmetic
from analysis.interpreter.halting import ViolationError
from analysis.model import ir
from analysis.model.c_types import INT, LP64, Integer, Pointer
from analysis.model.comparisons import COMPARISONS
from analysis.model.intervals import Interval
from analysis.model.ranges import bounds, wrapped
from analysis.smt.encoding.numbers.bits import Bits
from analysis.smt.encoding.numbers.formula import Ledger
from analysis.smt.encoding.numbers.integers import Integers
from analysis.smt.encoding.numbers.operator_faults import fault
from analysis.smt.logic.term_building import FALSE, TRUE, constant_of, eq, not_, symbol
from analysis.smt.logic.terms import Term
from analysis.smt.solving.solver import SAT, UNSAT, Budget
from analysis.smt.solving.z3_backend import Z3Solver
from tests.support.explorations import program_of
from tests.support.operator_cases import Case, Conversion, measured

CASES: tuple[Case, ...] = ()
CONVERSIONS: tuple[Conversion, ...] = ()


@pytest.fixture(scope="module", autouse=True)
def _measured() -> None:
    global CASES, CONVERSIONS
    CASES, CONVERSIONS = measured()


def expression(case: Case) -> ir.Binary | ir.Unary:
    """The operation on constants."""
    left = ir.IntConst(case.left, case.type)
    gives = INT if case.operator in COMPARISONS or case.operator == "!" else case.type
    if case.right is None:
        return ir.Unary(case.operator, left, gives)  # type: ignore[arg-type]
    right = ir.IntConst(case.right, INT if case.operator in ("<<", ">>") else case.type)
    return ir.Binary(case.operator, left, right, gives)  # type: ignore[arg-type]


def test_folding() -> None:
    for case in CASES:
        of = expression(case)
        if isinstance(of, ir.Binary):
            found = operators.binary(of.operator, of.left, of.right, LP64, lambda _: None)
        else:
            found = operators.unary(of.operator, of.operand)
        assert found == (of if case.violated else ir.IntConst(case.result or 0, of.type)), case
        settled = operators.constant(of)
        assert not isinstance(settled, ir.IntConst) or settled.value == case.result, case
    for conversion in CONVERSIONS:
        made = operators.convert(ir.IntConst(conversion.value, conversion.source), conversion.target)
        assert made == ir.IntConst(conversion.result, conversion.target)


def first(case: Case) -> OperatorRule | None:
    """The rule that is reported, of those that are violated."""
    return next((rule for rule in OPERATOR_RULES if rule in case.violated), None)


class Noted:
    def __init__(self) -> None:
        self.notes: list[str] = []

    def assume(self, text: str) -> None:
        self.notes.append(text)


def interpreted(case: Case, *, constant: bool, wraps: bool) -> int | str:
    """What the interpreter computes, or the rule that it says is violated."""
    left, right, registers = case.left, case.right, [None, Noted()]

    def one(_: list[Any]) -> Any:
        return left

    def other(_: list[Any]) -> Any:
        return right

    if case.right is None:
        if case.operator == "!":
            return int(not left)
        negate = arithmetic.negation(one, case.type, wraps=wraps)
        compute = negate if case.operator == "-" else arithmetic.complement(one, case.type)
    elif case.operator in COMPARISONS:
        compute = arithmetic.comparison(case.operator, one, other, right if constant else None)
    else:
        compute = arithmetic.integer(case.operator, one, other, case.type, right if constant else None, wraps=wraps)
    try:
        found = int(compute(registers))
    except ViolationError as violation:
        return violation.kind
    assert bool(registers[1].notes) == bool(case.violated)
    return found


@pytest.mark.parametrize("constant", [False, True])
def test_the_interpreter(constant: bool) -> None:
    for case in CASES:
        assert interpreted(case, constant=constant, wraps=False) == (first(case) or case.result), case
        past = interpreted(case, constant=constant, wraps=True)
        assert past == case.result or (isinstance(past, str) and past in case.violated), case


def test_values_and_symbolic_values() -> None:
    variables = Variables(program_of("int main(void) { return 0; }"), LP64, True)
    evaluator = Evaluator(variables, SymbolicAlgebra(LP64), "main", 0)
    for case in sampled(3):
        of = expression(case)
        values = [part.value for part in ir.operands(of) if isinstance(part, ir.IntConst)]
        found = evaluator.value(of)(Work(Memory(), {}, ""))
        assert not isinstance(found, int) or found == case.result, case
        assert isinstance(found, int) or case.violated, case
        lifted = [symbolic.lift(value, part.type) for value, part in zip(values, ir.operands(of), strict=True)]
        folded = symbolic.binary(of, *lifted) if isinstance(of, ir.Binary) else symbolic.unary(of, *lifted)
        assert not isinstance(folded, ir.IntConst) or folded.value == case.result, case
    for conversion in CONVERSIONS:
        cast = symbolic.cast(ir.IntConst(conversion.value, conversion.source), conversion.target)
        assert cast == ir.IntConst(conversion.result, conversion.target)


def encodings() -> Iterator[Integers | Bits]:
    for make in (Integers, Bits):
        for overflow in ("wrap", "assume"):
            yield make(LP64, Ledger(), overflow)  # type: ignore[arg-type]


def applied(encoding: Integers | Bits, case: Case, left: Term, right: Term) -> Term:
    if case.right is None:
        return encoding.unary(case.operator, left, case.type)
    return encoding.binary(case.operator, left, right, case.type, INT if case.operator in ("<<", ">>") else case.type)


def test_formulas_of_constants() -> None:
    for encoding in encodings():
        for case in sampled(5):
            of = expression(case)
            ledger = Ledger()
            inside = encoding.with_ledger(ledger)
            left, right = inside.constant(case.left, case.type), inside.constant(case.right or 0, INT)
            if isinstance(of, ir.Binary):
                right = inside.constant(case.right or 0, of.right.type)
            value = constant_of(applied(inside, case, left, right))
            found = None if value is None else inside.decode(value, of.type)
            if FALSE in ledger.constraints:
                assert case.violated, case
            elif case.violated and (case.operator in "/%" or "shift-range" in case.violated):
                assert found is None, case  # open
            else:
                assert found == case.result, case
            for rule in OPERATOR_RULES:
                terms = {id(of.left): left, id(of.right): right} if isinstance(of, ir.Binary) else {id(of.operand): left}
                condition = fault(inside, rule, of, lambda part, terms=terms: terms[id(part)])
                assert condition in (TRUE, FALSE)
                if rule == first(case):
                    assert condition is TRUE, (rule, case)
                elif not case.violated:
                    assert condition is FALSE, (rule, case)


def test_formulas_of_conversions() -> None:
    for encoding in encodings():
        for conversion in CONVERSIONS:
            term = encoding.constant(conversion.value, conversion.source)
            value = constant_of(encoding.convert(term, conversion.source, conversion.target))
            assert value is not None
            assert encoding.decode(value, conversion.target) == conversion.result, conversion


def symbols(encoding: Integers | Bits, case: Case) -> tuple[Term, Term]:
    left = symbol(f"x:{case.type.name}", encoding.sort(case.type))
    other = INT if case.operator in ("<<", ">>") else case.type
    right = symbol(f"y:{other.name}", encoding.sort(other))
    for term, type_ in ((left, case.type), (right, other)):
        encoding.ledger.constrain(encoding.in_range(term, type_))
    return left, right


def solved(case: Case, encoding: Integers | Bits, solver: Z3Solver) -> None:
    """The solver finds the result of compiled code, and no other one unless the formula says that it is open."""
    ledger = Ledger()
    inside = encoding.with_ledger(ledger)
    left, right = symbols(inside, case)
    term = applied(inside, case, left, right)
    gives = expression(case).type
    assert isinstance(gives, Integer)
    given = [eq(left, inside.constant(case.left, case.type))]
    if case.right is not None:
        given.append(eq(right, inside.constant(case.right, INT if case.operator in ("<<", ">>") else case.type)))
    expected = eq(term, inside.constant(case.result, gives)) if case.result is not None else FALSE
    solver.push()
    solver.add(*ledger.constraints, *given)
    this, other = (solver.check(claim, budget=Budget(2_000)) for claim in (expected, not_(expected)))
    solver.pop()
    if not case.violated:
        assert this != UNSAT, case
        assert other != SAT or any("bitwise" in sentence for sentence in ledger.approximations), case


def sampled(step: int) -> list[Case]:
    """Every `step`-th case; all of them at night. A prime number meets all operators."""
    return list(CASES[:: 1 if os.environ.get("EVERPROOF_NIGHTLY") else step])


def test_formulas_for_a_solver() -> None:
    solver = Z3Solver()
    for encoding in encodings():
        for case in sampled(97):
            solved(case, encoding, solver)


def ranges_around(value: int, type_: Integer) -> Iterator[Interval]:
    """The value itself, with what is near, and any of the type."""
    low, high = bounds(type_)
    yield Interval(value, value, value != 0)
    yield Interval(max(low, value - 3), min(high, value + 2), False)
    yield Interval(low, high, False)
    yield Interval(None, None, value != 0)


def holds(interval: Interval, value: int) -> bool:
    below = interval.low is not None and value < interval.low
    above = interval.high is not None and value > interval.high
    return not (below or above or (interval.nonzero and value == 0))


def test_intervals_of_paths() -> None:
    x = {type_: ir.Var("x", "local", type_) for type_ in {case.type for case in CASES}}
    y = {type_: ir.Var("y", "local", type_) for type_ in (*x, INT)}
    for case in sampled(7):
        of = expression(case)
        if case.result is None or isinstance(of, ir.Unary):
            continue
        of = ir.Binary(of.operator, x[case.type], y[of.right.type], of.type)  # type: ignore[index]
        for left, right in zip(ranges_around(case.left, case.type), ranges_around(case.right or 0, of.right.type), strict=True):  # type: ignore[arg-type]
            store = Store("f", lambda *_: True)
            store.begin([(of.left, left), (of.right, right)])
            assert holds(store.value(of)[0], case.result), (case, left, right)
            truth, _ = store.truth(of)
            assert truth in (None, bool(case.result)), (case, left, right)
            assert store.copy().assume(ir.Assume(of, bool(case.result))), (case, left, right)
    for conversion in CONVERSIONS:
        source, target = conversion.source, conversion.target
        given = ir.Var("x", "local", source)
        for interval in ranges_around(conversion.value, source):
            store = Store("f", lambda *_: True)
            store.begin([(given, interval)])
            assert holds(store.value(ir.Cast(given, target))[0], conversion.result), (conversion, interval)
            equal = ir.Binary("==", ir.Cast(given, target), ir.IntConst(conversion.result, target), INT)
            assert store.assume(ir.Assume(equal, True)), (conversion, interval)
            assert holds(store.value(given)[0], conversion.value), (conversion, interval)


def test_intervals_of_terms() -> None:
    for case in sampled(61):
        of = expression(case)
        if case.result is None or case.violated:
            continue
        encoding = Integers(LP64, Ledger(), "wrap")
        left, right = symbols(encoding, case)
        low, high = encoding.intervals.of(applied(encoding, case, left, right))
        assert low <= case.result <= high, case
        near = Integers(LP64, Ledger(), "wrap")
        one, other = symbol("one", near.sort(case.type)), symbol("other", near.sort(case.type))
        near.intervals.declare(one, case.left - 1, case.left + 1)
        near.intervals.declare(other, (case.right or 0) - 1, (case.right or 0) + 1)
        low, high = near.intervals.of(applied(near, case, one, other))
        assert low <= case.result <= high, (case, of)
        assert not math.isnan(low)


def test_pointers_compare_as_unsigned_numbers() -> None:
    type_ = Pointer(INT)
    for operator in COMPARISONS:
        for one in (0, 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1):
            for other in (0, 1 << 63, (1 << 64) - 1):
                expected = machine(operator, LP64.unsigned_long)(one, other)
                assert machine(operator, type_)(one, other) == expected
                for encoding in encodings():
                    terms = encoding.constant(one, type_), encoding.constant(other, type_)
                    assert encoding.compare(operator, *terms, type_) is (TRUE if expected else FALSE)


def test_constants_are_in_the_range_of_their_type() -> None:
    for conversion in CONVERSIONS:
        assert ir.IntConst(conversion.value, conversion.target).value == conversion.result
        assert wrapped(conversion.result, conversion.target) == conversion.result
    assert ir.IntConst(-1, Pointer(INT)).value == (1 << 64) - 1
