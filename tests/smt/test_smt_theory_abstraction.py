"""Abstractions to linear arithmetic and to uninterpreted functions weaken: what contradicts itself afterwards did before."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from smt.contradictory_trees import Draw

from analysis.smt.interpolants.euf_abstraction import EufAbstraction
from analysis.smt.interpolants.lra_abstraction import LraAbstraction, real_symbol
from analysis.smt.interpolants.partitions import Partition, PartitionTree
from analysis.smt.interpolants.theories import Theory, interpolants
from analysis.smt.logic import linear
from analysis.smt.logic.bitvectors import compare, concat, euclidean, extend, extract, multiply, operation
from analysis.smt.logic.smtlib import write
from analysis.smt.logic.smtlib_reading import read
from analysis.smt.logic.term_building import (
    and_,
    bits,
    distinct,
    eq,
    integer,
    ite,
    not_,
    or_,
    real,
    select,
    store,
    symbol,
)
from analysis.smt.logic.terms import BOOL, INT, REAL, Term, array, bit_vector, subterms, symbols
from analysis.smt.solving.solver import Budget
from analysis.smt.solving.z3_backend import Z3Solver

BUDGET = Budget(2_000)
SEEDS = st.integers(0, 2**32 - 1)
CELLS = array(INT, INT)
WORD = bit_vector(3)
I, J, K = (symbol(name, INT) for name in "ijk")  # noqa: E741  # as mathematics has them


def whole(draw: Draw, depth: int) -> Term:
    """A term of sort Int, as the `int` encoding makes them: sums, products, quotients, choices, reads of memory."""
    kind = draw.randrange(9) if depth else draw.randrange(2)
    if kind == 0:
        return integer(draw.choice([0, 0, 1, 1, -3, 2]))
    if kind == 1:
        return symbol(f"x{draw.randrange(2)}", INT)
    one, other = whole(draw, depth - 1), whole(draw, depth - 1)
    match kind:
        case 2 | 3:
            return linear.add(one, other)
        case 4:
            return linear.scale(draw.randint(-3, 3), one)
        case 5:
            return multiply(one, other)
        case 6:
            return euclidean(draw.choice(["div", "mod"]), one, integer(draw.choice([-3, 2, 4])))
        case 7:
            return ite(boolean(draw, depth - 1), one, other)
    return select(cells(draw, depth - 1), one)


def cells(draw: Draw, depth: int) -> Term:
    known = symbol(f"m{draw.randrange(2)}", CELLS)
    return store(known, whole(draw, depth), whole(draw, depth)) if depth and draw.random() < 0.6 else known


def word(draw: Draw, depth: int) -> Term:
    """A term of three bits."""
    kind = draw.randrange(7) if depth else draw.randrange(2)
    if kind == 0:
        return bits(draw.randrange(8), 3)
    if kind == 1:
        return symbol(f"w{draw.randrange(3)}", WORD)
    one, other = word(draw, depth - 1), word(draw, depth - 1)
    match kind:
        case 2 | 3:
            return operation(draw.choice(["bvadd", "bvsub", "bvmul", "bvand", "bvor", "bvxor"]), one, other)
        case 4:
            return extract(3, 1, extend(one, 4, draw.random() < 0.5))
        case 5:
            return ite(boolean(draw, depth - 1), one, other)
    return concat(extract(1, 0, one), extract(2, 2, other))


def rational(draw: Draw) -> Term:
    one = symbol("r", REAL)
    return draw.choice([one, one, real(Fraction(draw.randint(-3, 3), 2)), Term("+", (one, real(Fraction(1, 2))), REAL)])


def boolean(draw: Draw, depth: int) -> Term:
    match draw.randrange(10):
        case 8 if depth:
            return ite(*(boolean(draw, depth - 1) for _ in range(3)))
        case 9:
            wide = extend(word(draw, depth), 4, draw.random() < 0.5)
            return (
                compare("bvult", wide, bits(draw.randrange(16), 4))
                if draw.random() < 0.5
                else eq(wide, bits(draw.randrange(16), 4))
            )
        case 0:
            return symbol(f"b{draw.randrange(2)}", BOOL)
        case 1:
            return eq(whole(draw, depth), whole(draw, depth))
        case 2:
            return linear.at_most(whole(draw, depth), whole(draw, depth))
        case 3:
            return Term(draw.choice(["<", "<=", ">", ">="]), (whole(draw, depth), whole(draw, depth)), BOOL)
        case 4:
            return eq(word(draw, depth), word(draw, depth))
        case 5:
            return compare(draw.choice(["bvult", "bvsle", "bvule"]), word(draw, depth), word(draw, depth))
        case 6:
            return Term(draw.choice(["<", "<=", ">", ">=", "="]), (rational(draw), rational(draw)), BOOL)
    return eq(cells(draw, depth), cells(draw, depth))


def formula(draw: Draw, depth: int | None = None) -> Term:
    """A clause; without a depth, mostly of small terms, which meet each other more often."""
    depth = draw.choice([0, 0, 1, 2]) if depth is None else depth
    parts = [boolean(draw, depth) for _ in range(draw.choice([1, 1, 2]))]
    found = or_(*(not_(part) if draw.random() < 0.4 else part for part in parts))
    return eq(found, boolean(draw, depth)) if draw.random() < 0.15 else found


@pytest.mark.parametrize("theory", ["lra", "lra with scopes", "euf"])
@settings(max_examples=25)
@given(seed=SEEDS)
def test_what_an_abstraction_refutes_is_unsatisfiable(theory: str, seed: int) -> None:
    """Formulas are added until their abstractions contradict each other; then z3 finds no model of the formulas either."""
    draw, before, after = Draw(seed), Z3Solver(), Z3Solver()
    made = EufAbstraction() if theory == "euf" else LraAbstraction()
    for count in range(40):
        added = formula(draw)
        weaker = made(added, str(count)) if isinstance(made, LraAbstraction) and theory == "lra with scopes" else made(added)
        before.add(added)
        after.add(weaker)
        if after.check(budget=BUDGET).status == "unsat":
            assert before.check(budget=BUDGET).status != "sat"
            return


def connected(draw: Draw, atoms: list[Term], depth: int) -> Term:
    """A formula of few atoms, so that atoms and their negations meet."""
    if not depth:
        return draw.choice(atoms)
    one, other, third = (connected(draw, atoms, depth - 1) for _ in range(3))
    made = draw.choice([and_(one, other), or_(one, other), eq(one, other), ite(one, other, third), one])
    return not_(made) if draw.random() < 0.5 else made


@settings(max_examples=30)
@given(seed=SEEDS)
def test_formulas_of_few_atoms_are_weakened(seed: int) -> None:
    draw, solver = Draw(seed), Z3Solver()
    for _ in range(12):
        draws = [boolean, lambda draw, _: Term(draw.choice(["<", "<=", ">", ">=", "="]), (rational(draw), rational(draw)), BOOL)]
        draws.append(lambda draw, _: Term(draw.choice(["<", "<=", ">", ">=", "="]), (whole(draw, 0), whole(draw, 0)), BOOL))
        make = draw.choice(draws)
        atoms = [make(draw, 0) for _ in range(3)]
        concrete = and_(*(connected(draw, atoms, 2) for _ in range(2)))
        for abstract in (LraAbstraction()(concrete), EufAbstraction()(concrete)):
            assert solver.check(abstract).status == "sat" or solver.check(concrete).status == "unsat"


@settings(max_examples=20)
@given(seed=SEEDS)
def test_a_model_of_a_formula_is_one_of_its_abstraction(seed: int) -> None:
    """For linear arithmetic a model says what each symbol of the abstraction is: a new one is what it stands for."""
    draw, solver, made = Draw(seed), Z3Solver(), LraAbstraction()
    concrete = and_(*(formula(draw) for _ in range(3)))
    solver.add(concrete)
    abstract = made(concrete)
    if solver.check(budget=BUDGET).status != "sat":
        return
    model = solver.model()
    stands_for = {one: made.meaning.get(one, one) for one in symbols((abstract,))}
    known = {real_symbol(one): one for one in symbols((concrete,)) if one.sort.kind in ("Int", "Real", "BitVec")}
    check = Z3Solver()
    check.add(abstract)
    for one, term in stands_for.items():
        meant = known.get(one, term)
        value = model.value(meant)
        check.add(eq(one, real(Fraction(value))) if one.sort == REAL else (one if value else not_(one)))
    assert check.check(budget=BUDGET).status == "sat"


@settings(max_examples=12)
@given(seed=SEEDS)
def test_abstractions_can_be_written_and_read(seed: int) -> None:
    concrete = formula(Draw(seed), 3)
    for abstract in (LraAbstraction()(concrete), EufAbstraction()(concrete)):
        names = {str(one.data): one for one in symbols((abstract,))}
        again = read(write(abstract), names)
        assert Z3Solver().check(not_(eq(again, abstract)), budget=BUDGET).status == "unsat"


@settings(max_examples=20)
@given(seed=SEEDS)
def test_an_abstraction_is_in_its_theory(seed: int) -> None:
    concrete = formula(Draw(seed), 3)
    linear_one, equal_one = LraAbstraction()(concrete), EufAbstraction()(concrete)
    assert {term.sort for term in subterms((linear_one,))} <= {BOOL, REAL}
    assert {term.op for term in subterms((linear_one,))} <= {"and", "or", "not", "<=", "<", "+", "*", "value", "symbol"}
    assert {term.op for term in subterms((equal_one,))} <= {"and", "or", "not", "ite", "=", "select", "value", "symbol"}
    for theory, abstract in (("lra", linear_one), ("euf", equal_one)):
        tree = PartitionTree([Partition(abstract), Partition(abstract, 0)])
        assert interpolants(theory, tree).reason in ("", "satisfiable")  # type: ignore[arg-type]  # one of the two


@pytest.mark.parametrize(
    ("contradiction", "theory"),
    [
        (and_(linear.less(I, J), distinct(linear.add(I, integer(1)), J), linear.less(J, linear.add(I, integer(2)))), "lra"),
        (and_(eq(euclidean("mod", I, integer(4)), J), linear.less(integer(3), J)), "lra"),
        (and_(eq(euclidean("div", I, integer(2)), J), linear.less(I, linear.scale(2, J))), "lra"),
        (
            and_(
                *(linear.at_most(integer(0), x) for x in (I, J)),
                linear.less(I, integer(4)),
                distinct(euclidean("mod", I, integer(4)), I),
            ),
            "lra",
        ),
        (and_(eq(ite(linear.less(I, J), I, J), K), linear.less(I, K)), "lra"),
        (and_(linear.at_most(multiply(I, J), K), linear.less(K, multiply(I, J))), "lra"),
        (linear.less(integer(7), ite(symbol("b", BOOL), integer(1), integer(2))), "lra"),
        (and_(eq(I, J), distinct(multiply(I, K), multiply(J, K))), "euf"),
        (and_(eq(symbol("m", CELLS), symbol("n", CELLS)), distinct(*(select(symbol(n, CELLS), I) for n in "mn"))), "euf"),
        (and_(linear.at_most(I, J), eq(I, K), not_(linear.at_most(K, J))), "euf"),
        (and_(linear.at_most(I, integer(3)), eq(I, K), not_(linear.at_most(K, integer(3)))), "euf"),
        (and_(linear.less(I, J), eq(I, K), not_(linear.less(K, J))), "euf"),
    ],
)
def test_what_the_theories_still_see(contradiction: Term, theory: Theory) -> None:
    made = LraAbstraction()(contradiction) if theory == "lra" else EufAbstraction()(contradiction)
    tree = PartitionTree([Partition(made), Partition(made, 0)])
    assert interpolants(theory, tree).reason == ""


def test_symbols_of_two_sorts_stay_apart() -> None:
    one, other = symbol("x", INT), symbol("x", REAL)
    both = and_(linear.at_most(one, integer(0)), Term(">", (other, real(Fraction(0))), BOOL))
    assert Z3Solver().check(LraAbstraction()(both)).status == "sat"
    assert Z3Solver().check(EufAbstraction()(and_(eq(one, integer(0)), eq(other, real(Fraction(1)))))).status == "sat"
    half = and_(eq(other, real(Fraction(3, 2))), distinct(other, real(Fraction(3))))
    assert Z3Solver().check(EufAbstraction()(half)).status == "sat"
    tagged = symbol("real!x", INT)
    assert Z3Solver().check(LraAbstraction()(and_(both, eq(tagged, integer(0))))).status == "sat"


def test_scopes_keep_new_symbols_out_of_interpolants() -> None:
    """The product occurs in both partitions; with scopes no interpolant speaks of it."""
    product, made = multiply(I, J), LraAbstraction()
    inside, outside = and_(linear.less(product, K), eq(K, integer(2))), and_(eq(product, integer(5)), linear.less(K, integer(2)))
    tree = PartitionTree([Partition(made(outside, "0.")), Partition(made(inside, "1."), 0)])
    found = interpolants("lra", tree).interpolants
    assert found is not None
    assert set(symbols(found)) == {symbol("k", REAL)}
