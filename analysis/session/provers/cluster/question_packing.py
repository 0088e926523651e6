"""A question to a prover as bytes, and back: data only. Slices hold their parts pickled, for processes of this machine; what goes
to another one is packed by `analysis.store.packing`, and reading it can make values of the listed types and nothing else.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple, get_args

import msgspec

from analysis.cfa.graph import Cfa, External, Global
from analysis.model import ir
from analysis.model.c_types import RecordDefinition
from analysis.model.options import Assumption, Encoding, Engine, Reuse
from analysis.session.keeping.packed_cfas import PackedCfa, packed_cfa, unpacked_cfa
from analysis.session.portfolio.request_terms import KINDS, About, Asked, Kept, Terms
from analysis.session.provers.asking.program_slices import Slice
from analysis.session.provers.asking.question import Question
from analysis.store.packing import Codec, PackingError

_FEW = 8_192  # parts of programs that are at hand: questions about one program share most of them

Parts = dict[str, bytes]


class _Slice(msgspec.Struct):
    digest: str
    meaning: str
    entries: tuple[str, ...]
    functions: Parts
    globals: Parts
    externals: Parts
    records: Parts
    address_taken: tuple[str, ...]
    exposed: tuple[str, ...]


class _About(msgspec.Struct):
    kind: str
    rules: tuple[str, ...]
    function: str | None
    edge: int | None
    expression: ir.Expr | None
    path: tuple[tuple[str, int], ...]
    moves: tuple[tuple[str, int], ...]
    made: tuple[str, int] | None


class _Terms(msgspec.Struct):
    data_model: str
    engine: str
    encoding: str
    assume: tuple[str, ...]
    certificates: bool
    unwind: int
    reuse: str
    operators: tuple[str, ...]


class _Kept(msgspec.Struct):
    text: bytes
    are_believed: bool
    of: str


class _Question(msgspec.Struct):
    program: _Slice
    about: _About
    whole: bool
    terms: _Terms
    seconds: float
    kept: _Kept
    part: str


class _PartKind(NamedTuple):
    """How the parts of one table of a slice are packed: the type that is written, and the way there and back."""

    type: Any
    there: Callable[[Any], Any]
    back: Callable[[Any], Any]


def _same(value: Any) -> Any:
    return value


_KINDS = {
    "functions": _PartKind(PackedCfa, packed_cfa, unpacked_cfa),
    "globals": _PartKind(Global, _same, _same),
    "externals": _PartKind(External, _same, _same),
    "records": _PartKind(RecordDefinition, _same, _same),
}
_WORDS = {
    "data_model": ("LP64", "ILP32"),
    "engine": get_args(Engine),
    "encoding": get_args(Encoding),
    "reuse": get_args(Reuse),
}


@cache
def _codec() -> Codec[_Question]:
    return Codec(_Question)


@cache
def _codec_of(table: str) -> Codec[Any]:
    return Codec(_KINDS[table].type)


def pack_question(question: Question) -> bytes:
    """A question as bytes."""
    program, about, terms = question.program, question.about, question.terms
    tables = {table: {name: _packed(table, data) for name, data in getattr(program, table).items()} for table in _KINDS}
    return _codec().encode(
        _Question(
            _Slice(
                program.digest,
                program.meaning,
                program.entries,
                **tables,
                address_taken=program.address_taken,
                exposed=program.exposed,
            ),
            _About(*about),
            question.whole,
            _Terms(*terms),
            question.seconds,
            _Kept(*question.kept),
            question.part,
        )
    )


def unpack_question(data: bytes) -> Question:
    """The question that was packed. Raises PackingError."""
    packed = _codec().decode(data)
    program, about, terms = packed.program, packed.about, packed.terms
    _demand(about.kind in KINDS, f"there is no question about {about.kind}")
    for field, words in _WORDS.items():
        _demand(getattr(terms, field) in words, f"{field} is not one of {', '.join(words)}")
    _demand(packed.part in get_args(Asked), f"there is nobody to ask who is called {packed.part}")
    _demand(set(terms.assume) <= set(get_args(Assumption)), "an assumption is unknown")
    tables = {table: _unpacked(table, getattr(program, table)) for table in _KINDS}
    slice_ = Slice(
        digest=program.digest,
        meaning=program.meaning,
        entries=program.entries,
        **tables,
        address_taken=program.address_taken,
        exposed=program.exposed,
    )
    of_about, of_terms, of_kept = map(_fields, (about, terms, packed.kept))
    asked: Any = packed.part
    return Question(slice_, About(*of_about), packed.whole, Terms(*of_terms), packed.seconds, Kept(*of_kept), asked)


def _fields(packed: msgspec.Struct) -> Iterator[Any]:
    return (getattr(packed, field) for field in packed.__struct_fields__)


def _demand(holds: bool, otherwise: str) -> None:
    if not holds:
        raise PackingError(otherwise)


@lru_cache(_FEW)
def _packed(table: str, pickled: bytes) -> bytes:
    """A part of a slice of this process, which has pickled it, as bytes for another machine."""
    return _codec_of(table).encode(_KINDS[table].there(pickle.loads(pickled)))


def _unpacked(table: str, parts: Mapping[str, bytes]) -> Parts:
    return {name: _repickled(table, data) for name, data in parts.items()}


@lru_cache(_FEW)
def _repickled(table: str, packed: bytes) -> bytes:
    """What another machine has sent, as the pickle that a prover process of this one reads."""
    value = _codec_of(table).decode(packed)
    try:
        part: Cfa | Global | External | RecordDefinition = _KINDS[table].back(value)
    except TypeError as error:
        raise PackingError(str(error)) from None
    return pickle.dumps(part, pickle.HIGHEST_PROTOCOL)
