"""Building terms of the core theory: Booleans, equality, if-then-else, values, symbols, arrays. Constants are folded.

Every constructor of this package gives a term that is equivalent to what it is named after; what it looks like is not promised.
Arguments must have the sorts that the operator asks for; this is not checked here, the solver does.
"""

from __future__ import annotations

from fractions import Fraction

from analysis.smt.logic import linear
from analysis.smt.logic.terms import BOOL, INT, REAL, Sort, Term, bit_vector

TRUE = Term("value", (), BOOL, 1)
FALSE = Term("value", (), BOOL, 0)


def boolean(value: bool) -> Term:
    """`true` or `false`."""
    return TRUE if value else FALSE


def integer(value: int) -> Term:
    """A value of sort Int."""
    return Term("value", (), INT, value)


def real(value: Fraction) -> Term:
    """A value of sort Real."""
    return Term("value", (), REAL, (value.numerator, value.denominator))


def bits(value: int, width: int) -> Term:
    """A bit-vector, the value taken modulo 2 to its width."""
    return Term("value", (), bit_vector(width), value & ((1 << width) - 1))


def number(value: int, sort: Sort) -> Term:
    """A value of sort Int or BitVec."""
    return integer(value) if sort.kind == "Int" else bits(value, sort.width)


def symbol(name: str, sort: Sort) -> Term:
    """A symbol: one name and sort is one symbol wherever it is used."""
    return Term("symbol", (), sort, name)


def constant_of(term: Term) -> int | None:
    """The number of an Int or BitVec (unsigned) or Bool value, None for other terms."""
    return term.data if term.op == "value" and isinstance(term.data, int) else None


def not_(term: Term) -> Term:
    """Negation."""
    if term.op == "value":
        return boolean(not term.data)
    if term.op == "not":
        return term.args[0]
    if term.op == "<=" and term.args[0].sort.kind == "Int":
        return linear.less(term.args[1], term.args[0])
    if term.op == ">=" and term.args[0].sort.kind == "Int":
        return linear.less(term.args[0], term.args[1])
    return Term("not", (term,), BOOL)


def and_(*terms: Term) -> Term:
    """Conjunction of any number of terms."""
    return _junction("and", terms, FALSE, TRUE)


def or_(*terms: Term) -> Term:
    """Disjunction of any number of terms."""
    return _junction("or", terms, TRUE, FALSE)


def _junction(op: str, terms: tuple[Term, ...], absorbing: Term, neutral: Term) -> Term:
    kept: dict[Term, None] = {}
    for term in terms:
        for part in term.args if term.op == op else (term,):
            if part is absorbing:
                return absorbing
            if part is not neutral:
                kept[part] = None
    if any(part.op == "not" and part.args[0] in kept for part in kept):
        return absorbing
    if not kept:
        return neutral
    return next(iter(kept)) if len(kept) == 1 else Term(op, tuple(kept), BOOL)


def implies(one: Term, other: Term) -> Term:
    """Implication."""
    return or_(not_(one), other)


def ite(condition: Term, then: Term, otherwise: Term) -> Term:
    """If-then-else, of any sort."""
    if condition.op == "value":
        return then if condition.data else otherwise
    if then is otherwise:
        return then
    if condition.op == "not":
        condition, then, otherwise = condition.args[0], otherwise, then
    if then.sort is BOOL or then.sort.kind == "Bool":
        return _boolean_choice(condition, then, otherwise)
    if then.op == "ite" and then.args[0] is condition:
        then = then.args[1]
    if otherwise.op == "ite" and otherwise.args[0] is condition:
        otherwise = otherwise.args[2]
    if then is otherwise:
        return then
    return Term("ite", (condition, then, otherwise), then.sort)


def _boolean_choice(condition: Term, then: Term, otherwise: Term) -> Term:
    if then.op == "value":
        return or_(condition, otherwise) if then.data else and_(not_(condition), otherwise)
    if otherwise.op == "value":
        return or_(not_(condition), then) if otherwise.data else and_(condition, then)
    return Term("ite", (condition, then, otherwise), BOOL)


def eq(one: Term, other: Term) -> Term:
    """Equality, of any sort; of Booleans, equivalence."""
    if one is other:
        return TRUE
    if one.op == "value" and other.op == "value":
        return FALSE  # values are hash-consed: two objects are two values
    if one.op == "value":
        one, other = other, one
    if other.op == "value":
        if one.sort.kind == "Bool":
            return one if other.data else not_(one)
        if one.op == "ite":
            return _choice_equals(one, other)
    if one.sort.kind in ("Int", "BitVec"):
        return linear.equal(one, other)
    return Term("=", (one, other), BOOL)


def _choice_equals(choice: Term, value: Term) -> Term:
    """`ite(c, a, b) = v` where one of `a` and `b` is a value: what is left of it."""
    condition, then, otherwise = choice.args
    if then.op == "value" or otherwise.op == "value":
        return ite(condition, eq(then, value), eq(otherwise, value))
    return Term("=", (choice, value), BOOL)


def distinct(one: Term, other: Term) -> Term:
    """Disequality."""
    return not_(eq(one, other))


def select(array: Term, index: Term) -> Term:
    """The element of an array; a store at an index that is surely another one, or surely the same, is seen through."""
    while array.op == "store":
        same = eq(array.args[1], index)
        if same is TRUE:
            return array.args[2]
        if same is not FALSE:
            break
        array = array.args[0]
    if array.op == "const":
        return array.args[0]
    assert array.sort.element is not None
    return Term("select", (array, index), array.sort.element)


def store(array: Term, index: Term, element: Term) -> Term:
    """The array with another element at an index."""
    return Term("store", (array, index, element), array.sort)


def filled(sort: Sort, element: Term) -> Term:
    """The array of a sort with the same element everywhere."""
    return Term("const", (element,), sort)
