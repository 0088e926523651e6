"""The class: what is remembered of texts that are gone is bounded, and what is about the present text is not lost by that."""

from __future__ import annotations

from analysis.session.provers.asking.answer import Decided
from analysis.session.provers.asking.kept_answers import Decisions


def _decided(decisions: Decisions, keys: list[str]) -> int:
    return len(decisions.get(keys))


def test_decisions_about_texts_that_are_gone() -> None:
    decisions = Decisions(None)
    present = [f"present {number}" for number in range(400)]
    for key in present:
        decisions.add(key, Decided("refuted"))
    gone = [f"gone {number}" for number in range(20_000)]
    for number, key in enumerate(gone):
        decisions.add(key, Decided("refuted"))
        if number % 100 == 0:
            decisions.unsaved(frozenset(present))
            assert _decided(decisions, present) == len(present)
    assert _decided(decisions, present) == len(present)
    assert 0 < _decided(decisions, gone) < 2_000
