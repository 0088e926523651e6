"""Text in which operands have other sorts than their operators take is no term.

Class: terms that simplification and solvers take for well-sorted, made of text that anybody can write.
"""

from __future__ import annotations

import pytest

from analysis.smt.logic import smtlib_reading
from analysis.smt.logic.term_building import symbol
from analysis.smt.logic.terms import BOOL, INT, REAL, array, bit_vector

SORTS = {"i": INT, "b": bit_vector(8), "w": bit_vector(16), "t": BOOL, "r": REAL, "a": array(INT, bit_vector(8))}
SYMBOLS = {name: symbol(name, sort) for name, sort in SORTS.items()}


@pytest.mark.parametrize(
    "text",
    """(+ i b)|(- b)|(- i b)|(* 2 b)|(<= i b)|(< b b)|(= i b)|(= b w)|(distinct i t)|(and t i)|(not b)|(not t t)|(=> i t)
    (xor i i)
    (div i b)|(mod r r)|(ite i i i)|(ite t i b)|(ite t i)|(select a b)|(select i i)|(store a i i)|(store a i)|(bvadd b w)
    (bvadd i i)
    (bvnot i)|(bvnot b b)|(bvult b)|(bvult b w)|(bvslt i i)|(concat b i)|((_ extract 8 0) b)|((_ extract 1 2) b)
    ((_ extract 1 0) i)
    ((_ zero_extend 3) i)|((as const (Array Int Int)) b)|(to_real r)|(+ i r)|(>= 1 b)|(bvuge b i)|(let ((x b)) (+ x i))
    (* (- 1) b)|(bvsmod b b)|(bvnand b b)|(bvsub b b b)|(bvshl b b b)
    """.replace("\n", "|").split("|"),
)
def test_operands_have_the_sorts_that_operators_take(text: str) -> None:
    if text.strip():
        with pytest.raises(ValueError, match=r"sort|bits|like|known|symbol|operator"):
            smtlib_reading.read(text.strip(), SYMBOLS)


@pytest.mark.parametrize(
    "text",
    """(+ i 1 i)|(- i)|(<= 0 (+ i (* (- 1) i)))|(= b b b)|(and t (not t) (=> t t))|(xor t t)|(ite t b b)|(= (select a i) b)
    (= a (store a 0 b))|(bvule (bvadd b b b) (bvnot b))|(= (concat b b) w)|(= ((_ extract 7 0) w) b)|(= ((_ zero_extend 8) b) w)
    (= a ((as const (Array Int (_ BitVec 8))) b))|(<= r (to_real i))|(bvugt b #xff)|(<= r (/ 1 3))|(= (mod i 2) 0)|(distinct t t)
    """.replace("\n", "|").split("|"),
)
def test_others_are_read(text: str) -> None:
    if text.strip():
        assert smtlib_reading.read(text.strip(), SYMBOLS).sort == BOOL or text.strip() in ("(+ i 1 i)", "(- i)", "(ite t b b)")


def test_operators_as_z3_writes_them() -> None:
    """Z3 writes chains of bit operations, and names of its own for total divisions."""
    for text, same in (
        ("(= (bvand b #x0f b) #x01)", "(= (bvand (bvand b #x0f) b) #x01)"),
        ("(= (bvmul b b b) #x01)", "(= (bvmul (bvmul b b) b) #x01)"),
        ("(= (bvsrem_i b #x03) #x01)", "(= (bvsrem b #x03) #x01)"),
        ("(= (bvudiv_i b w) #x01)", ""),
    ):
        if same:
            assert smtlib_reading.read(text, SYMBOLS) is smtlib_reading.read(same, SYMBOLS)
        else:
            with pytest.raises(ValueError, match="sort"):
                smtlib_reading.read(text, SYMBOLS)
