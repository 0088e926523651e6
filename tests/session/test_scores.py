"""Scores: each piece of evidence counts in one direction, a run decides, and what is shown follows from the score alone."""

from __future__ import annotations

from itertools import combinations
from typing import get_args

import msgspec
import pytest

from analysis.model.evidence import POINTS, Beginning, Evidence, Needed, points
from analysis.model.places import Place, Position, Range
from analysis.model.report import LIKELY, Finding
from analysis.session.scores import CONFIRMED, scored

ALL = (*get_args(Beginning), *get_args(Needed))


def finding(*evidence: Evidence, status: str = "possible") -> Finding:
    place = Place("a.c", Range(Position(1, 1), Position(1, 2)))
    made = Finding("null-dereference", "possible", "error", "p is null", place, "f", "1", (), evidence=evidence)
    return msgspec.structs.replace(made, status=status)


def test_every_piece_of_evidence_has_points_and_words() -> None:
    assert set(POINTS) == set(ALL)
    [one] = scored([finding(*ALL)], "likely")
    assert len(set(one.reasons)) == len(ALL)


def test_what_a_function_does_with_a_lock_is_not_called_a_release() -> None:
    """The evidence is also that of a lock that the function takes and keeps, or destroys."""
    [one] = scored([finding("released-here")], "likely")
    assert one.reasons == ("the function itself frees, closes, locks or destroys it",)


@pytest.mark.parametrize("more", ALL)
def test_evidence_counts_in_one_direction(more: Evidence) -> None:
    others = [name for name in ALL if name != more]
    for number in range(3):
        for known in combinations(others, number):
            change = points((*known, more)) - points(known)
            assert change == 0 or (change > 0) == (POINTS[more] > 0)


def test_a_possible_finding_never_scores_like_a_confirmed_one() -> None:
    assert points([name for name in ALL if POINTS[name] > 0]) < CONFIRMED
    assert points(ALL) >= 1


def test_a_run_outweighs_all_evidence() -> None:
    [one] = scored([finding("macro", "reachable", "in-memory", status="confirmed")], "likely")
    assert (one.score, one.shown, one.reasons) == (CONFIRMED, True, ("a run of the program did this",))


def test_what_is_shown_follows_from_the_score() -> None:
    weak, strong = scored([finding("macro"), finding("own-test")], "likely")
    assert (weak.score < LIKELY, weak.shown) == (True, False)
    assert (strong.score >= LIKELY, strong.shown) == (True, True)
    assert [one.shown for one in scored([weak, strong], "all")] == [True, True]
    assert [one.score for one in scored([weak, strong], "all")] == [weak.score, strong.score]


def test_a_finding_that_is_scored_again_is_the_same_object() -> None:
    [one] = scored([finding("library-result")], "likely")
    assert scored([one], "likely")[0] is one
