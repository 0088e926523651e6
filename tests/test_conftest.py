"""Tests do not depend on time: what `conftest` refuses."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import depends_on_time


def test_deadlines_and_slow_generators_are_seen() -> None:
    @given(st.none())
    def plain(_: None) -> None: ...

    @given(st.none())
    @settings(max_examples=3)
    def fewer(_: None) -> None: ...

    @given(st.none())
    @settings(deadline=timedelta(seconds=1))
    def timed(_: None) -> None: ...

    @given(st.none())
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    def impatient(_: None) -> None: ...

    assert [depends_on_time(test) for test in (plain, fewer, timed, impatient, len)] == [False, False, True, True, False]
