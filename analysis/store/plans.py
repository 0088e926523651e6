"""How values of each kind are written and read by `packing.Codec`: plans, put together from smaller ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

_WORD = 1 << 63


class Writer:
    """What was written so far."""

    def __init__(self) -> None:
        self.strings: dict[str, int] = {}
        self.rows: list[list[Any]] = []
        self.known: dict[object, int] = {}
        self.by_identity: dict[int, int] = {}  # all that is packed is alive meanwhile


class Reader:
    """What was read so far."""

    def __init__(self, strings: list[str]) -> None:
        self.strings = strings
        self.nodes: list[Any] = []


Put = Callable[[Writer, Any], Any]
Get = Callable[[Reader, Any], Any]


class Plan(NamedTuple):
    """How values of one type are written and read."""

    put: Put
    get: Get


def _put_plain(_writer: Writer, value: Any) -> Any:
    return value


def _get_plain(_reader: Reader, packed: Any) -> Any:
    return packed


def _put_int(_writer: Writer, value: int) -> int | str:
    return value if -_WORD <= value < _WORD else str(value)


def _get_int(_reader: Reader, packed: Any) -> int:
    return packed if type(packed) is int else int(packed)


def _put_string(writer: Writer, value: str) -> int:
    return writer.strings.setdefault(value, len(writer.strings))


def _get_string(reader: Reader, packed: int) -> str:
    return reader.strings[packed]


def _put_int_or_string(writer: Writer, value: int | str) -> int | list[Any]:
    return _put_string(writer, value) if isinstance(value, str) else [_put_int(writer, value)]


def _get_int_or_string(reader: Reader, packed: Any) -> int | str:
    return _get_int(reader, packed[0]) if isinstance(packed, list) else _get_string(reader, packed)


def get_node(reader: Reader, packed: int) -> Any:
    """What was read as a row."""
    return reader.nodes[packed]


def optional_of(plan: Plan) -> Plan:
    """Values or None."""
    put, get = plan

    def put_optional(writer: Writer, value: Any) -> Any:
        return None if value is None else put(writer, value)

    def get_optional(reader: Reader, packed: Any) -> Any:
        return None if packed is None else get(reader, packed)

    return Plan(put_optional, get_optional)


def fixed_of(plans: list[Plan]) -> Plan:
    """Tuples of values of these kinds."""

    def put(writer: Writer, value: Any) -> list[Any]:
        return [plan.put(writer, part) for plan, part in zip(plans, value, strict=True)]

    def get(reader: Reader, packed: Any) -> tuple[Any, ...]:
        return tuple([plan.get(reader, part) for plan, part in zip(plans, packed, strict=True)])

    return Plan(put, get)


def many_of(container: Any, plan: Plan) -> Plan:
    """Tuples, lists or sets of any length."""
    put_one, get_one = plan
    in_order = sorted if container in (set, frozenset) else iter

    def put(writer: Writer, value: Any) -> list[Any]:
        return [put_one(writer, part) for part in in_order(value)]

    def get(reader: Reader, packed: Any) -> Any:
        return container([get_one(reader, part) for part in packed])

    return Plan(put, get)


def pairs_of(key: Plan, value: Plan) -> Plan:
    """Dicts."""
    put_key, get_key = key
    put_value, get_value = value

    def put(writer: Writer, mapping: Any) -> list[Any]:
        flat: list[Any] = []
        for left, right in mapping.items():
            flat += (put_key(writer, left), put_value(writer, right))
        return flat

    def get(reader: Reader, packed: Any) -> dict[Any, Any]:
        keys = [get_key(reader, part) for part in packed[::2]]
        return dict(zip(keys, [get_value(reader, part) for part in packed[1::2]], strict=True))

    return Plan(put, get)


PLAIN = Plan(_put_plain, _get_plain)
INTEGER = Plan(_put_int, _get_int)
STRING = Plan(_put_string, _get_string)
INTEGER_OR_STRING = Plan(_put_int_or_string, _get_int_or_string)
