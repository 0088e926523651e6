"""Proofs that a property holds in a program, from each of its entries: of all the places at which it could be violated at once,
and where that fails, function by function. Each proof has a certificate that was accepted.

That a function is safe means that no run from any entry that leads to it violates the property there. What nothing leads to, or
where nothing could violate the property, is not proved: it must look different from a proof.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import msgspec

from analysis.certificate.outcome import Proved, Unproved, Work
from analysis.cfa.callgraph import callees
from analysis.cfa.graph import Program
from analysis.cpa.completeness import KEEPS_ERRNO, keeps_errno
from analysis.cpa.library import CONCURRENT
from analysis.cpa.predicates.violations import Property, Violation, violations
from analysis.engines.predicate.decide import PredicateOptions
from analysis.engines.predicate.decide import prove as prove_by_predicates
from analysis.engines.symbolic.cegar import CegarOptions
from analysis.engines.symbolic.cegar import prove as prove_by_constraints
from analysis.engines.value.decide import prove as prove_by_values
from analysis.model.c_types import DataModel
from analysis.model.spelling import display_name

Prover = Literal["predicate", "symbolic", "value"]

NOTHING = "nothing here could violate it, so nothing was proved"
UNREACHED = "no entry of the program leads to this function, so nothing was proved"
_WHOLE = 0.6  # of the seconds for an entry, for all places at once
_LEAST = 0.2  # seconds that a proof is worth beginning with

_Attempt = Callable[[tuple[Violation, ...], str, float], Proved | Unproved]


class Answer(msgspec.Struct, frozen=True):
    """What is known of the property in one function: it is safe, or `reason` says why that is not known. `assumptions` are those
    of the proofs."""

    reason: str | None
    assumptions: tuple[str, ...] = ()


class PropertyProofs(msgspec.Struct, frozen=True):
    """The proofs, and the answer for each function by its linkage name. `covered` are the places that are proved, whatever the
    entry. `reason`: why not everything is proved, if it is not."""

    proofs: tuple[Proved, ...]
    functions: Mapping[str, Answer]
    covered: tuple[Violation, ...]
    reason: str | None


def prove_property(
    program: Program, property_: Property, entries: Sequence[str], model: DataModel, seconds: float, prover: Prover = "predicate"
) -> PropertyProofs:
    """Looks for proofs from all entries, within the seconds of the clock."""
    attempt = _attempt(program, model, prover)
    called, wanted = callees(program), violations(program, property_)
    if tuple(entries) != ("main",) and (starting := _starting(called)) is not None:
        attempt = _refusing(f"{display_name(starting)} starts what can run at any time, with all that is entered from outside")
    if keeps_errno(program):
        attempt = _refusing(KEEPS_ERRNO)
    left, found = time.monotonic() + seconds, []
    for number, entry in enumerate(entries):
        reached = _reached(entry, called)
        places = tuple(violation for violation in wanted if violation.function in reached)
        share = (left - time.monotonic()) / (len(entries) - number)
        found.append(_FromEntry(entry, reached & program.functions.keys(), places).run(attempt, share))
    return _together(program, wanted, found)


def _attempt(program: Program, model: DataModel, prover: Prover) -> _Attempt:
    def attempt(places: tuple[Violation, ...], entry: str, seconds: float) -> Proved | Unproved:
        if prover == "value":
            return prove_by_values(program, places, entry, model, seconds=seconds)
        if prover == "symbolic":
            return prove_by_constraints(program, places, entry, model, CegarOptions(seconds=seconds))
        return prove_by_predicates(program, places, entry, model, PredicateOptions(seconds=seconds))

    return attempt


def _starting(called: Mapping[str, Sequence[str]]) -> str | None:
    """A function that starts threads, or has functions called on signals."""
    return next((name for name, targets in called.items() if not CONCURRENT.isdisjoint(targets)), None)


def _refusing(reason: str) -> _Attempt:
    return lambda places, entry, seconds: Unproved(reason, Work())


class _FromEntry:
    """What can be proved of runs from one entry: `proved` of the functions, `reasons` why not of others."""

    def __init__(self, entry: str, reached: frozenset[str] | set[str], places: tuple[Violation, ...]) -> None:
        self.entry, self.reached, self.places = entry, reached, places
        self.proofs: list[Proved] = []
        self.proved: dict[str, Proved] = {}
        self.reasons: dict[str, str] = {}
        self.reason: str | None = None

    def run(self, attempt: _Attempt, seconds: float) -> _FromEntry:
        """All places at once, else function by function."""
        if not self.places:
            return self
        until = time.monotonic() + seconds
        functions = list(dict.fromkeys(place.function for place in self.places))
        whole = attempt(self.places, self.entry, seconds if len(functions) == 1 else _WHOLE * seconds)
        if isinstance(whole, Proved):
            self.proofs.append(whole)
            self.proved = dict.fromkeys(self.reached, whole)
            return self
        self.reason = whole.reason
        for number, function in enumerate(functions):
            self._try(function, attempt, (until - time.monotonic()) / (len(functions) - number), whole)
        return self

    def _try(self, function: str, attempt: _Attempt, seconds: float, whole: Unproved) -> None:
        own = tuple(place for place in self.places if place.function == function)
        if len(own) == len(self.places) or seconds < _LEAST:
            self.reasons[function] = whole.reason
            return
        found = attempt(own, self.entry, seconds)
        if isinstance(found, Proved):
            self.proofs.append(found)
            self.proved[function] = found
        else:
            self.reasons[function] = found.reason


def _together(program: Program, wanted: Sequence[Violation], found: Sequence[_FromEntry]) -> PropertyProofs:
    functions = {name: _answer(name, [one for one in found if name in one.reached]) for name in program.functions}
    return PropertyProofs(
        proofs=tuple(proof for one in found for proof in one.proofs),
        functions=functions,
        covered=tuple(place for place in wanted if functions[place.function].reason is None),
        reason=next((one.reason for one in found if one.reason), None if any(one.places for one in found) else NOTHING),
    )


def _answer(function: str, leading: Sequence[_FromEntry]) -> Answer:
    if not leading:
        return Answer(UNREACHED)
    failed = next((one for one in leading if one.places and function not in one.proved), None)
    if failed is not None:
        return Answer(failed.reasons.get(function) or failed.reason)
    proofs = [one.proved[function] for one in leading if one.places]
    if not proofs:
        return Answer(NOTHING)
    return Answer(None, tuple(dict.fromkeys(assumption for proof in proofs for assumption in proof.assumptions)))


def _reached(entry: str, called: Mapping[str, Sequence[str]]) -> set[str]:
    reached, waiting = {entry}, [entry]
    while waiting:
        for name in called.get(waiting.pop(), ()):
            if name not in reached:
                reached.add(name)
                waiting.append(name)
    return reached
