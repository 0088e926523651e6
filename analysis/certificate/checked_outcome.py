"""What engines that look for proofs answer."""

from __future__ import annotations

import msgspec

from analysis.certificate.annotation import Proof
from analysis.certificate.claimed import Place


class Work(msgspec.Struct, frozen=True):
    """Work counters: abstract states, abstractions, refinements, questions of the certificate checker, and (where they are
    counted) those of the engine to the solver."""

    states: int = 0
    abstractions: int = 0
    refinements: int = 0
    questions: int = 0
    queries: int = 0


class Proved(msgspec.Struct, frozen=True):
    """No run from the entry violates the property, under the assumptions; the annotation is accepted. `unreached` are the places
    that no run reaches at all."""

    annotation: Proof
    assumptions: tuple[str, ...]
    work: Work
    unreached: tuple[Place, ...] = ()


class Unproved(msgspec.Struct, frozen=True):
    """It is not known; why. `may_violate`: a path to a violation was found that the engine cannot exclude."""

    reason: str
    work: Work
    may_violate: bool = False
