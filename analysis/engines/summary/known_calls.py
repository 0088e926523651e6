"""What is kept of the calls of a revision that held, and its text: JSON with summaries in SMT-LIB.

Whoever reads a text that anybody could have written has each summary validated before it counts (`RevisionChain.resume`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from analysis.engines.summary.bounded_answer import Level
from analysis.smt.logic import smtlib, smtlib_reading
from analysis.smt.logic.term_building import symbol
from analysis.smt.logic.terms import BOOL, Term, symbols

_FORMAT = "everproof-summaries"
_VERSION = 2
_MOST_NUMBERS = 1 << 16  # far fewer than what a context has to itself (`BodyEncoder`)
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, ValueError, KeyError, IndexError, TypeError, RecursionError)


class KnownCall(msgspec.Struct, frozen=True):
    """One call: the called function, the digest of its formula (`partition`), that of its text, and its summary, None if it has
    none."""

    function: str
    partition: bytes
    text: str
    summary: Term | None


class KnownCalls(msgspec.Struct, frozen=True):
    """What is kept of one revision: the calls of each level by their keys, the `numbers` that the encoder has given to functions,
    and by level the keys of calls `to_bound` (`RevisionChain.to_bound`)."""

    levels: Mapping[Level, Mapping[str, KnownCall]] = {}
    numbers: Mapping[str, int] = {}
    to_bound: Mapping[Level, Sequence[str]] = {}


class _Row(msgspec.Struct, frozen=True, array_like=True):
    key: str
    function: str
    partition: str
    text: str
    summary: str | None
    symbols: dict[str, str]


class _Text(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: str
    version: int
    numbers: dict[str, int]
    levels: dict[Level, list[_Row]]
    to_bound: dict[Level, list[str]]


def write(known: KnownCalls) -> bytes:
    """The text of what is kept."""
    levels = {level: [_row(key, call) for key, call in calls.items()] for level, calls in known.levels.items()}
    to_bound = {level: list(keys) for level, keys in known.to_bound.items()}
    return msgspec.json.encode(_Text(_FORMAT, _VERSION, dict(known.numbers), levels, to_bound))


def _row(key: str, call: KnownCall) -> _Row:
    if call.summary is None:
        return _Row(key, call.function, call.partition.hex(), call.text, None, {})
    sorts = {str(term.data): str(term.sort) for term in symbols((call.summary,))}
    return _Row(key, call.function, call.partition.hex(), call.text, smtlib.write(call.summary), sorts)


def read(text: bytes) -> KnownCalls | None:
    """What a text says; None if it is none of ours."""
    try:
        raw = msgspec.json.decode(text, type=_Text)
        if (raw.format, raw.version) != (_FORMAT, _VERSION) or not _are_ours(raw.numbers):
            return None
        levels = {level: {row.key: _call(row) for row in rows} for level, rows in raw.levels.items()}
    except _UNREADABLE:
        return None
    return KnownCalls(levels, raw.numbers, raw.to_bound)


def _are_ours(numbers: Mapping[str, int]) -> bool:
    """Whether an encoder could have given out these numbers: each once, the first to the entry (`BodyEncoder`)."""
    if len(numbers) > _MOST_NUMBERS:
        return False
    return sorted(numbers.values()) == list(range(len(numbers))) and numbers.get("main", len(numbers)) == 0


def _call(row: _Row) -> KnownCall:
    partition = bytes.fromhex(row.partition)
    if row.summary is None:
        return KnownCall(row.function, partition, row.text, None)
    sorts = {name: smtlib_reading.sort(next(smtlib_reading.nodes(said))) for name, said in row.symbols.items()}
    summary = smtlib_reading.read(row.summary, {name: symbol(name, sort) for name, sort in sorts.items()})
    if summary.sort is not BOOL:
        raise ValueError("a summary is a formula")
    return KnownCall(row.function, partition, row.text, summary)
