"""Interpolants of trees of partitions, by theory: what is returned fulfils Definition 1 and equation 8 of [UPPROVER]."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from smt.contradictory_trees import (
    Draw,
    MakeAtom,
    contradictory_tree,
    equality_atom,
    linear_atom,
    word_atom,
)

from analysis.smt.interpolants import proof_interpolants, theories
from analysis.smt.interpolants.bound_merging import merged
from analysis.smt.interpolants.checking import broken_nodes, has_tree_property, is_interpolant
from analysis.smt.interpolants.clauses import Clause, ClauseSet
from analysis.smt.interpolants.decomposition import Constraint, added, decomposed
from analysis.smt.interpolants.linear_lemmas import farkas_coefficients, prepared
from analysis.smt.interpolants.partitions import Partition, PartitionTree
from analysis.smt.interpolants.resolution import Limit, Search, Unsupported
from analysis.smt.interpolants.theories import Limits, Theory, interpolants
from analysis.smt.logic import real_sums
from analysis.smt.logic.smtlib import write
from analysis.smt.logic.smtlib_reading import read
from analysis.smt.logic.substitution import Substitution
from analysis.smt.logic.term_building import FALSE, TRUE, and_, distinct, eq, not_, or_, real, select, symbol
from analysis.smt.logic.terms import BOOL, INT, REAL, Term, array, symbols
from analysis.smt.solving.solver import Budget
from analysis.smt.solving.z3_backend import Z3Solver

BUDGET = Budget(10_000)
SEEDS = st.integers(0, 2**32 - 1)
X, Y, Z = (symbol(name, REAL) for name in "xyz")
I, J, K = (symbol(name, INT) for name in "ijk")  # noqa: E741  # as mathematics has them
F = symbol("F", array(INT, INT))


def constraint(factors: dict[Term, int], constant: int = 0, is_strict: bool = False) -> Constraint:
    return Constraint({summand: Fraction(factor) for summand, factor in factors.items()}, Fraction(constant), is_strict)


def at_most(factors: dict[Term, int], constant: int = 0) -> Term:
    """The sum plus the constant is at most 0."""
    return constraint(factors, constant).term()


def chain(*formulas: Term) -> PartitionTree:
    """Each partition is the child of the one before."""
    return PartitionTree([Partition(formula, number - 1 if number else None) for number, formula in enumerate(formulas)])


def confirmed(theory: Theory, tree: PartitionTree) -> theories.Outcome:
    """The interpolants, of which another solver says that each fulfils Definition 1 and all have the tree property."""
    outcome, solver = interpolants(theory, tree), Z3Solver()
    assert outcome.interpolants is not None, outcome
    for node, found in enumerate(outcome.interpolants):
        assert is_interpolant(solver, tree.inside(node), tree.outside(node), found, BUDGET)
    assert has_tree_property(solver, tree, outcome.interpolants, BUDGET)
    return outcome


@pytest.mark.parametrize(
    ("theory", "make"),
    [("lra", linear_atom), ("lra-decomposed", linear_atom), ("euf", equality_atom), ("spacer", linear_atom)],
)
@settings(max_examples=6)
@given(seed=SEEDS)
def test_what_is_returned_is_a_tree_interpolant(theory: Theory, make: MakeAtom, seed: int) -> None:
    tree = contradictory_tree(seed, make, 5)
    assert interpolants(theory, tree) == confirmed(theory, tree)  # the same input, the same interpolants


@settings(max_examples=6)
@given(seed=SEEDS)
def test_interpolants_on_bits(seed: int) -> None:
    """Lemma 4 of [UPPROVER]: Pudlák's interpolants of one proof have the tree property."""
    assert confirmed("prop", contradictory_tree(seed, word_atom, 4)).origin == "one proof"


@settings(max_examples=10)
@given(seed=SEEDS)
@example(seed=137469091)  # two siblings that split one congruence at different terms
def test_one_proof_serves_all_nodes(seed: int) -> None:
    """Lemmas 1, 2, 3 and 4 of [UPPROVER]: Farkas interpolants, plain and gradually decomposed, and those of paths of equalities
    have the tree property if they are of one proof."""
    linear_one, equal_one = contradictory_tree(seed, linear_atom, 6), contradictory_tree(seed, equality_atom, 6)
    assert {interpolants("lra", linear_one).origin, interpolants("lra-decomposed", linear_one).origin} == {"one proof"}
    assert interpolants("euf", equal_one).origin == "one proof"


