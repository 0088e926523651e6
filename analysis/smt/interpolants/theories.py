"""The door: interpolants of a tree of partitions, by theory.

- `lra`, `lra-decomposed`: linear real arithmetic with plain or decomposed Farkas interpolants (`linear_lemmas`);
- `euf`: equality and uninterpreted functions (`equality_lemmas`);
- `prop`: bit-vectors on their bits, with Pudlák's rules alone. What that does not do (arrays, division, more than a
  few conflicts) Bitwuzla does, if it is installed, which interpolates the proof of its SAT solver;
- `spacer`: formulas of any of the encodings, by `solving.interpolation`.

All but the last make one proof for all nodes. If the check refuses what comes of it, they take the nodes one after the
other from the leaves to the root, as `spacer` and Bitwuzla always do: a node's partition and its children's interpolants are
separated from all else, where interpolants already replace the subtrees that they are of. That gives the tree property
whatever the method, and costs one proof for each node.

A cheap step comes first: z3 says which conjuncts of the partitions contradict each other, and the others are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from analysis.smt.interpolants.bit_blasting import blasted
from analysis.smt.interpolants.bound_merging import merged
from analysis.smt.interpolants.checking import broken_nodes
from analysis.smt.interpolants.choices import without_choices
from analysis.smt.interpolants.clauses import ClauseSet
from analysis.smt.interpolants.equality_lemmas import EqualityLemmas
from analysis.smt.interpolants.linear_lemmas import LinearLemmas, prepared
from analysis.smt.interpolants.partitions import Partition, PartitionTree
from analysis.smt.interpolants.proof_interpolants import proof_interpolants
from analysis.smt.interpolants.resolution import Limit, Search, Unsupported
from analysis.smt.logic.term_building import FALSE, TRUE, and_
from analysis.smt.logic.terms import Term
from analysis.smt.solving import bitwuzla_interpolation, interpolation
from analysis.smt.solving.solver import Budget, Solver
from analysis.smt.solving.z3_backend import Z3Solver

Theory = Literal["lra", "lra-decomposed", "euf", "prop", "spacer"]
Reason = Literal["", "satisfiable", "limit", "unsupported", "refused"]
Origin = Literal["", "one proof", "gradual"]
NewSolver = Callable[[], Solver]
_CONFLICTS_ON_BITS = 2_000  # beyond them Bitwuzla's SAT solver is faster by far, where there is one


class Limits(msgspec.Struct, frozen=True):
    """What one proof may take: conflicts and lemmas of the search, and the budget of each check of a solver."""

    conflicts: int = 20_000
    lemmas: int = 2_000
    budget: Budget = Budget()


class Outcome(msgspec.Struct, frozen=True):
    """Interpolants, one for each partition, all checked; or None, and why.

    `limit`: the work or a solver's budget ran out, or an interpolant is too large. `unsupported`: a term that the theory
    does not have. `refused`: what was made failed the check. `refused` counts the candidates (of one node) that failed it;
    `lemmas` and `conflicts` are the work of the searches."""

    interpolants: tuple[Term, ...] | None
    reason: Reason = ""
    origin: Origin = ""
    refused: int = 0
    lemmas: int = 0
    conflicts: int = 0


def interpolants(theory: Theory, tree: PartitionTree, limits: Limits | None = None, new_solver: NewSolver = Z3Solver) -> Outcome:
    """The interpolants of a tree whose conjunction is unsatisfiable in the theory. The root's is `false`.

    `new_solver` makes the solvers that are asked, those of the check included."""
    return _Making(theory, tree, limits or Limits(), new_solver).outcome()


class _Satisfiable(Exception):  # noqa: N818
    """The partitions can be true together."""


class _Making:
    """The making of one tree's interpolants."""

    def __init__(self, theory: Theory, tree: PartitionTree, limits: Limits, new_solver: NewSolver) -> None:
        self._theory, self._tree, self._limits, self._new_solver = theory, tree, limits, new_solver
        self._lemmas = self._conflicts = self._refused = 0

    def outcome(self) -> Outcome:
        try:
            needed = self._needed()
            found = self._made_of_one_proof(needed)
            if found is not None:
                return self._outcome(found, origin="one proof")
            found = self._made_gradually(needed)
        except _Satisfiable:
            return self._outcome(None, "satisfiable")
        except (Limit, RecursionError):  # paths of equalities follow the nesting of terms
            return self._outcome(None, "limit")
        except Unsupported:
            return self._outcome(None, "unsupported")
        return self._outcome(found, "refused" if found is None else "", "" if found is None else "gradual")

    def _outcome(self, found: tuple[Term, ...] | None, reason: Reason = "", origin: Origin = "") -> Outcome:
        return Outcome(found, reason, origin, self._refused, self._lemmas, self._conflicts)

    def _needed(self) -> PartitionTree:
        """The tree with those conjuncts only that contradict each other."""
        conjuncts = [formula.args if formula.op == "and" else (formula,) for formula in self._tree.formulas]
        solver = self._new_solver()
        answer = solver.check(*dict.fromkeys(part for parts in conjuncts for part in parts), budget=self._limits.budget)
        if answer.status == "sat":
            raise _Satisfiable
        if answer.status == "unknown":
            raise Limit
        core = set(solver.core())
        formulas = [and_(*(part for part in parts if part in core)) for parts in conjuncts]
        return PartitionTree([Partition(one, parent) for one, parent in zip(formulas, self._tree.parents, strict=True)])

    def _checked(self, found: Sequence[Term]) -> tuple[Term, ...] | None:
        """The candidates if they are interpolants of the whole tree."""
        broken = broken_nodes(self._new_solver(), self._tree, found, self._limits.budget)
        self._refused += len(broken)
        return None if broken else tuple(found)

    def _made_of_one_proof(self, tree: PartitionTree) -> tuple[Term, ...] | None:
        if self._theory == "spacer":
            return None
        try:
            return self._checked(self._by_proof(tree))
        except (Limit, Unsupported):
            if self._theory == "prop" and bitwuzla_interpolation.is_available():
                return None
            raise

    def _made_gradually(self, tree: PartitionTree) -> tuple[Term, ...] | None:
        try:
            return self._checked(self._gradual(tree))
        except _Satisfiable:  # but the tree contradicts itself: a candidate below said too little
            self._refused += 1
            return None

    def _gradual(self, tree: PartitionTree) -> list[Term]:
        """Interpolants of one node after the other, from the leaves to the root."""
        found: list[Term] = [FALSE] * len(tree)
        pieces: dict[int, Term] = dict(enumerate(tree.formulas))  # what stands for the partitions that were not replaced
        for node in range(len(tree) - 1, 0, -1):
            inside = and_(pieces.pop(node), *(pieces.pop(child) for child in tree.children[node]))
            found[node] = pieces[node] = self._binary(inside, and_(*pieces.values()))
        return found

    def _binary(self, inside: Term, outside: Term) -> Term:
        """A candidate for one pair (A | B)."""
        if inside in (TRUE, FALSE) or outside in (TRUE, FALSE):
            return FALSE if inside is FALSE or outside is TRUE else TRUE
        budget = self._limits.budget
        if self._theory == "spacer":
            made = interpolation.interpolants(self._new_solver(), (inside, outside), budget)
            if made is None:
                raise Limit
            return made[0][0]
        if self._theory == "prop" and bitwuzla_interpolation.is_available():
            on_bits = bitwuzla_interpolation.sequence_interpolants((inside, outside), budget)
            if on_bits is None:
                raise Limit
            return on_bits[0]
        return self._by_proof(PartitionTree([Partition(outside), Partition(inside, 0)]))[1]

    def _by_proof(self, tree: PartitionTree) -> tuple[Term, ...]:
        """Candidates for all nodes from one proof."""
        formulas = [self._prepared(formula, node) for node, formula in enumerate(tree.formulas)]
        own = PartitionTree([Partition(formula, parent) for formula, parent in zip(formulas, tree.parents, strict=True)])
        clauses = ClauseSet()
        for node, formula in enumerate(formulas):
            clauses.add(formula, node)
        lemmas = self._lemmas_of(clauses, own)
        conflicts = self._limits.conflicts
        if self._theory == "prop" and bitwuzla_interpolation.is_available():
            conflicts = min(conflicts, _CONFLICTS_ON_BITS)
        search = Search(clauses, lemmas, conflicts, self._limits.lemmas)
        try:
            proof = search.refutation()
        finally:
            self._lemmas += search.lemmas
            self._conflicts += search.conflicts
        if proof is None:
            raise _Satisfiable
        found = proof_interpolants(proof, clauses, own, lemmas)
        return tuple(merged(one) for one in found) if isinstance(lemmas, LinearLemmas) else found

    def _prepared(self, formula: Term, partition: int) -> Term:
        """The formula as the search takes it."""
        if self._theory == "prop":
            return blasted(formula)
        alone = without_choices(formula, partition)
        return alone if self._theory == "euf" else prepared(alone)

    def _lemmas_of(self, clauses: ClauseSet, tree: PartitionTree) -> LinearLemmas | EqualityLemmas | None:
        if self._theory == "prop":
            return None
        if self._theory == "euf":
            return EqualityLemmas(clauses, tree)
        return LinearLemmas(clauses, tree, self._new_solver, self._limits.budget, self._theory == "lra-decomposed")
