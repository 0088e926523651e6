"""The examples of [UPPROVER]: Figure 1 over the reals, with the summaries of its text, and as C."""

from __future__ import annotations

from pathlib import Path

from analysis.engines.summary.body_partitions import FLAW
from analysis.engines.summary.property_check import broken
from analysis.engines.summary.revision_chain import ChainOptions, RevisionChain
from analysis.engines.summary.substitution_schemes import Summaries
from analysis.engines.summary.tree_interpolation import BySolvers, LiteralsFirst
from analysis.engines.summary.validation import Validator
from analysis.engines.summary.weakening import weaken
from analysis.smt.logic.term_building import and_, not_
from analysis.smt.solving.solver import Budget
from analysis.smt.solving.z3_backend import Z3Solver
from tests.support.explorations import program_of
from tests.support.figure_of_reals import (
    ABOVE_BOTH,
    IN_FUN,
    IN_GET,
    IN_MAX,
    SUM,
    TWICE_LARGER,
    A,
    B,
    of_the_figure,
    returned,
    times,
    tree,
)

PAPERS = Path(__file__).parents[3] / "fixtures" / "programs" / "papers"
BUDGET = Budget(20_000)


def test_the_summaries_of_the_figure_have_both_properties() -> None:
    summaries = of_the_figure()
    assert broken(tree(TWICE_LARGER), summaries, BUDGET) == []
    assert [node.key for node in broken(tree(times(2, B)), summaries, BUDGET)] == [IN_MAX]


def test_the_second_program_of_the_figure() -> None:
    """Section 3: max and fun are weakened, add is taken as it is, get holds, and main is not looked at."""
    summaries, changed = of_the_figure(), tree(times(2, B))
    node = next(node for node in changed.nodes if node.function == "max")
    result = Validator("lazy", LiteralsFirst(BySolvers(BUDGET)), BUDGET).validate(changed, [node], summaries)
    assert result.status == "holds"
    assert result.work.validated == [IN_MAX, IN_FUN, IN_GET]
    assert result.work.weakened == [IN_MAX, IN_FUN]
    assert result.work.held == [IN_GET]
    assert result.work.strengthened == result.work.invalid == []
    no_flaw = not_(FLAW)
    assert summaries[IN_MAX] is and_(no_flaw, returned(times(2, B)))
    assert summaries[IN_FUN] is and_(no_flaw, returned(SUM))
    assert {key: term for key, term in of_the_figure().items() if summaries[key] is not term}.keys() == {
        IN_MAX,
        IN_FUN,
    }
    assert broken(changed, summaries, BUDGET) == []


def test_without_weakening_the_summaries_are_lost_and_made_anew() -> None:
    summaries, changed = of_the_figure(), tree(times(2, B))
    node = next(node for node in changed.nodes if node.function == "max")
    result = Validator("lazy", LiteralsFirst(BySolvers(BUDGET)), BUDGET, weakens=False).validate(changed, [node], summaries)
    assert result.status == "holds"
    assert result.work.invalid == [IN_MAX, IN_FUN]
    assert set(result.work.strengthened) == {IN_MAX, IN_FUN}  # the summary of add is enough
    assert broken(changed, summaries, BUDGET) == []


def test_algorithm_4() -> None:
    """The conjunct that a model breaks is dropped; where none is left, there is no summary."""
    changed = tree(times(2, B))
    node = next(node for node in changed.nodes if node.function == "max")
    summaries: Summaries = {node.key: and_(ABOVE_BOTH, not_(FLAW))}
    assert weaken(node, summaries, Z3Solver(), BUDGET) == 2
    assert summaries[node.key] is and_(returned(times(2, B)), not_(FLAW))
    lost: Summaries = {node.key: returned(times(2, A)).args[1]}
    assert weaken(node, lost, Z3Solver(), BUDGET) == 1
    assert lost == {}


def test_the_figure_as_c() -> None:
    first, second = ((PAPERS / f"upprover-fig1-{which}.c").read_text("utf-8") for which in ("first", "second"))
    chain = RevisionChain(ChainOptions())
    assert chain.verify(program_of(first)).status == "holds"
    after = chain.verify(program_of(second))
    assert after.status == "holds"
    assert after.is_complete
    assert "main" not in after.work.validated
    assert {key.rpartition("::")[2] for key in after.work.validated} <= {"max", "fun", "get"}
    wrong = chain.verify(program_of(second.replace("return 2 * b", "return b")))
    assert wrong.status == "possible"
    assert chain.verify(program_of(first)).status == "holds"