def test_plain_is_one_inequality_and_decomposed_are_several() -> None:
    """[UPPROVER] section 5.2: `x <= u`, `y <= v` against `u + v < x + y`."""
    u, v = symbol("u", REAL), symbol("v", REAL)
    inside = and_(at_most({X: 1, u: -1}), at_most({Y: 1, v: -1}))
    tree = chain(constraint({u: 1, v: 1, X: -1, Y: -1}, 0, True).term(), inside)
    plain, small = confirmed("lra", tree).interpolants, confirmed("lra-decomposed", tree).interpolants
    assert plain is not None
    assert small is not None
    assert plain[1].op in ("<=", "not")
    assert small[1].op == "and"
    assert set(small[1].args) == set(inside.args)


def test_decompositions_of_each_node_alone_do_not_have_the_tree_property() -> None:
    """Each constraint of the child has the same local symbol. The child pairs x with w, and z with y. For the parent x and z
    are local too, so that it pairs x with z: that is no sum of what the child says. The gradual decomposition has only such
    sums ([UPPROVER] Lemma 2)."""
    local, u, w = (symbol(name, REAL) for name in "luw")
    below = [
        constraint({X: 1, local: 1}),
        constraint({Y: 1, local: 1}),
        constraint({Z: 1, local: -1}),
        constraint({w: 1, local: -1}),
    ]
    own = [constraint({X: -1, Z: -1, u: -1})]
    child = decomposed(below, frozenset((X, Y, Z, u, w)))
    assert {frozenset(one.factors) for one in child} == {frozenset((X, w)), frozenset((Z, Y))}
    alone, gradual = decomposed([*below, *own], frozenset((Y, u, w))), decomposed([*child, *own], frozenset((Y, u, w)))
    assert {frozenset(one.factors) for one in alone} == {frozenset((u,)), frozenset((Y, w))}
    assert {frozenset(one.factors) for one in gradual} == {frozenset((Y, u, w))}
    assert not implied([*child, *own], alone)
    assert implied([*child, *own], gradual)


def implied(given_: list[Constraint], wanted: list[Constraint]) -> bool:
    solver = Z3Solver()
    solver.add(*(one.term() for one in given_))
    return solver.check(not_(and_(*(one.term() for one in wanted)))).status == "unsat"


@settings(max_examples=25)
@given(seed=SEEDS)
def test_a_decomposition_adds_up_and_eliminates(seed: int) -> None:
    draw = Draw(seed)
    variables = [symbol(f"v{i}", REAL) for i in range(5)]
    local = set(variables[:3])
    given_ = [
        constraint({one: draw.randint(-2, 2) for one in variables}, draw.randint(-3, 3), draw.random() < 0.3)
        for _ in range(draw.randint(1, 6))
    ]
    given_ = [added([(one, Fraction(1))]) for one in given_]
    rest = added([(one, Fraction(1)) for one in given_]).factors
    given_.append(Constraint({one: -rest[one] for one in variables if one in local and rest.get(one)}, Fraction(0), False))
    found = decomposed(given_, frozenset(variables) - local)
    assert added([(one, Fraction(1)) for one in found]) == added([(one, Fraction(1)) for one in given_])
    assert all(local.isdisjoint(one.factors) for one in found)
    assert implied(given_, found)


def test_coefficients_of_farkas() -> None:
    found = farkas_coefficients(
        [constraint({X: 2, Y: 1}), constraint({X: -1}, 1), constraint({Y: -3}, 0, True)], Z3Solver(), BUDGET
    )
    ratio = [one / found[0] for one in found]
    assert ratio[1] == 2
    assert ratio[2] == Fraction(1, 3)
    with pytest.raises(Limit):
        farkas_coefficients([constraint({X: 1}), constraint({X: -1})], Z3Solver(), BUDGET)


def test_strict_and_not_strict() -> None:
    """`x < y` and `y <= x` contradict each other; `x <= y` and `y <= x` do not."""
    strict = chain(constraint({Y: 1, X: -1}).term(), constraint({X: 1, Y: -1}, 0, True).term())
    found = confirmed("lra", strict).interpolants
    assert found is not None
    assert found[1] is strict.formulas[1]
    assert interpolants("lra", chain(at_most({Y: 1, X: -1}), at_most({X: 1, Y: -1}))).reason == "satisfiable"


