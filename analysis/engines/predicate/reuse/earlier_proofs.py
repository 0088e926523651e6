"""Proofs as they are kept for the next revision: the program that they are about, packed, and their certificate, with the
assertions in SMT-LIB ([IPA] section 5.1). The digest of each function is that of its CFA.

What is read may have been written by anybody. It only says where to look for the next proof.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from functools import cache

import msgspec

from analysis.certificate import text
from analysis.certificate.annotation import Annotation
from analysis.certificate.refusal import RefusedError
from analysis.cfa.graph import Cfa, Edge, External, Global, Program
from analysis.model import ir
from analysis.model.c_types import Function, RecordDefinition
from analysis.model.limits import PROOF_BYTES
from analysis.store.packing import Codec, PackingError

UNREADABLE = (
    zlib.error,
    PackingError,
    RefusedError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    AssertionError,
    RecursionError,
)
"""What can go wrong with a program that no front end has made."""
_VERSION = 2
_FAST = 1  # of the levels of compression


class EarlierProofs(msgspec.Struct, frozen=True):
    """A program, and annotations of it that a checker accepted, if the text is one of ours. `of`: the function that they are
    about, where it is not an earlier revision of the one that is asked about, but one that looks like it. `worked`: the
    most seconds of work that one of these proofs took, or one that it was made from; 0.0 if that is not known."""

    program: Program
    annotations: tuple[Annotation, ...]
    of: str = ""
    worked: float = 0.0


class _Function(msgspec.Struct):
    name: str
    path: str
    type_: Function
    parameters: tuple[ir.Var, ...]
    entry: int
    exit_: int
    edges: tuple[Edge, ...]
    digest: str
    next_location: int
    next_edge: int


class _Kept(msgspec.Struct):
    version: int
    functions: tuple[_Function, ...]
    globals: dict[str, Global]
    externals: dict[str, External]
    records: dict[str, RecordDefinition]
    address_taken: frozenset[str]
    exposed: tuple[str, ...]
    certificate: str
    worked: float


@cache
def _codec() -> Codec[_Kept]:
    """Made when it is first needed."""
    return Codec(_Kept)


def write(
    program: Program, annotations: Sequence[Annotation], data_model: text.DataModelName, worked: float = 0.0
) -> bytes | None:
    """The proofs of a program as bytes; None if these are too many to keep. `worked`: see `EarlierProofs`."""
    functions = tuple(
        _Function(
            cfa.name,
            cfa.path,
            cfa.type,
            cfa.parameters,
            cfa.entry,
            cfa.exit,
            cfa.edges,
            cfa.digest,
            cfa.next_location,
            cfa.next_edge,
        )
        for cfa in program.functions.values()
    )
    certificate = text.write(annotations, program, data_model)
    exposed = tuple(sorted(program.exposed or ()))
    kept = _Kept(
        _VERSION,
        functions,
        program.globals,
        program.externals,
        program.records,
        program.address_taken,
        exposed,
        certificate,
        worked,
    )
    data = _codec().encode(kept)
    return zlib.compress(data, _FAST) if len(data) <= PROOF_BYTES else None


def read(data: bytes, of: str = "") -> EarlierProofs | None:
    """The proofs that bytes hold; None if they hold none that can be read. `of`: see `EarlierProofs`."""
    if not data or len(data) > PROOF_BYTES:
        return None
    try:
        kept = _codec().decode(_decompressed(data))
        if kept.version != _VERSION or not (0 <= kept.worked < math.inf):
            return None
        functions = {one.name: _cfa(one) for one in kept.functions}
        program = Program(functions, kept.globals, kept.externals, kept.records, kept.address_taken, frozenset(kept.exposed))
        read_ = text.read(kept.certificate, program)
    except UNREADABLE:
        return None
    found = tuple(proof for proof in read_.annotations if isinstance(proof, Annotation))
    return EarlierProofs(program, found, of, kept.worked) if found else None


def _decompressed(data: bytes) -> bytes:
    """The bytes before they were compressed. ValueError if these are too many, or not all of them."""
    decompression = zlib.decompressobj()
    found = decompression.decompress(data, PROOF_BYTES)
    if not decompression.eof:
        raise ValueError("it is longer than what is kept, or cut off")
    return found


def _cfa(kept: _Function) -> Cfa:
    cfa = Cfa(
        name=kept.name,
        path=kept.path,
        type_=kept.type_,
        parameters=kept.parameters,
        entry=kept.entry,
        exit_=kept.exit_,
        edges=kept.edges,
        digest=kept.digest,
        next_location=kept.next_location,
        next_edge=kept.next_edge,
    )
    is_fresh = cfa.next_location > max(cfa.locations) and all(0 <= edge.id < cfa.next_edge for edge in cfa.edges)
    if not is_fresh or min(cfa.locations) < 0 or len(cfa.by_id) < len(cfa.edges):
        raise ValueError("the ids of a function are not those of a CFA")
    return cfa
