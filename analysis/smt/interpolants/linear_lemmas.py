"""Linear real arithmetic: which literals contradict each other, and Farkas interpolants of them ([UPPROVER] section 5.2).

A literal is a constraint `sum <= 0` or `sum < 0`. z3 says which literals contradict each other (an unsat core). The
coefficients of Farkas' lemma are a solution of the dual system: factors of at least 0 with which the constraints add up to
`c <= 0` where c > 0 (or `c < 0` where c >= 0). z3 finds that solution too; it is checked exactly. This reads no proof
objects of z3, whose steps of preprocessing hide which literal a coefficient belongs to. It costs one more small query
for each lemma of the final proof.

The plain interpolant of a node is the weighted sum of the constraints that count to its subtree. The decomposed one is a
conjunction of sums (`decomposition`). It is gradual: a node is decomposed into what its children were decomposed into, and
constraints of its own. So each of its conjuncts is a sum of conjuncts of the children, which gives the tree property.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from analysis.smt.interpolants.clauses import ClauseSet, is_connective
from analysis.smt.interpolants.decomposition import Constraint, added, decomposed
from analysis.smt.interpolants.partitions import PartitionTree
from analysis.smt.interpolants.resolution import Limit, Unsupported
from analysis.smt.logic import real_sums
from analysis.smt.logic.substitution import rebuilt
from analysis.smt.logic.term_building import and_, not_, or_, real, symbol
from analysis.smt.logic.terms import BOOL, REAL, Term, subterms
from analysis.smt.solving.solver import Budget, Solver

_ORDERS = frozenset(("<=", "<", ">=", ">"))


def prepared(formula: Term) -> Term:
    """The formula, its linear atoms in the normal form of `real_sums.not_above_zero`: an equation is two of them, so that what
    is not equal is less or greater. Raises Unsupported for an atom that is neither linear nor a Boolean symbol."""
    done: dict[Term, Term] = {}
    for part in subterms((formula,)):
        if part.sort.kind == "Bool":
            done[part] = rebuilt(part, tuple([done[a] for a in part.args])) if is_connective(part) else _atom(part)
    return done[formula]


def _atom(term: Term) -> Term:
    if term.op in ("symbol", "value"):
        return term
    if not (term.op in _ORDERS or term.op == "=") or term.args[0].sort.kind != "Real":
        raise Unsupported(f"not of linear real arithmetic: {term.op}")
    one, other = term.args
    if term.op in (">=", ">"):
        one, other = other, one
    factors, constant = real_sums.total(((real_sums.parts(one), Fraction(1)), (real_sums.parts(other), Fraction(-1))))
    if any(summand.op != "symbol" for summand in factors):
        raise Unsupported("a summand that is no symbol")
    below = real_sums.not_above_zero(factors, constant, term.op in ("<", ">"))
    if term.op != "=":
        return below
    return and_(below, real_sums.not_above_zero({s: -f for s, f in factors.items()}, -constant, False))


class LinearLemmas:
    """The theory of one search. `tree` is that of the clauses."""

    def __init__(
        self, clauses: ClauseSet, tree: PartitionTree, new_solver: Callable[[], Solver], budget: Budget, is_decomposed: bool
    ) -> None:
        self._tree, self._budget, self._is_decomposed = tree, budget, is_decomposed
        self._solver, self._dual = new_solver(), new_solver()
        self._constraints: dict[int, tuple[Constraint, Constraint]] = {}
        self._names: dict[Term, int] = {}
        for number, atom in clauses.atoms.items():
            if atom.op in _ORDERS:
                self._constraints[number] = _constraints(atom)
                name = symbol(f"atom!{number}", BOOL)
                self._names[name] = number
                self._solver.add(or_(not_(name), atom), or_(name, not_(atom)))
        self._assumed = {number: name for name, number in self._names.items()}

    def conflict(self, literals: Sequence[int]) -> Sequence[int] | None:
        """See `resolution.Theory`."""
        assumed = {
            self._assumed[abs(literal)] if literal > 0 else not_(self._assumed[abs(literal)]): literal
            for literal in literals
            if abs(literal) in self._assumed
        }
        answer = self._solver.check(*assumed, budget=self._budget)
        if answer.status == "unknown":
            raise Limit
        return None if answer.status == "sat" else [assumed[name] for name in self._solver.core()]

    def lemma_interpolants(self, conflict: Sequence[int], homes: Sequence[int]) -> tuple[Term, ...]:
        """See `proof_interpolants.LemmaInterpolation`."""
        constraints = [self._constraints[abs(literal)][literal < 0] for literal in conflict]
        weights = farkas_coefficients(constraints, self._dual, self._budget)
        weighted = [
            (added([(one, weight)]), home) for one, weight, home in zip(constraints, weights, homes, strict=True) if weight
        ]
        make = self._decomposed if self._is_decomposed else self._plain
        return make(weighted)

    def _plain(self, weighted: Sequence[tuple[Constraint, int]]) -> tuple[Term, ...]:
        found = []
        for node in range(len(self._tree)):
            inside = self._tree.subtree(node)
            found.append(added([(one, Fraction(1)) for one, home in weighted if home in inside]).term())
        return tuple(found)

    def _decomposed(self, weighted: Sequence[tuple[Constraint, int]]) -> tuple[Term, ...]:
        components: dict[int, list[Constraint]] = {}
        for node in range(len(self._tree) - 1, -1, -1):
            own = [one for one, home in weighted if home == node]
            below = [one for child in self._tree.children[node] for one in components[child]]
            components[node] = decomposed([*below, *own], self._tree.shared(node))
        return tuple(and_(*(one.term() for one in components[node])) for node in range(len(self._tree)))


def _constraints(atom: Term) -> tuple[Constraint, Constraint]:
    """What an atom says, and what its negation says."""
    factors, constant = real_sums.parts(atom.args[0])
    constant -= real_sums.parts(atom.args[1])[1]
    is_strict = atom.op == "<"
    turned = {summand: -factor for summand, factor in factors.items()}
    return Constraint(factors, constant, is_strict), Constraint(turned, -constant, not is_strict)


def farkas_coefficients(constraints: Sequence[Constraint], solver: Solver, budget: Budget) -> list[Fraction]:
    """Factors of at least 0, one for each constraint, with which they add up to a contradiction. Raises Limit if the solver
    finds none. `solver` holds nothing else."""
    factors = [symbol(f"factor!{position}", REAL) for position in range(len(constraints))]
    zero = real(Fraction(0))
    columns: dict[Term, dict[Term, Fraction]] = {}
    for factor, one in zip(factors, constraints, strict=True):
        for summand, times in one.factors.items():
            columns.setdefault(summand, {})[factor] = times
    constant = {factor: one.constant for factor, one in zip(factors, constraints, strict=True) if one.constant}
    strict = {factor: Fraction(1) for factor, one in zip(factors, constraints, strict=True) if one.is_strict}
    with_strict, _ = real_sums.total((((constant, Fraction(0)), Fraction(1)), ((strict, Fraction(0)), Fraction(1))))
    system = [Term(">=", (factor, zero), BOOL) for factor in factors]
    system += [Term("=", (_term(column), zero), BOOL) for column in columns.values()]
    system.append(Term(">=", (_term(constant), zero), BOOL))
    system.append(Term("=", (_term(with_strict), real(Fraction(1))), BOOL))  # more than 0, which scaling makes 1
    found = _values(solver, factors, system, budget)
    if not added(list(zip(constraints, found, strict=True))).is_contradiction or min(found) < 0:
        raise Limit
    return found


def _term(column: Mapping[Term, Fraction]) -> Term:
    return real_sums.build(column, Fraction(0))


def _values(solver: Solver, factors: Sequence[Term], system: Sequence[Term], budget: Budget) -> list[Fraction]:
    solver.push()
    try:
        solver.add(*system)
        if solver.check(budget=budget).status != "sat":
            raise Limit
        model = solver.model()
        return [Fraction(model.value(factor)) for factor in factors]
    finally:
        solver.pop()
