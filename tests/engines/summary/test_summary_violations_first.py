"""A change after which the property is violated is answered before summaries are repaired for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from analysis.engines.summary import revision_chain
from analysis.engines.summary.known_calls import KnownCall
from analysis.engines.summary.revision_chain import ChainOptions, RevisionChain
from analysis.engines.summary.standing_formulas import Outside
from analysis.engines.summary.tree_interpolation import Interpolator
from analysis.smt.logic.terms import Term
from tests.support.explorations import program_of

ABOVE = "int above(int n) { return n + 1; }\n"
PLAIN = "int middle(int n) { return above(n); }\n"
EXACT = "int middle(int n) { int x = above(n); return x == n + 1 ? x : 0; }\n"  # needs more of above() than that it grows


class Refused(Interpolator):
    """An interpolator that must not be asked."""

    def __call__(self, inside: Term, outside: Outside, literals: Sequence[Term]) -> Term | None:
        pytest.fail("an interpolant was made")

    def of_literals(self, inside: Term, outside: Outside, literals: Sequence[Term]) -> Term | None:
        pytest.fail("an interpolant was made")


def main(condition: str) -> str:
    return f"void reach_error(void); int main(void) {{ if (!({condition})) reach_error(); return 0; }}\n"


def after(text: str, bound: int = 5) -> dict[str, KnownCall]:
    """What is kept of a program that holds."""
    chain = RevisionChain(ChainOptions(bound=bound))
    assert chain.verify(program_of(text)).status == "holds"
    return dict(chain.known)


def resumed(known: dict[str, KnownCall], make: Interpolator | None = None, bound: int = 5) -> RevisionChain:
    chain = RevisionChain(ChainOptions(bound=bound), make)
    chain.resume(known, are_believed=True)
    return chain


def test_no_interpolant_is_made_for_what_is_violated() -> None:
    known = after(ABOVE + PLAIN + main("middle(0) > 0"))
    found = resumed(known, Refused()).verify(program_of(ABOVE + EXACT + main("middle(0) > 1")))
    assert found.status == "possible"
    assert [violation.function for violation in found.violated] == ["main"]
    assert found.work.strengthened == []


def test_what_holds_is_repaired_as_before() -> None:
    known = after(ABOVE + PLAIN + main("middle(0) > 0"))
    found = resumed(known).verify(program_of(ABOVE + EXACT + main("middle(0) > -1")))
    assert found.status == "holds"
    (middle, above) = [key for key in known if key != "main"]
    assert found.work.validated == [middle, "main"]
    assert found.work.held == [middle, "main"]
    assert found.work.strengthened == [above]


def counted(step: int) -> str:
    return f"int f(int n) {{ return n <= 0 ? 0 : {step} + f(n - 1); }}\n"


def test_where_most_calls_have_changed_none_is_validated_before_the_violation_is_found() -> None:
    known = after(counted(1) + main("f(3) >= 0"), bound=8)
    found = resumed(known, Refused(), bound=8).verify(program_of(counted(2) + main("f(3) > 6")))
    assert found.status == "possible"
    assert found.work.validated == []


def test_where_most_calls_have_changed_and_the_property_holds_all_are_validated() -> None:
    known = after(counted(1) + main("f(3) >= 0"), bound=8)
    found = resumed(known, bound=8).verify(program_of(counted(2) + main("f(3) > 5")))
    assert found.status == "holds"
    assert len(found.work.validated) == len(known)


def test_a_counterexample_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_arguments: Any) -> Any:
        pytest.fail("the violation was looked for again")

    known = after(ABOVE + PLAIN + main("middle(0) > 0"))
    monkeypatch.setattr(revision_chain, "implied", refused)
    found = resumed(known).verify(program_of(ABOVE + PLAIN + main("middle(0) > 1")))
    assert found.status == "possible"
