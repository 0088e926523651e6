"""Values as bytes and back: equal, shared again, and never anything but the types that were asked for."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.model import ir
from analysis.model.c_types import CHAR, INT, Array, Function, Pointer, Record, Type
from analysis.model.intervals import Interval
from analysis.store.packing import Codec, PackingError


class Holder(msgspec.Struct):
    """Every kind of field."""

    effects: tuple[ir.Effect, ...]
    names: dict[tuple[str, str], Type | None]
    numbers: list[int]
    some: frozenset[str]
    more: set[str]
    data: bytes
    ratio: float
    truth: bool
    pairs: list[tuple[int, str]]
    mixed: tuple[tuple[int | str, ...], ...]
    inner: Holder | None = None


CODEC: Codec[Holder] = Codec(Holder)

texts = st.text(alphabet=st.characters(max_codepoint=0x10FFFF, exclude_categories=()), max_size=6)
integers = st.integers(-(2**130), 2**130)
c_types = st.recursive(
    st.sampled_from((INT, CHAR, Record("struct", "struct s"))),
    lambda inner: st.one_of(
        st.builds(Pointer, inner),
        st.builds(Array, inner, st.none() | st.integers(0, 9)),
        st.builds(Function, inner, st.lists(inner, max_size=2).map(tuple)),
    ),
    max_leaves=5,
)
expressions = st.recursive(
    st.one_of(
        st.builds(ir.Var, texts, st.sampled_from(("global", "local")), c_types),
        st.builds(ir.IntConst, integers, c_types),
        st.builds(ir.StringConst, texts, c_types),
    ),
    lambda inner: st.one_of(
        st.builds(ir.Deref, inner, c_types),
        st.builds(ir.Binary, st.sampled_from(("+", "==")), inner, inner, c_types),
    ),
    max_leaves=8,
)
effects = st.one_of(
    st.builds(ir.Assign, expressions, expressions),
    st.builds(ir.Assume, expressions, st.booleans()),
    st.builds(ir.Call, expressions, st.lists(expressions, max_size=3).map(tuple), st.none() | expressions),
    st.builds(ir.Return, st.none() | expressions),
)
flat = st.builds(
    Holder,
    effects=st.lists(effects, max_size=5).map(tuple),
    names=st.dictionaries(st.tuples(texts, texts), st.none() | c_types, max_size=4),
    numbers=st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5),
    some=st.frozensets(texts, max_size=4),
    more=st.sets(texts, max_size=4),
    data=st.binary(max_size=20),
    ratio=st.floats(allow_nan=False),
    truth=st.booleans(),
    pairs=st.lists(st.tuples(integers, texts), max_size=3),
    mixed=st.lists(st.lists(st.one_of(integers, texts), max_size=3).map(tuple), max_size=3).map(tuple),
)
holders = st.recursive(flat, lambda inner: st.builds(lambda one, other: msgspec.structs.replace(one, inner=other), flat, inner))


@settings(max_examples=150, deadline=None)
@given(holders)
def test_what_is_read_is_what_was_written(value: Holder) -> None:
    data = CODEC.encode(value)
    again = CODEC.decode(data)
    assert again == value
    assert list(again.names) == list(value.names)
    assert CODEC.encode(again) == data


def test_equal_parts_are_one_object_again() -> None:
    codec: Codec[tuple[ir.Expr, ...]] = Codec(tuple[ir.Expr, ...])
    one = ir.Deref(ir.Var("p", "local", Pointer(INT)), INT)
    other = ir.Deref(ir.Var("p", "local", Pointer(INT)), INT)
    assert one is not other
    first, second = codec.decode(codec.encode((one, other)))
    assert first is second
    assert first == one


def test_deep_expressions_are_no_problem() -> None:
    expression: ir.Expr = ir.Var("a", "local", INT)
    for _ in range(3000):
        expression = ir.Unary("-", expression, INT)
    codec: Codec[tuple[ir.Expr, ...]] = Codec(tuple[ir.Expr, ...])
    depth = 0
    (read,) = codec.decode(codec.encode((expression,)))
    while isinstance(read, ir.Unary):
        read, depth = read.operand, depth + 1
    assert depth == 3000


def test_values_of_other_types_are_refused() -> None:
    codec: Codec[ir.Effect] = Codec(ir.Effect)
    with pytest.raises(TypeError):
        codec.encode(Interval(1, 2))  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Codec(object)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=60))
def test_bytes_that_mean_nothing_are_an_error_of_ours(data: bytes) -> None:
    with pytest.raises(PackingError):
        CODEC.decode(data)


@settings(max_examples=100, deadline=None)
@given(
    st.recursive(st.one_of(st.none(), st.integers(-5, 5), st.text(max_size=3)), lambda x: st.lists(x, max_size=5), max_leaves=20)
)
def test_plain_data_of_another_shape_is_an_error_of_ours(data: object) -> None:
    with pytest.raises(PackingError):
        CODEC.decode(msgspec.msgpack.encode(([b"a"], [], data)))
