from hypothesis import given
from hypothesis import strategies as st

from analysis.cfa.building.shift import Shift
from analysis.cfa.graph import FunctionSource
from analysis.frontend.text.difference import difference
from analysis.model.places import Site

SHORT = st.binary(max_size=12)


def shift_between(old: bytes, new: bytes) -> Shift:
    return Shift(*difference(old, new))


@given(SHORT, SHORT, SHORT, SHORT)
def test_bytes_outside_the_edit_keep_their_neighbours(head: bytes, old: bytes, new: bytes, tail: bytes) -> None:
    before, after = head + old + tail, head + new + tail
    shift = shift_between(before, after)
    assert before[: shift.prefix] == after[: shift.prefix]
    assert before[shift.old_end :] == after[shift.new_end :]
    assert shift.prefix >= len(head)
    for offset in range(len(before) + 1):
        moved = shift.offset(offset)
        assert 0 <= moved <= len(after)
        if offset >= shift.old_end:
            assert before[offset:] == after[moved:]


@given(SHORT, SHORT)
def test_offsets_never_change_their_order(old: bytes, new: bytes) -> None:
    shift = shift_between(old, new)
    moved = [shift.offset(offset) for offset in range(len(old) + 1)]
    assert moved == sorted(moved)


def test_a_function_below_an_edit_moves_as_a_whole() -> None:
    source = FunctionSource("a.c", 10, {1: Site(2, 4)}, Site(0, 1), Site(8, 9))
    moved = shift_between(b"x" * 5 + b"-" + b"y" * 20, b"x" * 5 + b"+++" + b"y" * 20).source(source)
    assert moved == FunctionSource("a.c", 12, {1: Site(2, 4)}, Site(0, 1), Site(8, 9))


def test_an_edit_inside_a_function_moves_what_comes_after_it() -> None:
    source = FunctionSource("a.c", 0, {1: Site(0, 3), 2: Site(6, 8)}, Site(0, 1), Site(9, 10))
    moved = shift_between(b"aaaaa!bbbb", b"aaaaa!!!bbbb").source(source)
    assert moved.sites == {1: Site(0, 3), 2: Site(8, 10)}
    assert moved.end_site == Site(11, 12)
