"""Every case of the proof of Theorem 1 of [UPPROVER], with the work that it takes: on the formulas of Figure 1, and on C."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from analysis.engines.summary.body_partitions import ERROR, FLAW
from analysis.engines.summary.call_tree import CallTree
from analysis.engines.summary.property_check import broken
from analysis.engines.summary.revision_chain import ChainOptions, RevisionChain
from analysis.engines.summary.standing_formulas import Outside
from analysis.engines.summary.substitution_schemes import Scheme, Summaries
from analysis.engines.summary.tree_interpolation import BySolvers, Interpolator, LiteralsFirst
from analysis.engines.summary.validation import Validated, Validator
from analysis.smt.logic.term_building import TRUE, and_, not_
from analysis.smt.logic.terms import Term
from analysis.smt.solving.solver import Budget
from tests.support.explorations import program_of
from tests.support.figure_of_reals import (
    IN_ADD,
    IN_FUN,
    IN_GET,
    IN_MAX,
    SUM,
    TWICE_LARGER,
    A,
    B,
    number,
    of_the_figure,
    plus,
    returned,
    times,
    tree,
)

BUDGET = Budget(20_000)
FINDS = LiteralsFirst(BySolvers(BUDGET))
SCHEMES: tuple[Scheme, ...] = ("inline", "eager", "lazy")
TWICE = times(2, B)
NO_FLAW = not_(FLAW)


class Nothing(Interpolator):
    """An interpolator that finds none."""

    def __call__(self, inside: Term, outside: Outside, literals: Sequence[Term]) -> Term | None:
        return None


def after(program: CallTree, summaries: Summaries, scheme: Scheme = "lazy", make: Interpolator = FINDS) -> Validated:
    """The validation after a change of `max`. What holds then has both properties."""
    changed = [node for node in program.nodes if node.function == "max"]
    result = Validator(scheme, make, BUDGET).validate(program, changed, summaries)
    if result.status == "holds":
        assert broken(program, summaries, BUDGET) == []
    return result


@pytest.mark.parametrize("scheme", SCHEMES)
def test_bootstrapping(scheme: Scheme) -> None:
    """All bodies are in one check, that of main; then every call has a summary."""
    program = tree(TWICE_LARGER)
    summaries: Summaries = {"main": of_the_figure()["main"]}
    result = Validator(scheme, FINDS, BUDGET).validate(program, [program.root], summaries)
    assert result.status == "holds"
    assert result.work.validated == ["main"]
    assert summaries.keys() == {node.key for node in program.nodes}
    assert broken(program, summaries, BUDGET) == []


def test_no_change() -> None:
    result = Validator("lazy", FINDS, BUDGET).validate(tree(TWICE_LARGER), [], of_the_figure())
    assert result.status == "holds"
    assert result.work.validated == []
    assert result.work.checks == 0


def test_a_change_that_the_summary_contains() -> None:
    summaries = of_the_figure()
    result = after(tree(plus(TWICE_LARGER, number(1))), summaries)
    assert result.work.validated == result.work.held == [IN_MAX]
    assert summaries == of_the_figure()
    assert result.work.checks == 1


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_weakened_summary_that_is_strengthened(scheme: Scheme) -> None:
    """The caller holds with the body of the changed function, and an interpolant replaces what was lost."""
    summaries = of_the_figure()
    summaries[IN_FUN] = and_(NO_FLAW, returned(SUM))
    summaries[IN_MAX] = and_(NO_FLAW, returned(plus(TWICE, number(5))))
    result = after(tree(TWICE), summaries, scheme)
    assert result.work.validated == [IN_MAX, IN_FUN]
    assert result.work.weakened == [IN_MAX]
    assert result.work.held == [IN_FUN]
    assert IN_MAX in result.work.strengthened
    assert set(result.work.strengthened) <= {IN_MAX, IN_ADD}
    assert not_(ERROR) in summaries[IN_MAX].args
    assert summaries[IN_FUN] is and_(NO_FLAW, returned(SUM))


def test_a_change_that_only_main_can_judge() -> None:
    summaries = of_the_figure()
    above = and_(NO_FLAW, returned(plus(SUM, number(1))))
    summaries[IN_GET] = summaries[IN_FUN] = above
    summaries[IN_MAX] = and_(NO_FLAW, returned(plus(TWICE, number(1))))
    assert broken(tree(plus(TWICE, number(1))), summaries, BUDGET) == []
    result = after(tree(TWICE), summaries)
    assert result.status == "holds"
    assert result.work.validated == [IN_MAX, IN_FUN, IN_GET, "main"]
    assert result.work.weakened == [IN_MAX, IN_FUN, IN_GET]
    assert result.work.held == ["main"]
    assert {IN_MAX, IN_FUN, IN_GET} <= set(result.work.strengthened)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_change_that_violates(scheme: Scheme) -> None:
    result = after(tree(B), of_the_figure(), scheme)
    assert result.status == "failed"
    assert result.work.validated == [IN_MAX, IN_FUN, IN_GET, "main"]
    assert result.work.held == []
    assert result.failed is not None
    assert result.failed.status == "invalid"
    assert {node.function for node in result.failed.formula.bodies} >= {"main", "get", "fun", "max"}


def test_a_summary_of_which_nothing_is_left() -> None:
    summaries = of_the_figure()
    summaries[IN_FUN] = and_(NO_FLAW, returned(SUM))
    summaries[IN_MAX] = returned(times(2, A)).args[1]
    result = after(tree(TWICE), summaries)
    assert result.work.invalid == [IN_MAX]
    assert result.work.weakened == []
    assert result.work.held == [IN_FUN]
    assert IN_MAX in summaries


def test_a_call_without_a_summary_is_a_part_of_its_caller() -> None:
    """Where no interpolant is found, a later change goes straight to the caller."""
    summaries = of_the_figure()
    summaries[IN_FUN] = and_(NO_FLAW, returned(SUM))
    del summaries[IN_MAX]
    first = after(tree(TWICE), summaries, make=Nothing())
    assert first.work.validated == first.work.held == [IN_FUN]
    assert IN_MAX not in summaries
    second = after(tree(plus(TWICE, number(3))), summaries, make=Nothing())
    assert second.work.validated == second.work.held == [IN_FUN]
    wrong = after(tree(B), summaries, make=Nothing())
    assert wrong.status == "failed"


def test_a_call_that_stands_for_nothing_has_the_summary_true() -> None:
    program = tree(TWICE)
    summaries = of_the_figure()
    del summaries[IN_MAX]
    summaries[IN_FUN] = and_(NO_FLAW)
    changed = [node for node in program.nodes if node.function == "max"]
    result = Validator("lazy", FINDS, BUDGET).validate(program, changed, summaries)
    assert result.work.strengthened == [IN_MAX]
    assert summaries[IN_MAX] is TRUE


# -- C --------------------------------------------------------------------------------------------------------------

HEAD = "void reach_error(void); int nondet(void); int g = 1;\n"
LIMIT = "static int limit(int n) { if (n < 0) return 0; if (n > 9) return 9; return n; }\n"
MAIN = "int main(void) { int x = limit(nondet()); if (x > 9) reach_error(); return 0; }\n"


def names(keys: Sequence[str]) -> list[str]:
    return [key.rpartition("/")[2].rpartition("::")[2] for key in keys]


def chain_of(text: str) -> RevisionChain:
    """A chain that has verified a first revision, which holds."""
    chain = RevisionChain(ChainOptions(bound=2), FINDS)
    assert chain.verify(program_of(HEAD + text)).status == "holds"
    return chain


def test_text_that_says_the_same() -> None:
    chain = chain_of(LIMIT + MAIN)
    again = chain.verify(program_of(HEAD + "int h;\n" + LIMIT.replace("(n < 0)", "( n < 0 )") + MAIN))
    assert (again.status, again.work.validated) == ("holds", [])


def test_a_body_that_changes_within_its_summary() -> None:
    chain = chain_of(LIMIT + MAIN)
    found = chain.verify(program_of(HEAD + LIMIT.replace("return 0", "return 1") + MAIN))
    assert (found.status, names(found.work.validated)) == ("holds", ["limit"])
    wrong = chain.verify(program_of(HEAD + LIMIT.replace("return 9", "return n") + MAIN))
    assert (wrong.status, names(wrong.work.validated)) == ("possible", ["limit", "main"])
    back = chain.verify(program_of(HEAD + LIMIT + MAIN))
    assert (back.status, names(back.work.validated)) == ("holds", ["limit"])


def test_a_function_that_is_renamed_keeps_its_summary() -> None:
    chain = chain_of(LIMIT + MAIN)
    found = chain.verify(program_of(HEAD + (LIMIT + MAIN).replace("limit", "clamp")))
    assert (found.status, names(found.work.validated)) == ("holds", ["clamp", "main"])
    assert names(found.work.held) == ["clamp", "main"]
    assert found.work.strengthened == []


def test_a_function_with_other_parameters() -> None:
    chain = chain_of(LIMIT + MAIN)
    text = LIMIT.replace("int n", "int n, int most").replace("n > 9", "n > most").replace("return 9", "return most")
    found = chain.verify(program_of(HEAD + text + MAIN.replace("nondet()", "nondet(), 8")))
    assert found.status == "holds"
    assert names(found.work.validated)[-1] == "main"
    worse = chain.verify(program_of(HEAD + text + MAIN.replace("nondet()", "nondet(), 10")))
    assert worse.status == "possible"


def test_functions_that_are_new_and_gone() -> None:
    chain = chain_of(LIMIT + MAIN)
    more = "static void note(int x) { if (x > 20) reach_error(); g = x; }\n" + MAIN.replace("return 0", "note(x); return 0")
    new = chain.verify(program_of(HEAD + LIMIT + more))
    assert (new.status, names(new.work.validated)) == ("holds", ["main"])
    assert names(new.work.strengthened) == ["note"]
    assert names(new.work.bodies) == ["main", "note"]  # the summary of limit is enough
    assert "note" in names(list(chain.summaries))
    gone = chain.verify(program_of(HEAD + LIMIT + MAIN))
    assert (gone.status, names(gone.work.validated)) == ("holds", ["main"])
    assert "note" not in names(list(chain.summaries))


def test_a_main_of_which_half_the_calls_are_new_is_proved_at_once() -> None:
    notes = "".join(f"static void note{at}(int x) {{ if (x > {20 + at}) reach_error(); g = x; }}\n" for at in range(3))
    some = MAIN.replace("return 0", "note0(x); note1(x); return 0")
    more = MAIN.replace("return 0", "note0(x); note1(x); note2(x); return 0")
    few, many = program_of(HEAD + LIMIT + notes + some), program_of(HEAD + LIMIT + notes + more)
    chain = chain_of(LIMIT + MAIN)
    new = chain.verify(many)  # three of four calls are new
    assert (new.status, names(new.work.validated)) == ("holds", ["main"])
    assert sorted(names(new.work.bodies)) == ["limit", "main", "note0", "note1", "note2"]
    chain = chain_of(LIMIT + MAIN)
    assert chain.verify(few).status == "holds"
    known = chain.verify(many)  # one of four is
    assert (known.status, names(known.work.validated)) == ("holds", ["main"])
    assert names(known.work.bodies) == ["main", "note2"]


def test_an_initial_value_is_a_part_of_main() -> None:
    text = "static int get(void) { return g; }\nint main(void) { if (get() > 4) reach_error(); return 0; }\n"
    chain = chain_of(text)
    assert names(chain.verify(program_of(HEAD.replace("g = 1", "g = 2") + text)).work.validated) == ["main"]
    assert chain.verify(program_of(HEAD.replace("g = 1", "g = 5") + text)).status == "possible"


def test_an_answer_that_is_unknown_keeps_the_summaries() -> None:
    chain = chain_of(LIMIT + MAIN)
    odd = chain.verify(program_of(HEAD + LIMIT + MAIN.replace("int x", '__asm__("nop"); int x')))
    assert odd.status == "unknown"
    assert any("not supported" in reason for reason in odd.reasons)
    assert chain.verify(program_of(HEAD + LIMIT + MAIN)).work.validated == []
