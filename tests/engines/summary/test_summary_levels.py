"""Levels of precision: a light theory is never wrong, and the cheapest that knows answers ([UPPROVER] section 5.2)."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.engines.summary.bounded_answer import BoundedAnswer, Level
from analysis.engines.summary.level_chain import LevelChain
from analysis.engines.summary.revision_chain import ChainOptions, RevisionChain
from analysis.engines.summary.tree_interpolation import ByTheory, LiteralsFirst
from analysis.smt.interpolants.theories import Limits
from analysis.smt.logic.terms import Term
from tests.support.explorations import program_of

PAPERS = Path(__file__).parents[3] / "fixtures" / "programs" / "papers"
HEAD = "void reach_error(void); int nondet(void);\nstatic int copy(int n) { return n; }\n"
COPIES = "int main(void) { int a = nondet(); if (copy(a) != a) reach_error(); return 0; }"
LINEAR = "int main(void) { int a = nondet(); if (a < 0 || a > 9) return 0; if (copy(a) + 2 < 2) reach_error(); return 0; }"
WHOLE = "int main(void) { int a = nondet(); if (a < 0 || a > 9) return 0; if (2 * copy(a) == 7) reach_error(); return 0; }"
WRONG = "int main(void) { int a = nondet(); if (copy(a) == 7) reach_error(); return 0; }"
SETTLED: list[tuple[str, Level, str]] = [
    (COPIES, "euf", "holds"),
    (LINEAR, "lra", "holds"),
    (WHOLE, "int", "holds"),
    (WRONG, "int", "possible"),
]


@pytest.mark.parametrize(("body", "level", "status"), SETTLED)
def test_the_cheapest_level_that_knows_answers(body: str, level: Level, status: str) -> None:
    found = LevelChain(ChainOptions(bound=2)).verify(program_of(HEAD + body))
    assert (found.level, found.status) == (level, status)


def test_after_a_change_the_level_may_be_another() -> None:
    chain = LevelChain(ChainOptions(bound=2))
    answers: list[BoundedAnswer] = [chain.verify(program_of(HEAD + body)) for body in (COPIES, LINEAR, COPIES, WRONG, COPIES)]
    assert [found.level for found in answers] == ["euf", "lra", "euf", "int", "euf"]
    assert answers[2].work.validated == answers[4].work.validated == []


def test_whether_there_are_other_runs_does_not_depend_on_the_level() -> None:
    """Only whole numbers tell that the loop ends, and the last assertion holds at each level."""
    body = (
        "int main(void) {{ int i, n = nondet(), x = nondet(); if (n < 0 || n > 9 || x < 0 || x > 9) return 0;\n"
        "for (i = 0; i < 2; i++) {{ if (2 * n == x + x + 1) i = -9; x = nondet() & 7; }} if ({}) reach_error(); return 0; }}"
    )
    whole, light = (program_of(HEAD + body.format(test)) for test in ("2 * n == x + x + 1", "n > 4 && n < 2"))
    chain = LevelChain(ChainOptions(bound=2))
    answers = [chain.verify(whole), chain.verify(light), LevelChain(ChainOptions(bound=2)).verify(light)]
    assert [(found.status, found.level) for found in answers] == [("holds", "int"), ("holds", "int"), ("holds", "lra")]
    assert [found.is_complete for found in answers] == [True, True, True]


@pytest.mark.parametrize(("body", "knowing"), [(COPIES, ("euf", "lra")), (LINEAR, ("lra",)), (WHOLE, ()), (WRONG, ())])
@pytest.mark.parametrize("level", ["euf", "lra"])
def test_a_light_level_says_that_it_does_not_know(level: Level, body: str, knowing: tuple[str, ...]) -> None:
    found = RevisionChain(ChainOptions(bound=2, level=level)).verify(program_of(HEAD + body))
    expected = ("holds", ()) if level in knowing else ("unknown", (f"it could be violated as far as {level} tells",))
    assert (found.status, found.reasons) == expected


def test_figure_1_by_decomposed_farkas_interpolants() -> None:
    """The second program is verified by validating what changed, and nothing above fun is looked at again."""
    first, second = ((PAPERS / f"upprover-fig1-{which}.c").read_text("utf-8") for which in ("first", "second"))
    chain = RevisionChain(ChainOptions(level="lra", bound=2))
    assert chain.verify(program_of(first)).status == "holds"
    assert all(term.op != "symbol" for term in chain.summaries.values())
    after = chain.verify(program_of(second))
    assert (after.status, after.is_complete) == ("holds", True)
    names = {key.rpartition("::")[2] for key in after.work.validated}
    assert "max" in names
    assert names <= {"max", "fun", "get"}


@pytest.mark.parametrize("others", range(4))
def test_what_a_chain_finds_does_not_depend_on_chains_beside_it(others: int) -> None:
    """Their formulas would change in which order z3 sees those of this one."""
    first, second = ((PAPERS / f"upprover-fig1-{which}.c").read_text("utf-8") for which in ("first", "second"))

    def found() -> tuple[list[str], list[Term]]:
        chain = RevisionChain(ChainOptions(level="lra", bound=2))
        chain.verify(program_of(first))
        return chain.verify(program_of(second)).work.validated, [*chain.summaries.values()]

    alone = found()
    beside = [LevelChain(ChainOptions(bound=2)) for _ in range(others)]
    for number, chain in enumerate(beside):
        chain.verify(program_of(HEAD + LINEAR.replace("9", str(number))))
    assert found() == alone


def test_bits_with_interpolants_from_resolution() -> None:
    make = LiteralsFirst(ByTheory("prop", Limits()))
    chain = RevisionChain(ChainOptions(level="bv", bound=2), make)
    body = (
        "static unsigned char low(unsigned char n) { return n & 15; }\nint main(void) { if (low(nondet()) > 15) reach_error(); }"
    )
    assert chain.verify(program_of(HEAD + body)).status == "holds"
    assert chain.verify(program_of(HEAD + body.replace("& 15", "& 7"))).status == "holds"
    assert chain.verify(program_of(HEAD + body.replace("& 15", "& 31"))).status == "possible"
