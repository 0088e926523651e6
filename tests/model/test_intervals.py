"""The interval operations against the sets of integers they stand for, holes included."""

from hypothesis import given
from hypothesis import strategies as st

from analysis.model.intervals import ANY, Interval, contains, interval_of, join, make, meet, within, without_holes

BOUND = 6
WORLD = range(-BOUND - 3, BOUND + 4)
bounds = st.none() | st.integers(-BOUND, BOUND)
holes = st.sets(st.integers(-BOUND, BOUND), max_size=4).map(lambda some: tuple(sorted(some)))
intervals = st.builds(make, bounds, bounds, st.booleans(), holes).filter(lambda i: i is not None)


def members(interval: Interval | None) -> set[int]:
    if interval is None:
        return set()
    low = -BOUND - 3 if interval.low is None else interval.low
    high = BOUND + 3 if interval.high is None else interval.high
    return {x for x in WORLD if low <= x <= high and not (interval.nonzero and x == 0) and x not in interval.holes}


@given(intervals, intervals)
def test_meet_is_intersection(one: Interval, other: Interval) -> None:
    assert members(meet(one, other)) == members(one) & members(other)


@given(intervals, intervals)
def test_meet_has_normal_form(one: Interval, other: Interval) -> None:
    found = meet(one, other)
    assert found is None or found == make(found.low, found.high, found.nonzero, found.holes)


@given(intervals, intervals)
def test_join_is_the_smallest_interval_with_both(one: Interval, other: Interval) -> None:
    both = members(one) | members(other)
    joined = join(one, other)
    assert both <= members(joined)
    left_out = {x for x in WORLD if min(both) < x < max(both) and not contains(one, x) and not contains(other, x)}
    known = {x for x in left_out if x in (*one.holes, *other.holes) or (x == 0 and one.nonzero and other.nonzero)}
    assert known.isdisjoint(members(joined))
    if joined.low is not None:
        assert joined.low in both
    if joined.high is not None:
        assert joined.high in both


@given(intervals)
def test_an_interval_contains_its_members_and_no_bound_is_left_out(one: Interval) -> None:
    assert {x for x in WORLD if contains(one, x)} == members(one)
    assert one.low is None or contains(one, one.low)
    assert one.high is None or contains(one, one.high)
    assert members(one) <= members(without_holes(one))
    assert not without_holes(one).holes


@given(intervals, intervals)
def test_within_is_inclusion(one: Interval, other: Interval) -> None:
    assert within(one, other) == (members(one) <= members(other))


@given(st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), st.integers(-BOUND, BOUND))
def test_a_comparison_holds_in_its_interval_and_the_interval_is_tight(operator: str, constant: int) -> None:
    holds = {x for x in WORLD if eval(f"{x} {operator} {constant}")}
    interval = interval_of(operator, constant)
    assert interval is not None
    assert holds == members(interval)


def test_what_is_no_comparison_has_no_interval() -> None:
    assert interval_of("+", 1) is None
    assert make(3, 2, False) is None
    assert members(ANY) == set(WORLD)