def test_what_is_not_equal_is_less_or_greater() -> None:
    tree = chain(and_(at_most({X: 1, Y: -1}), at_most({X: -1, Y: 1})), not_(Term("=", (X, Y), BOOL)))
    confirmed("lra", tree)
    confirmed("lra-decomposed", tree)


def test_a_congruence_across_two_parts_is_split_at_a_shared_term() -> None:
    """F(own) of the A part and F(other) of the B part are equal because both arguments are i."""
    own, other, r = symbol("own", INT), symbol("other", INT), symbol("r", INT)
    tree = chain(and_(eq(other, I), distinct(select(F, other), r)), and_(eq(own, I), eq(select(F, own), r)))
    found = confirmed("euf", tree).interpolants
    assert found is not None
    assert found[1] is eq(select(F, I), r)


def test_what_the_a_part_takes_for_granted_is_a_premise() -> None:
    """The A part says that own1 is F(i), and own2 F(j), and different; the B part that i is j: so A says `i != j`."""
    a, b = symbol("a", INT), symbol("b", INT)
    tree = chain(eq(I, J), and_(eq(a, select(F, I)), eq(b, select(F, J)), distinct(a, b)))
    found = confirmed("euf", tree).interpolants
    assert found is not None
    assert found[1] is distinct(I, J)


def test_a_congruence_counts_to_one_of_two_siblings() -> None:
    """Both children have all symbols. Only one of them says that F(i) is F(j) where i is j."""
    r = symbol("r", INT)
    siblings = and_(eq(r, select(F, J)), eq(I, J))
    tree = PartitionTree([Partition(TRUE), Partition(distinct(r, select(F, I)), 0), Partition(siblings, 0)])
    assert confirmed("euf", tree).origin == "one proof"


def test_different_values_are_different() -> None:
    tree = chain(eq(I, Term("value", (), INT, 1)), eq(I, Term("value", (), INT, 2)))
    confirmed("euf", tree)


@pytest.mark.parametrize("theory", ["lra", "lra-decomposed", "euf", "spacer"])
def test_partitions_that_can_be_true_together_have_no_interpolants(theory: Theory) -> None:
    outcome = interpolants(theory, chain(symbol("p", BOOL), symbol("q", BOOL)))
    assert (outcome.interpolants, outcome.reason) == (None, "satisfiable")


def test_a_contradiction_beyond_the_theory_is_none() -> None:
    """For EUF an order is a predicate of which nothing is known."""
    tree = chain(Term("<", (J, I), BOOL), Term("<", (I, J), BOOL))
    assert interpolants("euf", tree).reason == "satisfiable"
    assert interpolants("lra", tree).reason == "unsupported"
    confirmed("spacer", tree)


def test_work_is_bounded() -> None:
    tree = contradictory_tree(3, linear_atom, 4)
    assert interpolants("lra", tree, Limits(lemmas=0)).reason in ("limit", "")
    lra = chain(at_most({X: 1}), at_most({X: -1}, 1))
    assert interpolants("lra", lra, Limits(lemmas=0)).reason == "limit"
    with pytest.raises(Unsupported):
        prepared(Term("<", (Term("*", (X, X), REAL), X), BOOL))


def test_no_interpolant_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof_interpolants, "_MOST", 2)
    assert interpolants("lra", chain(at_most({X: 1}), at_most({X: -1}, 1))).reason == "limit"


def test_candidates_that_are_wrong_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = chain(at_most({X: 1}), at_most({Y: 1, X: -1}), at_most({Y: -1}, 1))
    monkeypatch.setattr(theories, "proof_interpolants", lambda _p, _c, own, _t: (FALSE,) + (TRUE,) * (len(own) - 1))
    outcome = interpolants("lra", tree)
    assert (outcome.interpolants, outcome.reason, outcome.refused) == (None, "refused", 2)


