"""The program of Figure 1 of [UPPROVER] as formulas over the reals, made again from the summaries in its text, with any `max`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from analysis.engines.summary.body_partitions import ERROR, FLAW, LITERALS, RETURNS, Partition, Slot, digest_of
from analysis.engines.summary.call_tree import CallTree
from analysis.engines.summary.revision_chain import PROPERTY
from analysis.engines.summary.substitution_schemes import Summaries
from analysis.smt.logic.term_building import FALSE, and_, eq, implies, ite, not_, or_, real, symbol
from analysis.smt.logic.terms import BOOL, REAL, Term, symbols

A, B, RESULT = symbol("in:0", REAL), symbol("in:1", REAL), symbol("out:$result", REAL)


def number(value: int) -> Term:
    return real(Fraction(value))


def plus(*terms: Term) -> Term:
    return Term("+", terms, REAL)


def times(factor: int, term: Term) -> Term:
    return Term("*", (number(factor), term), REAL)


def at_least(one: Term, other: Term) -> Term:
    return Term(">=", (one, other), BOOL)


MAX, ADD, FUN, GET, FIRST, SECOND = (
    Slot(f"{position}>{name}", name) for position, name in enumerate(("max", "add", "fun", "get", "nondet", "nondet"))
)


def returning(
    name: str, value: Term, slots: Sequence[Slot] = (), passed: Sequence[tuple[Slot, Sequence[Term]]] = ()
) -> Partition:
    """A function of reals that returns a value, after these calls."""
    conjuncts = [implies(RETURNS, and_(*(literal for slot in slots for literal in (slot.called, slot.of(RETURNS)))))]
    conjuncts.append(implies(RETURNS, eq(RESULT, value)))
    depends: dict[Term, tuple[Term, ...]] = {RETURNS: tuple(slot.of(RETURNS) for slot in slots), RESULT: symbols((value,))}
    for slot, values in passed:
        for position, given in enumerate(values):
            inner = slot.of((A, B)[position])
            conjuncts.append(implies(slot.called, eq(inner, given)))
            depends[inner] = symbols((given,))
        depends[slot.of(RESULT)] = (slot.called, *(slot.of((A, B)[at]) for at in range(len(values))))
    conjuncts += [implies(literal, FALSE) for literal in LITERALS if literal is not RETURNS]
    inputs = () if name == "nondet" else (A, B)
    return Partition(name, tuple(conjuncts), inputs, (RESULT,), tuple(slots), depends, (), (), False, digest_of(conjuncts, slots))


def main() -> Partition:
    """Asserts that `get` of two numbers is at least 10 + a + 2b, and at least 2b."""
    one, other, found = (slot.of(RESULT) for slot in (FIRST, SECOND, GET))
    fails = or_(not_(at_least(found, plus(number(10), one, times(2, other)))), not_(at_least(found, times(2, other))))
    reached = and_(*(literal for slot in (FIRST, SECOND, GET) for literal in (slot.called, slot.of(RETURNS))))
    conjuncts = [implies(ERROR, and_(reached, fails))]
    for position, given in enumerate((one, other)):
        conjuncts.append(implies(GET.called, eq(GET.of((A, B)[position]), given)))
    conjuncts += [implies(literal, FALSE) for literal in LITERALS if literal not in (ERROR, RETURNS)]
    slots = (FIRST, SECOND, GET)
    depends = {ERROR: symbols(conjuncts[:1]), GET.of(RESULT): (GET.of(A), GET.of(B)), GET.of(A): (one,), GET.of(B): (other,)}
    return Partition("main", tuple(conjuncts), (), (), slots, depends, (), (), False, digest_of(conjuncts, slots))


def tree(largest: Term) -> CallTree:
    """The program of Figure 1, where `max` returns this."""
    zero_up = returning("nondet", symbol("local:0", REAL))
    nondet = Partition(
        "nondet",
        (*zero_up.conjuncts, implies(RETURNS, at_least(RESULT, number(0)))),
        (),
        (RESULT,),
        (),
        zero_up.depends,
        (),
        (),
        False,
        b"nondet",
    )
    total = plus(MAX.of(RESULT), ADD.of(RESULT))
    partitions = {
        "max": returning("max", largest),
        "add": returning("add", plus(A, B)),
        "fun": returning("fun", total, (MAX, ADD), ((MAX, (A, B)), (ADD, (A, number(10))))),
        "get": returning("get", FUN.of(RESULT), (FUN,), ((FUN, (A, B)),)),
        "nondet": nondet,
        "main": main(),
    }
    return CallTree(partitions, "main", 1)


def returned(*values: Term) -> Term:
    return and_(not_(ERROR), *(or_(not_(RETURNS), at_least(RESULT, value)) for value in values))


ABOVE_BOTH = returned(times(2, B), times(2, A))
SUM = plus(number(10), A, times(2, B))
TRIPLE = plus(number(10), times(3, A))
TWICE_LARGER = ite(at_least(A, B), times(2, A), times(2, B))
IN_GET = "main/3>get"
IN_FUN = f"{IN_GET}/2>fun"
IN_MAX = f"{IN_FUN}/0>max"
IN_ADD = f"{IN_FUN}/1>add"


def of_the_figure() -> Summaries:
    """The summaries of Figure 1d."""
    no_flaw = not_(FLAW)
    return {
        "main": PROPERTY,
        "main/4>nondet": and_(no_flaw, returned(number(0))),
        "main/5>nondet": and_(no_flaw, returned(number(0))),
        IN_GET: and_(no_flaw, returned(SUM)),
        IN_FUN: and_(no_flaw, returned(SUM, TRIPLE)),
        f"{IN_FUN}/0>max": and_(no_flaw, ABOVE_BOTH),
        f"{IN_FUN}/1>add": and_(no_flaw, returned(plus(A, B))),
    }
