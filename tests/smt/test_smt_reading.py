"""Text in which operands have other sorts than their operators take is no term, and neither is one that takes more memory than
there is.

Classes: terms that simplification and solvers take for well-sorted, made of text that anybody can write; and what a few letters
of such a text may cost.
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


def squared(of: str, operator: str) -> str:
    """A value that is doubled in size forty times."""
    lets = "".join(f"(let ((x{n} ({operator} x{n - 1} x{n - 1}))) " for n in range(1, 40))
    return f"(let ((x0 {of})) {lets}(= x39 x39){')' * 40}"


@pytest.mark.parametrize(
    "text",
    [
        "(= (/ 1.0 0.0) r)",
        "(= ((_ zero_extend 99999999999) b) ((_ sign_extend 99999999999) b))",
        "(= (bvnot (_ bv0 99999999999)) (_ bv1 99999999999))",
        "(= ((as const (Array Int (_ BitVec 99999999999))) b) a)",
        f"(= #x{'0' * 1_000} #x{'0' * 1_000})",
        "(= (_ bv0 0) (_ bv0 0))",
        squared("#b1", "concat"),
        squared("9" * 100, "*"),
        f"(= {'(* 9999999999 ' * 1_000}i{')' * 1_000} 0)",
    ],
)
def test_what_has_no_value_or_too_large_a_one_is_no_term(text: str) -> None:
    with pytest.raises(ValueError, match=r"sort|zero|large"):
        smtlib_reading.read(text, SYMBOLS)


@pytest.mark.parametrize("sort", [["_", "BitVec", "0"], ["_", "BitVec", "-8"], ["_", "BitVec", "99999999999"]])
def test_there_are_no_bit_vectors_of_any_width(sort: list[str]) -> None:
    with pytest.raises(ValueError, match="sort"):
        smtlib_reading.sort([*sort])
