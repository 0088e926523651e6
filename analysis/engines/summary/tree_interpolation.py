"""Interpolants of trees of formulas ([UPPROVER] Definitions 1 and 2), and the check of each before it counts.

Nodes for which a few likely literals suffice come first, those below first: the interpolant of a node is one of its own formula
with the interpolants of the nodes below it, against all the rest, with the interpolants of what is done already. So they have
the tree property however each was made. The other nodes, and those above them, have their interpolants from one proof of what
is left, if the method has such proofs. If not, or if the check refuses what comes of it, they are made node after node, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from analysis.engines.summary.standing_formulas import Outside, StandingFormulas
from analysis.smt.interpolants.checking import has_tree_property
from analysis.smt.interpolants.partitions import Partition, PartitionTree
from analysis.smt.interpolants.theories import Limits, Theory
from analysis.smt.interpolants.theories import interpolants as theory_interpolants
from analysis.smt.logic.term_building import TRUE, and_, not_
from analysis.smt.logic.terms import Term, symbols
from analysis.smt.solving.interpolation import Method, interpolants
from analysis.smt.solving.solver import Budget, Solver, is_unsat
from analysis.smt.solving.z3_backend import Z3Solver


class Interpolator(Protocol):
    """Finds an interpolant. Whoever asks checks it."""

    def __call__(self, inside: Term, outside: Outside, literals: Sequence[Term]) -> Term | None:
        """A formula that `inside` implies and that contradicts `outside`, over symbols of both; None if none is found.
        `literals` are formulas that are likely to be parts of one."""

    def of_literals(self, inside: Term, outside: Outside, literals: Sequence[Term]) -> Term | None:
        """The same of literals alone, without a search."""
        return None

    def of_tree(self, tree: PartitionTree, literals: Mapping[int, Sequence[Term]]) -> Sequence[Term] | None:
        """The interpolants of all nodes from one proof, that of the root first, which is `false`; None if none are found.
        `literals` are those of each node."""
        return None


class BySolvers(Interpolator):
    """Weakest preconditions and Spacer, over any sorts (`analysis.smt.solving.interpolation`)."""

    def __init__(self, budget: Budget = Budget(2_000), methods: Sequence[Method] = ("spacer", "core")) -> None:  # noqa: B008
        self._budget = budget
        self._methods = methods
        self._solver = Z3Solver.near()

    def __call__(self, inside: Term, outside: Outside, literals: Sequence[Term]) -> Term | None:
        """See Interpolator."""
        against = outside.against(inside)
        found = None if against is None else interpolants(self._solver, (inside, against), self._budget, self._methods)
        return None if found is None else found[0][0]


class ByTheory(Interpolator):
    """Interpolants of one theory (`analysis.smt.interpolants`)."""

    def __init__(self, theory: Theory, limits: Limits | None = None) -> None:
        self._theory = theory
        self._limits = limits

    def __call__(self, inside: Term, outside: Outside, literals: Sequence[Term]) -> Term | None:
        """See Interpolator."""
        against = outside.against(inside)
        if against is None:
            return None
        tree = PartitionTree((Partition(against), Partition(inside, 0)))
        found = theory_interpolants(self._theory, tree, self._limits, Z3Solver.near).interpolants
        return None if found is None else found[1]

    def of_tree(self, tree: PartitionTree, literals: Mapping[int, Sequence[Term]]) -> Sequence[Term] | None:
        """See Interpolator."""
        return theory_interpolants(self._theory, tree, self._limits, Z3Solver.near).interpolants


class LiteralsFirst(Interpolator):
    """Conjunctions of the likely literals where they suffice, with what a general method finds (None: there is none) where they
    do not."""

    def __init__(self, general: Interpolator | None, budget: Budget = Budget(2_000)) -> None:  # noqa: B008
        self._general = general
        self._budget = budget
        self._solver = Z3Solver.near()

    def __call__(self, inside: Term, outside: Outside, literals: Sequence[Term]) -> Term | None:
        """See Interpolator."""
        known = self._known(inside, outside, literals)
        if outside.contradicts(known):
            return known
        found = None if self._general is None else self._general(inside, outside.with_(known), literals)
        return None if found is None else and_(known, found)

    def of_literals(self, inside: Term, outside: Outside, literals: Sequence[Term]) -> Term | None:
        """See Interpolator."""
        known = self._known(inside, outside, literals)
        return known if outside.contradicts(known) else None

    def of_tree(self, tree: PartitionTree, literals: Mapping[int, Sequence[Term]]) -> Sequence[Term] | None:
        """See Interpolator."""
        made = None if self._general is None else self._general.of_tree(tree, literals)
        if made is None:
            return None
        found = [*made]
        for node in range(len(tree) - 1, 0, -1):
            inside = and_(tree.formulas[node], *(found[child] for child in tree.children[node]))
            found[node] = and_(self._implied(inside, tree.shared(node), literals.get(node, ())), found[node])
        return found

    def _known(self, inside: Term, outside: Outside, literals: Sequence[Term]) -> Term:
        return self._implied(inside, outside.symbols.intersection(symbols((inside,))), literals)

    def _implied(self, inside: Term, shared: frozenset[Term], literals: Sequence[Term]) -> Term:
        """The literals over `shared` that follow from `inside`."""
        likely = [literal for literal in literals if shared.issuperset(symbols((literal,)))]
        return and_(*(literal for literal in likely if is_unsat(self._solver, (inside, not_(literal)), self._budget)))


class TreeProblem:
    """Formulas at the nodes of a tree, which contradict each other. Nodes are numbered from 0, the root, and `parents` come
    before their children; `literals` are likely parts of the interpolants of a node."""

    def __init__(self, formulas: Sequence[Term], parents: Sequence[int], literals: Mapping[int, Sequence[Term]]) -> None:
        self._formulas = formulas
        self._parents = parents
        self._literals = literals

    def solution(self, make: Interpolator, wanted: Sequence[int], solver: Solver, budget: Budget) -> dict[int, Term]:
        """Interpolants of the `wanted` nodes, those that were found. A node without one counts as a part of what is above it."""
        needed = self._needed(solver, budget)
        subtrees = {node: self._subtree(node) for node in wanted}
        found = {node: TRUE for node in wanted if needed is not None and needed.isdisjoint(subtrees[node])}
        left = {node: subtrees[node] for node in sorted(set(wanted) - found.keys(), reverse=True)}
        standing = StandingFormulas(solver, budget)
        left = self._left_by_literals(make, left, found, standing)
        if not self._found_by_one_proof(make, left, found, solver, budget):
            self._find_each(make, left, found, standing)
        return found

    def _left_by_literals(
        self, make: Interpolator, subtrees: Mapping[int, set[int]], found: dict[int, Term], standing: StandingFormulas
    ) -> dict[int, set[int]]:
        """Adds the interpolants that are conjunctions of literals to those that are `found`. Returns what is left of the nodes,
        with all that are above one that is left: theirs may depend on it."""
        left: dict[int, set[int]] = {}
        for node, below in subtrees.items():
            candidate = None
            if below.isdisjoint(left):
                inside, outside = self._parted(node, below, found, standing)
                candidate = make.of_literals(inside, outside, self._literals.get(node, ()))
                if candidate is not None and outside.has_interpolant(inside, candidate):
                    found[node] = candidate
                    continue
            left[node] = below
        return left

    def _found_by_one_proof(
        self, make: Interpolator, subtrees: Mapping[int, set[int]], found: dict[int, Term], solver: Solver, budget: Budget
    ) -> bool:
        """Whether all nodes have interpolants from one proof, which are added to those that are `found`."""
        if len(subtrees) < 2:
            return False
        nodes = [0, *sorted(subtrees)]
        tree = self._rest(nodes, subtrees, found)
        literals = {place: self._literals.get(node, ()) for place, node in enumerate(nodes)}
        made = make.of_tree(tree, literals)
        if made is None or not has_tree_property(solver, tree, made, budget):
            return False
        found.update(zip(nodes[1:], made[1:], strict=True))
        return True

    def _rest(self, nodes: Sequence[int], subtrees: Mapping[int, set[int]], found: Mapping[int, Term]) -> PartitionTree:
        """The tree of some nodes, the root first, each with all that is below it and below none of the others."""
        own = [set(subtrees.get(node, range(len(self._formulas)))) for node in nodes]
        parts = [Partition(TRUE)] * len(nodes)
        for place in range(len(nodes) - 1, -1, -1):
            above = [other for other in range(place) if nodes[place] in own[other]]
            parts[place] = Partition(and_(*self._standing(own[place], found)), max(above, default=None))
            for other in above:
                own[other] -= own[place]
        return PartitionTree(parts)

    def _find_each(
        self, make: Interpolator, subtrees: Mapping[int, set[int]], found: dict[int, Term], standing: StandingFormulas
    ) -> None:
        """Adds the interpolants of the nodes, node after node, to those that are `found`."""
        for node, below in subtrees.items():
            inside, outside = self._parted(node, below, found, standing)
            candidate = make(inside, outside, self._literals.get(node, ()))
            if candidate is not None and outside.has_interpolant(inside, candidate):
                found[node] = candidate

    def _parted(self, node: int, below: set[int], found: Mapping[int, Term], standing: StandingFormulas) -> tuple[Term, Outside]:
        """What a node says with all below it, and what the others say."""
        inside = and_(*self._standing(below - {node}, found), self._formulas[node])
        return inside, Outside(standing, self._standing(set(range(len(self._formulas))) - below, found))

    def _needed(self, solver: Solver, budget: Budget) -> set[int] | None:
        """Nodes whose formulas suffice for the contradiction; None if the solver does not say."""
        if solver.check(*self._formulas, budget=budget).status != "unsat":
            return None
        core = set(solver.core())
        return {node for node, formula in enumerate(self._formulas) if formula in core}

    def _subtree(self, root: int) -> set[int]:
        found = {root}
        for node in range(root + 1, len(self._formulas)):
            if self._parents[node] in found:
                found.add(node)
        return found

    def _standing(self, nodes: set[int], found: Mapping[int, Term]) -> list[Term]:
        """What the nodes say, where the interpolant of a node stands for its subtree."""
        said: list[Term] = []
        covered: set[int] = set()
        for node in sorted(nodes):
            parent = self._parents[node]
            if parent in covered:
                covered.add(node)
            elif node in found:
                covered.add(node)
                said.append(found[node])
            else:
                said.append(self._formulas[node])
        return said
