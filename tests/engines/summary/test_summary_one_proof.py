"""Interpolants of many calls from one proof ([UPPROVER] Algorithm 1), checked like all others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

import pytest

from analysis.engines.summary.body_partitions import conjuncts_of
from analysis.engines.summary.call_tree import CallTree
from analysis.engines.summary.property_check import broken
from analysis.engines.summary.revision_chain import ChainOptions, RevisionChain
from analysis.engines.summary.standing_formulas import Outside
from analysis.engines.summary.tree_interpolation import ByTheory, Interpolator, LiteralsFirst, TreeProblem
from analysis.engines.summary.unwound_program import in_theory, unwound
from analysis.smt.interpolants.checking import is_interpolant
from analysis.smt.interpolants.partitions import PartitionTree
from analysis.smt.logic.term_building import FALSE, TRUE, not_
from analysis.smt.logic.terms import Term
from analysis.smt.solving.solver import Budget, is_unsat
from analysis.smt.solving.z3_backend import Z3Solver
from tests.smt.contradictory_trees import contradictory_tree, linear_atom
from tests.support.explorations import program_of

BUDGET = Budget(20_000)
HEAD = "void reach_error(void); int nondet(void);\n"
STEPS = "\n".join(f"static int f{number}(int n) {{ return f{number - 1}(n) + 1; }}" for number in range(1, 6))
LAYERS = HEAD + "static int f0(int n) { return n; }\n" + STEPS
MAIN = "\nint main(void) { int a = nondet(); if (a < 0 || a > 9) return 0; int b = f5(a); if (b < a) reach_error(); return 0; }"

BESIDE = "\nstatic int same(int n) { return n; }"
WITH_KNOWN_CALLS = BESIDE + MAIN.replace("int b", "".join("a = same(a); " for _ in range(6)) + "int b")
"""Then fewer than half of the calls are new, and the program is not proved as if it were the first revision."""


def tree_of(text: str) -> CallTree:
    """The calls of a program, in linear arithmetic."""
    return in_theory(unwound(program_of(text), "assertion", 2, "int", {}), "lra", {}).tree


class Counted(Interpolator):
    """An interpolator that counts what it is asked; `spoiled`: its interpolants of trees are wrong."""

    def __init__(self, *, spoiled: bool = False) -> None:
        self._by = ByTheory("lra-decomposed")
        self._spoiled = spoiled
        self.pairs = 0
        self.trees: list[int] = []

    def __call__(self, inside: Term, outside: Outside, literals: Sequence[Term]) -> Term | None:
        self.pairs += 1
        return self._by(inside, outside, literals)

    def of_tree(self, tree: PartitionTree, literals: Mapping[int, Sequence[Term]]) -> Sequence[Term] | None:
        self.trees.append(len(tree))
        found = self._by.of_tree(tree, literals)
        return None if found is None else [FALSE, *(TRUE for _ in found[1:])] if self._spoiled else found


def test_all_calls_have_their_interpolants_from_one_proof() -> None:
    made = Counted()
    chain = RevisionChain(ChainOptions(level="lra", bound=2), LiteralsFirst(made))
    found = chain.verify(program_of(LAYERS + MAIN))
    assert (found.status, len(found.work.strengthened)) == ("holds", 6)
    assert (made.pairs, made.trees) == (0, [7])
    assert len(chain.summaries) == 7


def test_equal_calls_have_theirs_from_the_same_proof() -> None:
    """Each of three calls of f5 makes five new ones; what one needed is what the others need that say the same."""
    made = Counted()
    chain = RevisionChain(ChainOptions(level="lra", bound=2), LiteralsFirst(made))
    main = MAIN.replace("int b = f5(a);", "int b = f5(a), c = f5(a), d = f5(a);").replace("b < a", "b < a || c < a || d < a")
    flat = LAYERS.replace("return f4(n) + 1", "return n + 5")
    assert chain.verify(program_of(flat + main)).status == "holds"
    said = [summary for key, summary in chain.summaries.items() if key.endswith("f5")]
    made.pairs, made.trees = 0, []
    found = chain.verify(program_of(LAYERS + main))
    assert (found.status, len(found.work.strengthened)) == ("holds", 15)
    assert (made.pairs, made.trees) == (0, [6] * len(set(said)))
    assert len(set(said)) < len(said)
    assert broken(tree_of(LAYERS + main), chain.summaries, BUDGET) == []


def test_calls_that_are_new_have_theirs_from_one_proof() -> None:
    """The first revision calls nothing below f5; the second one six functions, of which the summary of f5 has to follow."""
    made = Counted()
    chain = RevisionChain(ChainOptions(level="lra", bound=2), LiteralsFirst(made))
    flat = LAYERS.replace("return f4(n) + 1", "return n + 5")
    assert chain.verify(program_of(flat + MAIN)).status == "holds"
    (strong,) = (summary for key, summary in chain.summaries.items() if key != "main")
    made.pairs, made.trees = 0, []
    found = chain.verify(program_of(LAYERS + MAIN))
    assert found.status == "holds"
    assert [key.rpartition("::")[2] for key in found.work.validated] == ["f5"]
    assert {key.rpartition("::")[2] for key in found.work.strengthened} == {"f4", "f3", "f2", "f1", "f0"}
    assert (made.pairs, made.trees) == (0, [6])
    assert strong in chain.summaries.values()


def test_one_proof_serves_a_call_and_its_caller() -> None:
    """What f5 said still holds, but main needs more of it: f5, which is validated first, waits for the proof of main. It keeps
    what it said, as that follows from what the proof says of the new calls."""
    made = Counted()
    chain = RevisionChain(ChainOptions(level="lra", bound=2), LiteralsFirst(made))
    flat = LAYERS.replace("return f4(n) + 1", "return n + 5")
    assert chain.verify(program_of(flat + WITH_KNOWN_CALLS)).status == "holds"
    (before,) = (summary for key, summary in chain.summaries.items() if key.endswith("f5"))
    made.pairs, made.trees = 0, []
    text = LAYERS + WITH_KNOWN_CALLS.replace("b < a", "b < a || b > a + 9")
    found = chain.verify(program_of(text))
    assert (found.status, found.work.weakened, found.work.invalid) == ("holds", [], [])
    assert [key.rpartition("::")[2] for key in found.work.validated] == ["f5", "main"]
    assert {key.rpartition("::")[2] for key in found.work.strengthened} == {"f5", "f4", "f3", "f2", "f1", "f0", "same"}
    assert (made.pairs, made.trees) == (0, [13])
    (after,) = (summary for key, summary in chain.summaries.items() if key.endswith("f5"))
    assert set(conjuncts_of(before)) <= set(conjuncts_of(after))
    assert broken(tree_of(text), chain.summaries, BUDGET) == []


def test_without_weakening_a_call_has_a_proof_of_its_own() -> None:
    """It could not keep a part of what it said."""
    made = Counted()
    chain = RevisionChain(ChainOptions(level="lra", bound=2, weakens=False), LiteralsFirst(made))
    flat = LAYERS.replace("return f4(n) + 1", "return n + 5")
    assert chain.verify(program_of(flat + WITH_KNOWN_CALLS)).status == "holds"
    made.pairs, made.trees = 0, []
    text = LAYERS + WITH_KNOWN_CALLS.replace("b < a", "b < a || b > a + 9")
    found = chain.verify(program_of(text))
    assert (found.status, found.work.weakened, found.work.invalid) == ("holds", [], [])
    assert made.pairs == 0
    assert (made.trees[0], len(made.trees)) == (6, 2)
    assert broken(tree_of(text), chain.summaries, BUDGET) == []


def test_what_is_wrong_of_one_proof_does_not_count() -> None:
    made = Counted(spoiled=True)
    chain = RevisionChain(ChainOptions(level="lra", bound=2), LiteralsFirst(made))
    found = chain.verify(program_of(LAYERS + MAIN))
    assert (found.status, len(found.work.strengthened)) == ("holds", 6)
    assert (made.pairs, made.trees) == (6, [7])


@pytest.mark.parametrize("seed", range(60))
def test_solutions_of_random_trees(seed: int) -> None:
    """The tree property holds at each node, and each interpolant fulfils Definition 1, whatever nodes are wanted."""
    draw = Random(seed)
    tree = contradictory_tree(seed, linear_atom, 6)
    parents = [-1 if parent is None else parent for parent in tree.parents]
    wanted = [node for node in range(1, len(tree)) if draw.random() < 0.8]
    likely = [draw.choice(formula.args) if formula.op == "and" else formula for formula in tree.formulas]
    literals = {node: [likely[node], not_(likely[node])] for node in wanted}
    make = LiteralsFirst(ByTheory("lra-decomposed"))
    found = TreeProblem(tree.formulas, parents, literals).solution(make, wanted, Z3Solver.near(), BUDGET)
    assert set(found) == set(wanted)
    solver = Z3Solver.near()
    for node in (0, *wanted):
        below, waiting = [tree.formulas[node]], [*tree.children[node]]
        while waiting:
            child = waiting.pop()
            below.append(found.get(child, tree.formulas[child]))
            waiting += [] if child in found else tree.children[child]
        assert is_unsat(solver, (*below, not_(found[node]) if node else TRUE), BUDGET)
    for node in wanted:
        assert is_interpolant(solver, tree.inside(node), tree.outside(node), found[node], BUDGET)