def test_what_was_refused_is_made_node_by_node(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = chain(at_most({X: 1}), at_most({Y: 1, X: -1}), at_most({Y: -1}, 1))
    real_one = theories.proof_interpolants
    monkeypatch.setattr(
        theories, "proof_interpolants", lambda p, c, own, t: (TRUE,) * len(own) if len(own) > 2 else real_one(p, c, own, t)
    )
    outcome = confirmed("lra", tree)
    assert outcome.origin == "gradual"
    assert outcome.refused


def test_the_check_names_the_nodes_that_are_broken() -> None:
    tree = chain(at_most({X: 1}), at_most({Y: 1, X: -1}), at_most({Y: -1}, 1))
    solver = Z3Solver()
    assert broken_nodes(solver, tree, (FALSE, at_most({X: -1}, 1), at_most({Y: -1}, 1)), BUDGET) == ()
    assert broken_nodes(solver, tree, (FALSE, at_most({X: -1}, 1), TRUE), BUDGET) == (1,)
    assert broken_nodes(solver, tree, (TRUE, at_most({Y: -1}, 1), at_most({Y: -1}, 1)), BUDGET) == (0, 1)
    with pytest.raises(ValueError, match="one interpolant"):
        broken_nodes(solver, tree, (FALSE,), BUDGET)


def test_a_tree_is_in_preorder() -> None:
    tree = PartitionTree([Partition(eq(I, J)), Partition(eq(J, K), 0), Partition(eq(K, I), 1), Partition(TRUE, 0)])
    assert tree.children == ((1, 3), (2,), (), ())
    assert tree.subtree(1) == {1, 2}
    assert tree.shared(1) == {I, J}
    assert set(symbols((tree.outside(1),))) == {I, J}
    for wrong in ([], [Partition(TRUE, 0)], [Partition(TRUE), Partition(TRUE)], [Partition(TRUE), Partition(TRUE, 1)]):
        with pytest.raises(ValueError, match=r"root|parent"):
            PartitionTree(wrong)


@settings(max_examples=25)
@given(seed=SEEDS)
def test_proofs_of_the_search_are_resolution_proofs(seed: int) -> None:
    draw = Draw(seed)
    atoms = [symbol(f"p{i}", BOOL) for i in range(7)]
    formula = and_(
        *(or_(*(one if draw.random() < 0.5 else not_(one) for one in draw.sample(atoms, 3))) for _ in range(draw.randint(20, 45)))
    )
    clauses = ClauseSet()
    clauses.add(formula, 0)
    proof = Search(clauses, None, 10_000, 0).refutation()
    assert (proof is None) == (Z3Solver().check(formula).status == "sat")
    for step in proof.steps if proof else ():
        if step.partition is not None:
            assert Clause(step.literals, 0) in clauses.clauses
            continue
        assert step.start is not None
        assert proof is not None
        left = set(proof.steps[step.start].literals)
        for pivot, used in step.chain:
            right = set(proof.steps[used].literals)
            sign = pivot if pivot in left else -pivot
            assert sign in left
            assert -sign in right
            left = (left - {sign}) | (right - {-sign})
        assert left == set(step.literals)
    assert proof is None or proof.steps[-1].literals == ()


@settings(max_examples=15)
@given(seed=SEEDS)
def test_sums_of_real_numbers_are_read_as_they_are_written(seed: int) -> None:
    """A sum keeps its constants and factors when it is read, and when symbols in it are replaced."""
    draw = Draw(seed)
    term = linear_atom(draw, 0)
    names = {str(one.data): one for one in symbols((term,))}
    assert_equivalent(term, read(write(term), names))
    other = {one: real_sums.rebuilt("+", (one, real(Fraction(1, 2)))) for one in names.values() if one.sort == REAL}
    back = {one: real_sums.rebuilt("+", (one, real(Fraction(-1, 2)))) for one in other}
    assert_equivalent(term, Substitution(back)(Substitution(other)(term)))


@settings(max_examples=40)
@given(seed=SEEDS)
def test_merged_bounds_say_the_same(seed: int) -> None:
    draw = Draw(seed)
    bounds = [
        constraint({X: draw.choice([1, -1]), **({Y: 1} if draw.random() < 0.2 else {})}, draw.randint(-2, 2), draw.random() < 0.5)
        for _ in range(6)
    ]
    terms = [one.term() for one in bounds]
    formula = or_(and_(*terms[:3]), and_(terms[3], or_(*terms[4:]))) if draw.random() < 0.5 else and_(or_(*terms[:3]), *terms[3:])
    assert_equivalent(formula, merged(formula))


def test_one_bound_of_each_direction_is_left() -> None:
    one, two, three = (at_most({X: 1}, -bound) for bound in (1, 2, 3))
    assert merged(or_(one, and_(two, three))) is two
    assert merged(and_(not_(three), one)) is FALSE
    assert merged(or_(not_(one), three)) is TRUE


def assert_equivalent(one: Term, other: Term) -> None:
    assert Z3Solver().check(Term("=", (one, not_(other)), BOOL)).status == "unsat"
