"""Random trees of partitions whose conjunction is unsatisfiable: clauses are added until z3 says so."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction

from analysis.smt.interpolants.partitions import Partition, PartitionTree
from analysis.smt.logic import real_sums
from analysis.smt.logic.bitvectors import compare, operation
from analysis.smt.logic.term_building import and_, bits, eq, integer, ite, not_, or_, real, select, symbol
from analysis.smt.logic.terms import BOOL, INT, REAL, Term, array, bit_vector
from analysis.smt.solving.solver import Budget
from analysis.smt.solving.z3_backend import Z3Solver

Draw = random.Random
MakeAtom = Callable[[Draw, int], Term]
WORD = bit_vector(4)


def _local(draw: Draw, node: int, names: int) -> str:
    """The name of a symbol: of the node, or one that several nodes have."""
    return f"own{node}.{draw.randrange(names)}" if draw.random() < 0.4 else f"x{draw.randrange(names)}"


def linear_atom(draw: Draw, node: int) -> Term:
    """A linear constraint, now and then with a choice in it, or a Boolean symbol."""
    if draw.random() < 0.1:
        return symbol(f"b{draw.randrange(2)}", BOOL)
    variables = [symbol(_local(draw, node, 3), REAL) for _ in range(draw.randint(1, 3))]
    left = real_sums.rebuilt("+", tuple(real_sums.rebuilt("*", (real(Fraction(draw.randint(-3, 3))), one)) for one in variables))
    right = real(Fraction(draw.randint(-4, 4), draw.randint(1, 2)))
    if draw.random() < 0.15:
        right = ite(symbol(f"c{draw.randrange(2)}", BOOL), right, variables[0])
    return Term(draw.choice(["<=", "<", ">=", ">", "="]), (left, right), BOOL)


def equality_atom(draw: Draw, node: int) -> Term:
    """An equation of terms, or an application of a predicate."""
    one = equality_term(draw, node, 2)
    if draw.random() < 0.2:
        return select(symbol("P", array(INT, BOOL)), one)
    return eq(one, equality_term(draw, node, 2))


def equality_term(draw: Draw, node: int, depth: int) -> Term:
    kind = draw.random()
    if depth and kind < 0.35:
        function = symbol(draw.choice(["F", "G", f"F{node}"]), array(INT, INT))
        return select(function, equality_term(draw, node, depth - 1))
    if depth and kind < 0.5:
        function = symbol("H", array(INT, array(INT, INT)))
        return select(select(function, equality_term(draw, node, depth - 1)), equality_term(draw, node, depth - 1))
    if kind < 0.55:
        return integer(draw.randrange(3))
    return symbol(_local(draw, node, 3), INT)


def word_atom(draw: Draw, node: int) -> Term:
    one, other, third = (symbol(_local(draw, node, 2), WORD) for _ in range(3))
    value = operation(draw.choice(["bvadd", "bvand", "bvxor", "bvor"]), one, draw.choice([other, bits(draw.randrange(16), 4)]))
    return draw.choice([eq(value, third), compare("bvult", value, third), compare("bvsle", value, bits(draw.randrange(16), 4))])


def clause(draw: Draw, node: int, make: MakeAtom) -> Term:
    parts = []
    for _ in range(draw.choice([1, 1, 1, 2, 2, 3])):
        part = make(draw, node)
        if draw.random() < 0.15:
            part = and_(part, make(draw, node))
        if draw.random() < 0.1:
            part = eq(part, make(draw, node))
        parts.append(not_(part) if draw.random() < 0.35 else part)
    return or_(*parts)


def contradictory_tree(seed: int, make: MakeAtom, nodes: int) -> PartitionTree:
    """A tree of up to so many nodes. Conjuncts are added to random nodes until they contradict each other."""
    draw = Draw(seed)
    count = draw.randint(2, nodes)
    parents = [None, *(draw.randrange(node) for node in range(1, count))]
    conjuncts: list[list[Term]] = [[] for _ in parents]
    solver = Z3Solver()
    while solver.check(budget=Budget(5_000)).status == "sat":
        for _ in range(2):
            node = draw.randrange(count)
            conjuncts[node].append(clause(draw, node, make))
            solver.add(conjuncts[node][-1])
    return PartitionTree([Partition(and_(*parts), parent) for parts, parent in zip(conjuncts, parents, strict=True)])
