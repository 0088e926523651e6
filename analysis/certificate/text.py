"""Certificates as text: JSON with assertions in SMT-LIB, and the digest of the program that they are about.

Where `calls` are "inlined", `contexts` are rows (number of the outer context, function, edge, callee); the first context, 0, has
none; an assertion's `context` is its number. Where they are "summaries", it is the name of a function. `symbols` gives the sort
of every symbol in the assertions, as SMT-LIB writes it. `unwindings`, `closed_sets` and `requirements` are proofs of the other
kinds (`certificate.unwinding`, `certificate.ownership`, `certificate.nonzero`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from analysis.certificate.annotation import Annotation, Proof, Summaries, program_digest
from analysis.certificate.nonzero.claims import Requirements
from analysis.certificate.ownership.closed_sets import ClosedSets
from analysis.certificate.refusal import RefusedError
from analysis.certificate.unwinding_tree import Unwinding
from analysis.cfa.graph import Program
from analysis.cpa.domains.location import Stack
from analysis.cpa.framework.steps import Step
from analysis.cpa.predicates.violations import Property
from analysis.model import ir
from analysis.smt.encoding.numbers.formula import Mode
from analysis.smt.logic import smtlib, smtlib_reading
from analysis.smt.logic.term_building import symbol
from analysis.smt.logic.terms import BOOL, Term, symbols

DataModelName = Literal["LP64", "ILP32"]
Certified = Proof | Unwinding | ClosedSets | Requirements
"""A proof that a checker can accept, of any kind."""
FORMAT = "everproof-certificate"
VERSION = 1


class _Context(msgspec.Struct, frozen=True, array_like=True):
    outer: int
    function: str
    edge: int
    callee: str


class _Assertion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    context: int | str
    location: int
    formula: str


class _Proof(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    entry: str
    property: Property
    edges: tuple[tuple[str, int], ...]
    encoding: Mode
    calls: Literal["inlined", "summaries"]
    contexts: tuple[_Context, ...]
    symbols: dict[str, str]
    assertions: tuple[_Assertion, ...]


class _Text(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: str
    version: int
    program: str
    data_model: DataModelName
    proofs: tuple[_Proof, ...]
    unwindings: tuple[Unwinding, ...] = ()
    closed_sets: tuple[ClosedSets, ...] = ()
    requirements: tuple[Requirements, ...] = ()


class Certificate(msgspec.Struct, frozen=True):
    """The annotations and proofs of other kinds that were read, and the data model of the program that they are about."""

    data_model: DataModelName
    annotations: tuple[Proof, ...]
    unwindings: tuple[Unwinding, ...] = ()
    closed_sets: tuple[ClosedSets, ...] = ()
    requirements: tuple[Requirements, ...] = ()

    @property
    def all(self) -> tuple[Certified, ...]:
        """All proofs."""
        return (*self.annotations, *self.unwindings, *self.closed_sets, *self.requirements)


def write(proofs: Iterable[Certified], program: Program, data_model: DataModelName) -> str:
    """The text of proofs about a program."""
    all_ = list(proofs)
    annotations = tuple(_proof(proof) for proof in all_ if isinstance(proof, Proof))
    unwindings = tuple(proof for proof in all_ if isinstance(proof, Unwinding))
    closed = tuple(proof for proof in all_ if isinstance(proof, ClosedSets))
    required = tuple(proof for proof in all_ if isinstance(proof, Requirements))
    text = _Text(FORMAT, VERSION, program_digest(program), data_model, annotations, unwindings, closed, required)
    return msgspec.json.format(msgspec.json.encode(text), indent=1).decode() + "\n"


def _proof(proof: Proof) -> _Proof:
    rows: tuple[_Context, ...] = ()
    if isinstance(proof, Annotation):
        number = {stack: position for position, stack in enumerate(proof.contexts)}
        rows = tuple(
            _Context(number[stack.below], stack.call.function, stack.call.edge.id, stack.call.callee)
            for stack in proof.contexts
            if stack is not None
        )
    return _Proof(
        proof.entry,
        proof.property,
        proof.edges,
        proof.mode,
        "inlined" if isinstance(proof, Annotation) else "summaries",
        rows,
        {str(term.data): str(term.sort) for term in symbols(proof.assertions.values())},
        _rows(proof.assertions),
    )


def _rows(assertions: Mapping[tuple[int, int], Term] | Mapping[tuple[str, int], Term]) -> tuple[_Assertion, ...]:
    rows = [_Assertion(context, location, smtlib.write(term)) for (context, location), term in assertions.items()]
    return tuple(sorted(rows, key=lambda row: (str(row.context), row.location)))


def read(text: str | bytes, program: Program) -> Certificate:
    """A certificate for a program. Raises RefusedError if the text is none, or speaks of what the program does not have."""
    try:
        raw = msgspec.json.decode(text, type=_Text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RefusedError(f"this is no certificate: {error}") from error
    if raw.format != FORMAT or raw.version != VERSION:
        raise RefusedError(f"this is no certificate of version {VERSION}")
    if raw.program != program_digest(program):
        raise RefusedError("the certificate is about another program; if that is an earlier version, name it with --made-for")
    if any(claim.entry not in program.functions or min(claim.taken, default=0) < 0 for claim in raw.unwindings):
        raise RefusedError("the certificate cannot be read: it mentions paths that the program does not have")
    by_itself: tuple[ClosedSets | Requirements, ...] = (*raw.closed_sets, *raw.requirements)
    named = {name for claim in by_itself for name in (*claim.runs_from, *(one.function for one in claim.functions))}
    named.update(claim.entry for claim in by_itself)
    if not named <= program.functions.keys():
        raise RefusedError("the certificate cannot be read: it mentions functions that the program does not have")
    annotations = tuple(_annotation(proof, program) for proof in raw.proofs)
    return Certificate(raw.data_model, annotations, raw.unwindings, raw.closed_sets, raw.requirements)


def _annotation(raw: _Proof, program: Program) -> Proof:
    if raw.entry not in program.functions:
        raise RefusedError(f"the program does not define {raw.entry}")
    try:
        found = _assertions(raw)
        if raw.calls == "summaries":
            by_function = {(name, at): term for (name, at), term in found.items() if isinstance(name, str)}
            return Summaries(raw.entry, raw.property, raw.edges, raw.encoding, by_function)
        by_context = {(number, at): term for (number, at), term in found.items() if isinstance(number, int)}
        return Annotation(raw.entry, raw.property, raw.edges, raw.encoding, _contexts(raw, program), by_context)
    except (ValueError, KeyError, IndexError, RecursionError) as error:
        raise RefusedError(f"the certificate cannot be read: {error}") from error


def _contexts(raw: _Proof, program: Program) -> tuple[Stack | None, ...]:
    found: list[Stack | None] = [None]
    for row in raw.contexts:
        below = found[row.outer]
        edge = program.functions[row.function].by_id[row.edge]
        inside = raw.entry if below is None else below.call.callee
        if row.outer < 0 or inside != row.function or not isinstance(edge.effect, ir.Call):
            raise ValueError(f"edge {row.edge} of {row.function} is no call in its context")
        if row.callee not in program.functions or row.callee not in program.targets(edge.effect):
            raise ValueError(f"edge {row.edge} of {row.function} does not call {row.callee}")
        step = Step("enter", row.function, edge, row.callee)
        found.append(Stack(step, below, 1 if below is None else below.depth + 1))
    return tuple(found)


def _assertions(raw: _Proof) -> dict[tuple[int | str, int], Term]:
    known = {}
    for name, sort in raw.symbols.items():
        (node,) = smtlib_reading.nodes(sort)
        known[name] = symbol(name, smtlib_reading.sort(node))
    found: dict[tuple[int | str, int], Term] = {}
    for row in raw.assertions:
        term = smtlib_reading.read(row.formula, known)
        is_context = isinstance(row.context, str) or 0 <= row.context <= len(raw.contexts)
        if term.sort != BOOL or not is_context or (row.context, row.location) in found:
            raise ValueError(f"the assertion at location {row.location} of {row.context}")
        found[row.context, row.location] = term
    return found
