"""Answers count in the order of the questions, whoever is faster."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from analysis.session.provers.asking.answer import Decided
from analysis.session.provers.asking.claim import Claim
from analysis.session.provers.asking.claim_queue import Answered, ClaimQueue


def _claim(number: int) -> Claim:
    return Claim("function", f"f{number}", "null-dereference", False)


def _answer(claim: Claim, work: float = 1.0) -> Answered:
    return Answered(claim, Decided("possible"), 0.0, work)


@st.composite
def _races(draw: st.DrawFn) -> tuple[int, int, list[int]]:
    """How many claims, how many provers, and which of the running ones ends next, each time."""
    count = draw(st.integers(1, 12))
    return count, draw(st.integers(1, 4)), draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))


@given(_races())
def test_answers_come_in_the_order_of_the_claims(race: tuple[int, int, list[int]]) -> None:
    count, provers, ends = race
    queue, taken, tickets = ClaimQueue(), list[Claim](), 0
    assert queue.keep(lambda _: True, [_claim(number) for number in range(count)]) == []
    running: list[int] = []
    for end in ends:
        while len(running) < provers and (claim := queue.next) is not None:
            tickets += 1
            queue.begin(claim, tickets)
            running.append(tickets)
        claim = queue.asked(running.pop(end % len(running)))
        assert claim is not None
        queue.answer(_answer(claim))
        while (first := queue.take()) is not None:
            taken.append(first.claim)
        assert taken == [_claim(number) for number in range(len(taken))]
    assert taken == [_claim(number) for number in range(count)]
    assert queue.claims == ()


def test_a_second_attempt_comes_after_what_waits_so_that_several_can_be_asked_at_once() -> None:
    queue, again = ClaimQueue(), _claim(0)._replace(whole=True)
    queue.keep(lambda _: True, [_claim(0), _claim(1)])
    queue.begin(_claim(0), 1)
    queue.begin(_claim(1), 2)
    for ticket in (2, 1):
        claim = queue.asked(ticket)
        assert claim is not None
        queue.answer(_answer(claim))
    first = queue.take()
    assert first is not None
    assert first.claim == _claim(0)
    queue.add(again)
    assert queue.claims == (_claim(1), again)
    assert queue.next == again
    second = queue.take()
    assert second is not None
    assert second.claim == _claim(1)
    assert queue.is_first(again)


def test_other_questions_are_ended_and_the_same_ones_go_on() -> None:
    queue = ClaimQueue()
    queue.keep(lambda _: True, [_claim(0), _claim(1), _claim(2)])
    queue.begin(_claim(0), 1)
    queue.begin(_claim(1), 2)
    queue.answer(_answer(_claim(2)))
    assert queue.keep(lambda claim: claim != _claim(1), [_claim(1), _claim(2), _claim(0)]) == [2]
    assert queue.claims == (_claim(1), _claim(2), _claim(0))
    assert queue.running == (_claim(0),)
    assert queue.next == _claim(1)
    assert queue.asked(2) is None
    assert queue.remove(_claim(0)) == [1]
    assert queue.clear() == []
    assert queue.claims == queue.running == ()
