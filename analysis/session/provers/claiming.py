"""Proves that no run violates a rule in a function; in prover processes only, as the engine loads the solver.

A claim is proved by predicate analysis from each of the entries, in the `int` encoding and then in bit-vectors; the certificate
checker has accepted each proof (`engines.predicate`). The invariants of the function's loops come with the answer, in C.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import msgspec

from analysis.certificate.invariants import invariants
from analysis.certificate.outcome import Proved
from analysis.cfa.graph import Program
from analysis.cpa.predicates.violations import Property, Violation, violations_in
from analysis.engines.predicate.decide import PredicateOptions, prove
from analysis.model.c_types import DataModel
from analysis.session.provers.claims import ClaimQuestion
from analysis.session.provers.decided import Decided, Invariant
from analysis.smt.encoding.formula import Mode

_ENCODINGS: tuple[tuple[Mode, float], ...] = (("int", 0.7), ("bv", 1.0))  # and until which share of what is left
_LEAST = 0.05  # seconds


def claimed(question: ClaimQuestion, program: Program, model: DataModel, seconds: float) -> Decided:
    """The answer: `refuted` if no run violates the rule there."""
    until = time.monotonic() + seconds
    places = tuple(violations_in(program, question.function, msgspec.convert(question.rule, Property)))
    if not places:
        return Decided("possible", reason="nothing here could violate it, so nothing was proved")
    entries = question.program.entries
    proofs = []
    for number, entry in enumerate(entries):
        found = _proved(program, places, entry, model, (until - time.monotonic()) / (len(entries) - number))
        if isinstance(found, str):
            return Decided("possible", final=False, reason=found)
        proofs.append(found)
    assumptions = tuple(dict.fromkeys(assumption for proof in proofs for assumption in proof.assumptions))
    return Decided("refuted", assumptions=assumptions, invariants=_told(question.function, program, proofs, model))


def _proved(program: Program, places: tuple[Violation, ...], entry: str, model: DataModel, seconds: float) -> Proved | str:
    began, why = time.monotonic(), "there was no time to look for a proof"
    for mode, share in _ENCODINGS:
        left = began + share * seconds - time.monotonic()
        if left < _LEAST:
            continue
        found = prove(program, places, entry, model, PredicateOptions(mode=mode, seconds=left))
        if isinstance(found, Proved):
            return found
        why = found.reason if mode == "int" else why
    return why


def _told(function: str, program: Program, proofs: Sequence[Proved], model: DataModel) -> tuple[Invariant, ...]:
    """The invariants: of several entries, none, since each has its own."""
    if len(proofs) != 1:
        return ()
    found, edges = invariants(program, proofs[0].annotation, function, model), program.functions[function].edges
    first = {location: next(n for n, edge in enumerate(edges) if edge.source == location) for location in found}
    return tuple(Invariant(first[location], text) for location, text in found.items())
