"""Bounds of `&`, `|` and `^`: those of all results, for all bounds of small numbers with and without a sign."""

from __future__ import annotations

import operator
from itertools import combinations_with_replacement

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.c.bitwise_bounds import bitwise_bounds

_EXACT = {"&": operator.and_, "|": operator.or_, "^": operator.xor}
_SMALL = list(combinations_with_replacement(range(-5, 10), 2))


@pytest.mark.parametrize("sign", _EXACT)
def test_the_bounds_are_the_least_and_the_greatest_result(sign: str) -> None:
    exact = _EXACT[sign]
    for low, high in _SMALL:
        for least, most in _SMALL:
            found = [exact(one, other) for one in range(low, high + 1) for other in range(least, most + 1)]
            assert bitwise_bounds(sign, (low, high), (least, most)) == (min(found), max(found))


_WIDE = st.integers(-(1 << 63), (1 << 64) - 1)


@given(
    sign=st.sampled_from(sorted(_EXACT)),
    left=st.lists(_WIDE, min_size=3, max_size=3),
    right=st.lists(_WIDE, min_size=3, max_size=3),
)
def test_wide_numbers_give_results_between_the_bounds(sign: str, left: list[int], right: list[int]) -> None:
    (low, one, high), (least, other, most) = sorted(left), sorted(right)
    found = bitwise_bounds(sign, (low, high), (least, most))
    assert found[0] <= _EXACT[sign](one, other) <= found[1]


def test_another_operator_is_refused() -> None:
    with pytest.raises(KeyError):
        bitwise_bounds("+", (0, 1), (0, 1))
