"""What the exploration of a path left out: reasons why a result about it is not complete.

A state is a set of reasons, ordered by inclusion: more reasons stand for no fewer runs, but a state without a reason does not
cover one with it, so that no reason is lost. A path gets a reason where it goes over an `unsupported` edge, calls what is not
known at all or makes control flow that CFAs do not have (threads, signals, jumps), or is cut off at a bound. As long as a
reached state has one, nothing is `safe` (invariant I2); a target on such a path is possible all the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from analysis.c.control import UNMODELLED
from analysis.cpa.framework.defaults import MergeSep, NoStrengthening, StopSep, TrivialAdjustment
from analysis.cpa.framework.interface import Cpa
from analysis.cpa.framework.steps import Step
from analysis.cpa.obstacles.completeness import leads_nowhere, not_modelled, not_supported
from analysis.model import ir

Reasons = frozenset[str]
NONE: Reasons = frozenset()


class ReasonsDomain:
    """Sets of reasons, ordered by inclusion; the join is the union."""

    def less_or_equal(self, state: Reasons, other: Reasons) -> bool:
        """Whether all reasons of `state` are reasons of `other`."""
        return state <= other

    def join(self, state: Reasons, other: Reasons) -> Reasons:
        """The reasons of both."""
        return state | other


class ReasonsTransfer(NoStrengthening[Reasons, None]):
    """Adds the reason that a step gives."""

    def __init__(self) -> None:
        self._reasons: dict[Step, str | None] = {}

    def successors(self, state: Reasons, step: Step, precision: None) -> Sequence[Reasons]:
        """The reasons after the step."""
        if step in self._reasons:
            reason = self._reasons[step]
        else:
            reason = self._reasons[step] = reason_of(step)
        return (state,) if reason is None or reason in state else (state | {reason},)


def reason_of(step: Step) -> str | None:
    """Why what follows the step is not all that can follow; None if it is."""
    if step.kind == "cut":
        return step.reason
    effect = step.edge.effect
    if isinstance(effect, ir.Unsupported):
        return not_supported(step.function, effect.reason)
    if step.kind == "external" and not step.callee:
        return leads_nowhere(step.function)
    if step.kind == "external" and step.callee in UNMODELLED:
        return not_modelled(step.function, step.callee)
    return None


def assumptions_cpa() -> Cpa[Reasons, None]:
    """The component, with merge-sep and stop-sep."""
    domain = ReasonsDomain()
    return Cpa(
        name="assumptions",
        domain=domain,
        transfer=ReasonsTransfer(),
        merge=MergeSep(),
        stop=StopSep(domain),
        adjustment=TrivialAdjustment(),
        precision=None,
        rank=lambda state: -len(state),
    )
