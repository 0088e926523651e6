"""Interpolants of all nodes of a tree from one resolution proof, by Pudlák's rules ([UPPROVER] section 5.2, Lemma 4).

For a node, a number is of the A part if it occurs in the node's subtree only, of the B part if it occurs outside of it
only, and else common. Each step of the proof gets a partial interpolant:

- a clause of the A part `false`, of the B part `true`; a lemma what its theory says;
- a resolution on a number of the A part the disjunction, of the B part the conjunction; on a common one `ite`.

The partial interpolant of the empty clause is the interpolant. The size of all of them is at most that of the proof
times the number of nodes. One of more than 20,000 terms is not made: nobody could use it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from analysis.smt.interpolants.clauses import ClauseSet
from analysis.smt.interpolants.partitions import PartitionTree
from analysis.smt.interpolants.resolution import Limit, Proof, Step
from analysis.smt.logic.substitution import Substitution
from analysis.smt.logic.term_building import FALSE, TRUE, and_, not_, or_
from analysis.smt.logic.terms import BOOL, Term, subterms

_MOST = 20_000  # terms of an interpolant
_WIDE = 24  # arguments of two terms that are still joined to one


class LemmaInterpolation(Protocol):
    """What a theory says about its lemmas."""

    def lemma_interpolants(self, conflict: Sequence[int], homes: Sequence[int]) -> tuple[Term, ...]:
        """The interpolants, by node, of literals that cannot be true together. `homes` has the partition that each literal
        counts to: one in which it occurs. Raises `Limit` where there are none."""


def proof_interpolants(
    proof: Proof, clauses: ClauseSet, tree: PartitionTree, theory: LemmaInterpolation | None
) -> tuple[Term, ...]:
    """The interpolant of each node, unchecked. Raises `Limit` where the theory has none."""
    lemmas = _lemma_interpolants(proof, clauses, theory)
    return tuple(_interpolant(proof, clauses, tree.subtree(node), node, lemmas) for node in range(len(tree)))


def _lemma_interpolants(proof: Proof, clauses: ClauseSet, theory: LemmaInterpolation | None) -> dict[int, tuple[Term, ...]]:
    found: dict[int, tuple[Term, ...]] = {}
    for number, step in enumerate(proof.steps):
        if step.partition is None and step.start is None:
            if theory is None:
                raise Limit
            conflict = [-literal for literal in step.literals]
            found[number] = theory.lemma_interpolants(conflict, [min(clauses.partitions[abs(one)]) for one in conflict])
    return found


def _interpolant(
    proof: Proof, clauses: ClauseSet, inside: frozenset[int], node: int, lemmas: dict[int, tuple[Term, ...]]
) -> Term:
    partial: list[Term] = []
    for number, step in enumerate(proof.steps):
        if step.partition is not None:
            partial.append(FALSE if step.partition in inside else TRUE)
        elif step.start is None:
            partial.append(lemmas[number][node])
        else:
            partial.append(_resolved(proof, step, clauses, inside, partial))
    return _flattened(partial[-1])


def _resolved(proof: Proof, step: Step, clauses: ClauseSet, inside: frozenset[int], partial: list[Term]) -> Term:
    assert step.start is not None
    total = partial[step.start]
    for pivot, used in step.chain:
        where = clauses.partitions[pivot]
        other = partial[used]
        if where <= inside:
            total = _either(total, other)
        elif inside.isdisjoint(where):
            total = _both(total, other)
        else:
            atom = clauses.atoms[pivot]
            positive, negative = (other, total) if pivot in proof.steps[used].literals else (total, other)
            total = _both(_either(atom, positive), _either(not_(atom), negative))
    return total


def _both(one: Term, other: Term) -> Term:
    """`and_`; wide terms are not joined, which would take quadratic time over a proof."""
    is_wide = len(one.args) + len(other.args) > _WIDE and FALSE not in (one, other) and TRUE not in (one, other)
    return Term("and", (one, other), BOOL) if is_wide and one is not other else and_(one, other)


def _either(one: Term, other: Term) -> Term:
    """`or_`, likewise."""
    is_wide = len(one.args) + len(other.args) > _WIDE and FALSE not in (one, other) and TRUE not in (one, other)
    return Term("or", (one, other), BOOL) if is_wide and one is not other else or_(one, other)


def _flattened(formula: Term) -> Term:
    """The formula as the constructors of terms make it. Raises Limit if it is too large."""
    if sum(1 for _ in subterms((formula,))) > _MOST:
        raise Limit
    return Substitution({})(formula)
