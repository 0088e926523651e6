"""Values of our own types as bytes and back: data only, decoded into the types that the reader names and no others.

A program's representation says the same things again and again: types inside expressions, expressions inside effects. So a
struct that can be compared (frozen, without dicts) is written once, as a row of a table, and referred to by its number; strings
have a table of their own. What is read shares again what was shared. The layout follows from the types' annotations:

- structs without dicts: rows [class, field, ...], those that a row refers to before it; other structs: [field, ...] in place;
- strings: numbers (their table holds bytes, since text of C can hold lone surrogates, which are not UTF-8);
- tuples, lists, sets: lists (sets in order); dicts: a list of keys and values in turn; integers beyond 64 bits: as text,
  but not in `list[int]`, which is written as it is and is what large tables of numbers should be.

The frame around it is MessagePack (msgspec). Bytes that mean nothing raise `PackingError`. Tests: tests/store/test_packing.py.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from operator import attrgetter
from typing import Any, Generic, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from analysis.store.plans import (
    INTEGER,
    INTEGER_OR_STRING,
    PLAIN,
    STRING,
    Get,
    Plan,
    Put,
    Reader,
    Writer,
    fixed_of,
    get_node,
    many_of,
    optional_of,
    pairs_of,
)

Value = TypeVar("Value")

_FRAMES = 20_000  # expressions nest deeply
_PLAIN = (bool, bytes, float, types.NoneType)


class PackingError(Exception):
    """The bytes are not what the codec has written."""


class _Class(NamedTuple):
    """A struct: its number in rows, and how its fields are found, written and read."""

    number: int
    fields: Callable[[Any], tuple[Any, ...]]
    puts: list[Put]
    gets: list[Get]


class Codec(Generic[Value]):
    """Writes and reads values of one type, as annotated; TypeError for types that it does not know."""

    def __init__(self, type_: Any) -> None:
        self._classes: dict[type, _Class] = {}
        self._by_number: list[type] = []
        self._is_shared: dict[type, bool] = {}
        self._plan = self._planned(type_)
        self._decoder = msgspec.msgpack.Decoder(tuple[list[bytes], list[list[Any]], Any])

    def encode(self, value: Value) -> bytes:
        """The value as bytes; TypeError if it is not of the codec's type."""
        writer = Writer()
        with _nesting():
            packed = self._plan.put(writer, value)
        strings = [text.encode("utf-8", "surrogatepass") for text in writer.strings]
        return msgspec.msgpack.encode((strings, writer.rows, packed))

    def decode(self, data: bytes) -> Value:
        """The value of bytes that `encode` gave; raises PackingError for any others."""
        try:
            strings, rows, packed = self._decoder.decode(data)
            reader = Reader([text.decode("utf-8", "surrogatepass") for text in strings])
            self._read_rows(reader, rows)
            value: Value = self._plan.get(reader, packed)
        except (msgspec.MsgspecError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise PackingError(f"{type(error).__name__}: {error}") from None
        return value

    def _read_rows(self, reader: Reader, rows: list[list[Any]]) -> None:
        add = reader.nodes.append
        classes = [(cls, self._classes[cls].gets) for cls in self._by_number]
        for row in rows:
            cls, gets = classes[row[0]]
            add(cls(*[get(reader, field) for get, field in zip(gets, row[1:], strict=True)]))

    def _planned(self, type_: Any) -> Plan:
        origin = get_origin(type_)
        arguments = get_args(type_)
        if type_ in _PLAIN or type_ == list[int]:
            return PLAIN
        if type_ is int:
            return INTEGER
        if type_ is str or origin is Literal:
            return STRING
        if origin in (Union, types.UnionType):
            return self._union(arguments)
        if origin is tuple and not (len(arguments) == 2 and arguments[1] is Ellipsis):
            return fixed_of([self._planned(argument) for argument in arguments])
        if origin in (tuple, list, set, frozenset):
            return many_of(origin, self._planned(arguments[0]))
        if origin in (dict, Mapping) or (origin is not None and issubclass(origin, Mapping)):
            return pairs_of(self._planned(arguments[0]), self._planned(arguments[1]))
        if isinstance(type_, type) and issubclass(type_, msgspec.Struct):
            self._define(type_)
            return Plan(self._put_node, get_node) if self._shared(type_) else self._in_place(type_)
        raise TypeError(f"{type_} cannot be packed")

    def _union(self, members: tuple[Any, ...]) -> Plan:
        rest = [member for member in members if member is not types.NoneType]
        if len(rest) == 1:
            plan = self._planned(rest[0])
        elif all(isinstance(member, type) and issubclass(member, msgspec.Struct) and self._shared(member) for member in rest):
            for member in rest:
                self._define(member)
            plan = Plan(self._put_node, get_node)
        elif set(rest) == {int, str}:
            plan = INTEGER_OR_STRING
        else:
            raise TypeError(f"{members} cannot be distinguished")
        return plan if len(rest) == len(members) else optional_of(plan)

    def _define(self, type_: type[msgspec.Struct]) -> None:
        if type_ not in self._classes:
            puts: list[Put] = []
            gets: list[Get] = []
            number = len(self._by_number)
            self._classes[type_] = _Class(number, _fields(type_), puts, gets)  # before its fields: types are recursive
            self._by_number.append(type_)
            hints = get_type_hints(type_)
            for name in type_.__struct_fields__:
                plan = self._planned(hints[name])
                puts.append(plan.put)
                gets.append(plan.get)

    def _shared(self, type_: type[msgspec.Struct]) -> bool:
        """Whether equal values can stand for each other: all parts are immutable, as far as annotations say."""
        known = self._is_shared.get(type_)
        if known is None:
            self._is_shared[type_] = True  # while it is found out: types are recursive
            hints = get_type_hints(type_)
            known = type_.__struct_config__.frozen and all(self._immutable(hints[name]) for name in type_.__struct_fields__)
            self._is_shared[type_] = known
        return known

    def _immutable(self, type_: Any) -> bool:
        origin = get_origin(type_)
        if origin is Literal or type_ is Ellipsis:
            return True
        if origin is not None:
            return origin in (tuple, frozenset, Union, types.UnionType) and all(map(self._immutable, get_args(type_)))
        if isinstance(type_, type) and issubclass(type_, msgspec.Struct):
            return self._shared(type_)
        return type_ in (*_PLAIN, int, str)

    def _put_node(self, writer: Writer, value: Any) -> int:
        number = writer.by_identity.get(id(value))
        if number is None:
            number = writer.known.get(value)
            if number is None:
                known = self._classes.get(type(value))
                if known is None:
                    raise TypeError(f"{type(value).__name__} is not among the codec's types")
                row = [known.number]
                for put, field in zip(known.puts, known.fields(value), strict=True):
                    row.append(put(writer, field))
                number = writer.known[value] = len(writer.rows)
                writer.rows.append(row)
            writer.by_identity[id(value)] = number
        return number

    def _in_place(self, type_: type[msgspec.Struct]) -> Plan:
        known = self._classes[type_]

        def put(writer: Writer, value: Any) -> list[Any]:
            if type(value) is not type_:
                raise TypeError(f"{type(value).__name__} is no {type_.__name__}")
            return [put(writer, field) for put, field in zip(known.puts, known.fields(value), strict=True)]

        def get(reader: Reader, packed: Any) -> Any:
            return type_(*[get(reader, field) for get, field in zip(known.gets, packed, strict=True)])

        return Plan(put, get)


def _fields(type_: type[msgspec.Struct]) -> Callable[[Any], tuple[Any, ...]]:
    """What gives the fields of a struct, as a tuple."""
    names = type_.__struct_fields__
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple([getattr(value, name) for name in names])


@contextmanager
def _nesting() -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
