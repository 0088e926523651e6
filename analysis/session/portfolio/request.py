"""What provers are asked, and what they answer."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from analysis.certificate.claimed import Place
from analysis.certificate.text import Certified
from analysis.cfa.graph import Program
from analysis.cpa.predicates.violations import PROPERTIES, Property, Violation, violations, violations_in
from analysis.engines.symbolic.task import Confirmed, Refuted
from analysis.model.c_types import ILP32, LP64, DataModel
from analysis.model.report import IF_KEPT, ProofReuse, SummaryRepair, SummaryWork, Within
from analysis.session.portfolio.request_terms import About, Kept, Terms


class Request(NamedTuple):
    """A question about a program with these `entries`. If `whole` is true, runs begin there as in a real
    execution. Else there is one entry, and it can be called in any state. `kept` is what an answer can reuse: an answer
    within a bound does not depend on it, and a proof that is found is checked as any other."""

    program: Program
    entries: tuple[str, ...]
    about: About
    whole: bool = True
    terms: Terms = Terms()
    kept: Kept = Kept()

    @property
    def model(self) -> DataModel:
        """The sizes of types."""
        return ILP32 if self.terms.data_model == "ILP32" else LP64

    def places(self, rule: str) -> tuple[Violation, ...]:
        """Where the rule could be violated, of what the request is about; none for rules that no condition speaks of."""
        if rule not in PROPERTIES:
            return ()
        property_, about = msgspec.convert(rule, Property), self.about
        if about.function is None:
            return violations(self.program, property_)
        found = tuple(violations_in(self.program, about.function, property_))
        if about.edge is None:
            return found
        by_id = self.program.functions[about.function].by_id
        source = by_id[about.edge].source  # of a branch, either edge violates with its condition
        return tuple(place for place in found if by_id[place.edge].source == source)


class Proved(msgspec.Struct, frozen=True):
    """No run violates the rule, under the assumptions: the certificates, one for each entry, are accepted. `unreached`: the
    places that no run reaches at all. `kept`: the proofs for the next revision; `reuse`: what they took from the last one.
    `loops`: what bounds of integers say at the heads of loops, in C, by location."""

    engine: str
    assumptions: tuple[str, ...]
    certificates: tuple[Certified, ...]
    states: int = 0
    unreached: tuple[Place, ...] = ()
    kept: bytes | None = None
    reuse: ProofReuse = ProofReuse()
    loops: tuple[tuple[int, str], ...] = ()


class Unknown(msgspec.Struct, frozen=True):
    """It is not known; why. `final`: more time would not change that. `settled`: more time for the prover that says so would not,
    but another one may know more. `looked`: the functions that were gone through, where that is not all of the program.
    `nothing`: because nothing could violate the rule. `broken`: what of an earlier proof does not hold any more."""

    reason: str
    final: bool = False
    looked: tuple[str, ...] = ()
    states: int = 0
    nothing: bool = False
    broken: str = ""
    settled: bool = False

    @property
    def is_conditional(self) -> bool:
        """Whether it is proved but for what callers have to keep."""
        return self.reason.startswith(IF_KEPT)


class Bounded(msgspec.Struct, frozen=True):
    """What is known of the runs within a bound, under the `assumptions`, as a sentence too. `kept`: summaries for the next
    revision, as text; None if there are no new ones. `repairs`: what was done with the summaries of each function. `final`:
    more time would not change that."""

    within: Within
    sentence: str
    work: SummaryWork
    repairs: dict[str, SummaryRepair] = {}
    assumptions: tuple[str, ...] = ()
    kept: bytes | None = None
    final: bool = True


Answer = Bounded | Confirmed | Refuted | Proved | Unknown
