"""The memory of the value domains against bytes: what a store says is known must be so."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.cpa.stores import store_memory
from analysis.cpa.stores.store_memory import EMPTY_STORE, UNKNOWN_CONTENTS, ZERO_CONTENTS, Contents, Store, covers, join

SIZE = 64
WIDTHS = (8, 16, 32, 64)
extents = st.builds(lambda width, place: (place * 8 % (SIZE - width + 8), width), st.sampled_from(WIDTHS), st.integers(0, 7))
writes = st.lists(st.tuples(extents, st.one_of(st.none(), st.integers(0, 255))), max_size=8)


def bits_of(value: int, width: int) -> list[int]:
    return [value >> k & 1 for k in range(width)]


def written(contents: Contents, sequence: list[tuple[tuple[int, int], int | None]]) -> tuple[Contents, list[int | None]]:
    """The contents after writes, and what each bit surely is (None: any)."""
    bits: list[int | None] = [0 if contents.zero else None] * SIZE
    for (bit, width), value in sequence:
        contents = contents.set(bit, width, value)
        bits[bit : bit + width] = [None] * width if value is None else bits_of(value, width)
    return contents, bits


@settings(max_examples=120, deadline=None)
@given(st.booleans(), writes, extents)
def test_what_is_read_was_written(
    zero: bool, sequence: list[tuple[tuple[int, int], int | None]], extent: tuple[int, int]
) -> None:
    contents, bits = written(ZERO_CONTENTS if zero else UNKNOWN_CONTENTS, sequence)
    bit, width = extent
    value = contents.get(bit, width)
    if value is not None:
        assert isinstance(value, int)
        assert bits_of(value, width) == bits[bit : bit + width]


@settings(max_examples=100, deadline=None)
@given(st.booleans(), writes)
def test_the_last_write_is_read(zero: bool, sequence: list[tuple[tuple[int, int], int | None]]) -> None:
    contents, _ = written(ZERO_CONTENTS if zero else UNKNOWN_CONTENTS, sequence)
    if sequence:
        (bit, width), value = sequence[-1]
        assert contents.get(bit, width) == value
        assert contents.forget(bit, width).get(bit, width) is None


stores = st.builds(
    lambda numbers, zero, sequence: _store(numbers, zero, sequence),
    st.dictionaries(st.sampled_from("xyz"), st.integers(0, 2)),
    st.sampled_from((None, False, True)),
    writes,
)


def _store(numbers: dict[str, int], zero: bool | None, sequence: list[tuple[tuple[int, int], int | None]]) -> Store:
    store = EMPTY_STORE
    for name, value in numbers.items():
        store = store.set(name, value)
    if zero is not None:
        store = store.set("object", written(ZERO_CONTENTS if zero else UNKNOWN_CONTENTS, sequence)[0])
    return store


@settings(max_examples=120, deadline=None)
@given(stores, stores)
def test_a_join_covers_both(one: Store, other: Store) -> None:
    both = join(one, other)
    assert covers(both, one)
    assert covers(both, other)


@settings(max_examples=120, deadline=None)
@given(stores, stores, extents)
def test_what_covers_knows_no_more(one: Store, other: Store, extent: tuple[int, int]) -> None:
    if not covers(other, one):
        return
    for name in "xyz":
        assert other.map.get(name) in (None, one.map.get(name))
    known, wanted = one.map.get("object", UNKNOWN_CONTENTS), other.map.get("object", UNKNOWN_CONTENTS)
    assert wanted.get(*extent) in (None, known.get(*extent))


@settings(max_examples=100, deadline=None)
@given(stores, stores)
def test_equal_stores_have_equal_hashes_and_weights(one: Store, other: Store) -> None:
    rebuilt = EMPTY_STORE
    for name, value in reversed(one.items()):
        rebuilt = rebuilt.set(name, value)
    assert rebuilt == one
    assert hash(rebuilt) == hash(one)
    assert rebuilt.weight == one.weight
    if one == other:
        assert hash(one) == hash(other)


def test_variables_are_compared_before_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    monkeypatch.setattr(store_memory, "_covers_contents", lambda *pair: compared.append(pair) or True)
    known = ((f"f#0:{name}", UNKNOWN_CONTENTS.set(0, 8, 1), UNKNOWN_CONTENTS.set(0, 8, 2)) for name in "abcdefgh")
    one, other = EMPTY_STORE.set("f#0:i", 0), EMPTY_STORE.set("f#0:i", 1)
    for root, first, second in known:
        one, other = one.set(root, first), other.set(root, second)
    assert not covers(one, other)
    assert compared == []
    assert covers(one, other.set("f#0:i", 0))
    assert len(compared) == 8
