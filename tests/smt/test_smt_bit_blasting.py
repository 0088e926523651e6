"""Formulas over bits say what the formulas over bit-vectors say."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from smt.contradictory_trees import Draw

from analysis.smt.interpolants.bit_blasting import blasted
from analysis.smt.interpolants.partitions import Partition, PartitionTree
from analysis.smt.interpolants.resolution import Unsupported
from analysis.smt.interpolants.theories import interpolants
from analysis.smt.logic import bitvectors
from analysis.smt.logic.bitvectors import compare, concat, extend, extract, operation
from analysis.smt.logic.term_building import TRUE, bits, distinct, eq, ite, not_, select, symbol
from analysis.smt.logic.terms import BOOL, Term, array, bit_vector, subterms
from analysis.smt.solving import bitwuzla_interpolation
from analysis.smt.solving.z3_backend import Z3Solver

WIDTH = 5  # of which a distance can be the width, and more
WORD = bit_vector(WIDTH)
A, B, C = (symbol(name, WORD) for name in "abc")


def word(draw: Draw, depth: int) -> Term:
    if not depth or draw.random() < 0.2:
        return draw.choice([A, B, C, bits(draw.randrange(2**WIDTH), WIDTH)])
    one, other = word(draw, depth - 1), word(draw, depth - 1)
    match draw.randrange(6):
        case 0:
            return ite(compare("bvult", one, other), other, one)
        case 1:
            return extract(WIDTH, 1, extend(one, WIDTH + 1, draw.random() < 0.5))
        case 2:
            return concat(extract(1, 0, one), extract(WIDTH - 1, 2, other))
        case 3:
            return Term(draw.choice(["bvnot", "bvneg"]), (one,), WORD)
    return operation(draw.choice(["bvadd", "bvsub", "bvmul", "bvand", "bvor", "bvxor", "bvshl", "bvlshr", "bvashr"]), one, other)


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1))
def test_bits_say_the_same(seed: int) -> None:
    draw = Draw(seed)
    one, other = word(draw, 2), word(draw, 2)
    order = draw.choice(["bvult", "bvule", "bvslt", "bvsle", "=", "bvsmulo"])
    if order == "=":
        formula = eq(one, other)
    elif order == "bvsmulo":
        formula = bitvectors.product_overflows(one, other)
    else:
        formula = Term(order, (one, other), BOOL)
    assert Z3Solver().check(distinct(formula, blasted(formula))).status == "unsat"
    assert {term.op for term in subterms((blasted(formula),))} <= {"and", "or", "not", "ite", "=", "extract", "value", "symbol"}


def test_what_has_no_bits_here() -> None:
    cell = select(symbol("m", array(WORD, WORD)), A)
    for formula in (eq(cell, B), eq(operation("bvudiv", A, B), C)):
        with pytest.raises(Unsupported):
            blasted(formula)


def arrays() -> PartitionTree:
    memory = symbol("m", array(WORD, WORD))
    return PartitionTree(
        [Partition(distinct(select(memory, B), C)), Partition(eq(select(memory, A), C), 0), Partition(eq(A, B), 1)]
    )


def test_bitwuzla_does_what_is_left() -> None:
    pytest.importorskip("bitwuzla")
    assert interpolants("prop", arrays()).origin == "gradual"


def test_without_bitwuzla_it_is_unsupported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bitwuzla_interpolation, "is_available", lambda: False)
    assert interpolants("prop", arrays()).reason == "unsupported"
    tree = PartitionTree([Partition(distinct(A, C)), Partition(eq(A, B), 0), Partition(eq(B, C), 1)])
    outcome = interpolants("prop", tree)
    assert outcome.origin == "one proof"
    assert outcome.interpolants is not None
    assert not_(outcome.interpolants[0]) is TRUE
