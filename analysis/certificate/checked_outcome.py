"""What engines that look for proofs answer."""

from __future__ import annotations

from typing import Literal

import msgspec

from analysis.certificate.annotation import Proof
from analysis.certificate.claimed import Place


class ReuseWork(msgspec.Struct, frozen=True):
    """What was reused. `asserted`: cubes of the earlier proof at the heads that were gone to; `kept`: those that the change does
    not impact; `valid`: those left whose triples hold; `lemmas`: conjuncts that are left where those were not enough. `changed`:
    edges that are not as before. `differing` and `annotating`: seconds of the processor to compare the programs, and to find what
    is left. `how` the proof was found: at once, or by the search from what was left; empty if it was not."""

    asserted: int = 0
    kept: int = 0
    valid: int = 0
    lemmas: int = 0
    changed: int = 0
    differing: float = 0.0
    annotating: float = 0.0
    how: Literal["", "annotation", "lemmas", "search"] = ""


class Work(msgspec.Struct, frozen=True):
    """Work counters: abstract states, abstractions, refinements, questions of the certificate checker, and (where they are
    counted) those of the engine to the solver. `reuse`: what was done with an earlier proof. `worked`: seconds of work that a
    proof took, or one that it was made from, whichever took most; 0.0 where that is not counted."""

    states: int = 0
    abstractions: int = 0
    refinements: int = 0
    questions: int = 0
    queries: int = 0
    reuse: ReuseWork = ReuseWork()
    worked: float = 0.0


class Proved(msgspec.Struct, frozen=True):
    """No run from the entry violates the property, under the assumptions; the annotation is accepted. `unreached` are the places
    that no run reaches at all."""

    annotation: Proof
    assumptions: tuple[str, ...]
    work: Work
    unreached: tuple[Place, ...] = ()


class Unproved(msgspec.Struct, frozen=True):
    """It is not known; why. `may_violate`: a path to a violation was found that the engine cannot exclude. `broken`: what of an
    earlier proof does not hold any more, and after which edge, if that was asked; the edge is marked."""

    reason: str
    work: Work
    may_violate: bool = False
    broken: str = ""
