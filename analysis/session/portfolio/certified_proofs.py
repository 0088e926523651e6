"""Proofs with certificates, of one rule at a time, from each entry of a request."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce

import msgspec

from analysis.certificate.annotation import Annotation
from analysis.certificate.checked_outcome import Proved as Accepted
from analysis.certificate.checked_outcome import Unproved, Work
from analysis.cpa.framework.algorithm import Cancellation
from analysis.cpa.predicates.violations import PROPERTIES, Violation
from analysis.engines.predicate.predicate_options import PredicateOptions
from analysis.engines.predicate.predicate_proof import prove as prove_by_predicates
from analysis.engines.predicate.reuse import earlier_proofs
from analysis.engines.predicate.reuse.reusing import Reuse
from analysis.engines.symbolic.cegar import CegarOptions
from analysis.engines.symbolic.cegar import prove as prove_by_constraints
from analysis.engines.value.value_proof import prove as prove_by_values
from analysis.model import clock
from analysis.model.report import ProofReuse
from analysis.model.symbolic_operators import read_operators
from analysis.session.portfolio.request import Answer, Proved, Request, Unknown
from analysis.session.portfolio.request_terms import NOTHING_TO_PROVE, ONLY_BY_PATHS
from analysis.session.portfolio.turns import INT_UNTIL, KEEPING
from analysis.smt.encoding.numbers.formula import Mode

_LEAST = 0.05  # seconds that an attempt is worth beginning with

_Attempt = Callable[[tuple[Violation, ...], str, float], Accepted | Unproved]


def by_values(request: Request, seconds: float, cancellation: Cancellation) -> Answer:
    """Explicit values of few variables."""

    def attempt(places: tuple[Violation, ...], entry: str, left: float) -> Accepted | Unproved:
        return prove_by_values(request.program, places, entry, request.model, seconds=left, cancellation=cancellation)

    return _from_entries(request, "value", [(attempt, 1.0)], seconds)


def by_constraints(request: Request, seconds: float, cancellation: Cancellation) -> Answer:
    """Symbolic execution with CEGAR."""
    operators = read_operators(request.terms.operators)

    def in_mode(mode: Mode) -> _Attempt:
        def attempt(places: tuple[Violation, ...], entry: str, left: float) -> Accepted | Unproved:
            options = CegarOptions(mode=mode, seconds=left, operators=operators)
            return prove_by_constraints(request.program, places, entry, request.model, options, cancellation)

        return attempt

    return _from_entries(request, "symbolic", [(in_mode(mode), until) for mode, until in _modes(request)], seconds)


def by_predicates(request: Request, seconds: float, cancellation: Cancellation) -> Answer:
    """Predicate analysis, and the program as Horn clauses; from the proofs of the revision before, if these are kept."""
    reuse = request.terms.reuse
    earlier = None if reuse == "none" else earlier_proofs.read(request.kept.text, request.kept.of)

    def in_mode(mode: Mode) -> _Attempt:
        def attempt(places: tuple[Violation, ...], entry: str, left: float) -> Accepted | Unproved:
            options = PredicateOptions(mode=mode, seconds=left, reuse="precisions" if reuse == "precisions" else "annotations")
            return prove_by_predicates(request.program, places, entry, request.model, options, cancellation, earlier)

        return attempt

    return _from_entries(request, "predicate", [(in_mode(mode), until) for mode, until in _modes(request)], seconds)


def by_earlier_proof(request: Request, seconds: float, cancellation: Cancellation) -> Answer:
    """What is left of the proof that is kept of an earlier revision, whichever engine found it: a proof at once, or where a short
    search begins. Where neither is enough, the answer says what of it is broken."""
    earlier = earlier_proofs.read(request.kept.text, request.kept.of)
    if earlier is None:
        return Unknown("the proof that was kept cannot be read")
    modes = tuple(dict.fromkeys(one.mode for one in earlier.annotations))

    def in_mode(mode: Mode) -> _Attempt:
        def attempt(places: tuple[Violation, ...], entry: str, left: float) -> Accepted | Unproved:
            reuse: Reuse = "precisions" if request.terms.reuse == "precisions" else "annotations"
            options = PredicateOptions(mode=mode, seconds=left, clauses=0.0, reuse=reuse, scratch=False)
            return prove_by_predicates(request.program, places, entry, request.model, options, cancellation, earlier)

        return attempt

    return _from_entries(request, "predicate", [(in_mode(mode), 1.0) for mode in modes], seconds)


def _with_kept(request: Request, found: Proved, worked: float) -> Proved:
    """A proof with what the next revision can reuse of it, where that is wanted. `worked`: see `EarlierProofs`."""
    annotations = [proof for proof in found.certificates if isinstance(proof, Annotation)]
    if request.terms.reuse == "none" or request.about.kind not in KEEPING or not annotations:
        return found
    kept = earlier_proofs.write(request.program, annotations, request.terms.data_model, worked)
    return msgspec.structs.replace(found, kept=kept)


def _modes(request: Request) -> Iterator[tuple[Mode, float]]:
    """The encodings of integers, and until which share of the time."""
    match request.terms.encoding:
        case "int" | "bv" as encoding:
            yield encoding, 1.0
        case _:
            yield from (("int", INT_UNTIL), ("bv", 1.0))


def _from_entries(request: Request, engine: str, attempts: list[tuple[_Attempt, float]], seconds: float) -> Answer:
    """One proof from each entry; `Unknown` with the reason of the first attempt where there is none."""
    (rule,) = request.about.rules
    if rule not in PROPERTIES:
        return Unknown(ONLY_BY_PATHS, final=True)
    places = request.places(rule)
    if not places:
        return Unknown(NOTHING_TO_PROVE, final=True, nothing=True)
    until, found, states = clock.spent() + seconds, list[Accepted](), 0
    for number, entry in enumerate(request.entries):
        share = (until - clock.spent()) / (len(request.entries) - number)
        proof, spent, settled = _attempted(attempts, places, entry, share)
        states += spent
        if isinstance(proof, Unproved):
            return Unknown(proof.reason, states=states, broken=proof.broken, settled=settled)
        found.append(proof)
    if not found:
        return Unknown("no entry of the program leads to a place where it could be violated", final=True)
    assumptions = dict.fromkeys(assumption for proof in found for assumption in proof.assumptions)
    missed = tuple(place for place in found[0].unreached if all(place in proof.unreached for proof in found))
    reuse = reduce(ProofReuse.plus, (_reuse(proof) for proof in found))
    reuse = msgspec.structs.replace(reuse, of=request.kept.of if reuse.proofs else "")
    proved = Proved(engine, tuple(assumptions), tuple(proof.annotation for proof in found), states, missed, reuse=reuse)
    return _with_kept(request, proved, max(proof.work.worked for proof in found))


def _reuse(proof: Accepted) -> ProofReuse:
    """What a proof took from an earlier one."""
    work = proof.work.reuse
    return ProofReuse(1, work.asserted, work.valid, work.lemmas) if work.how else ProofReuse()


def _attempted(
    attempts: list[tuple[_Attempt, float]], places: tuple[Violation, ...], entry: str, seconds: float
) -> tuple[Accepted | Unproved, int, bool]:
    """A proof from one entry, or why there is none; the abstract states that were made; and whether each attempt came to a path
    that it cannot exclude, so that none would come further with more time."""
    began, why, states, open_ = clock.spent(), None, 0, 0
    for attempt, share in attempts:
        left = began + share * seconds - clock.spent()
        if left < _LEAST:
            continue
        found = attempt(places, entry, left)
        states += found.work.states
        if isinstance(found, Accepted):
            return found, states, True
        why = why or found
        open_ += found.may_violate
    return why or Unproved("there was no time to look for a proof", Work()), states, open_ == len(attempts)
