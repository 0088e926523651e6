"""Prover processes: they decide what the automaton engine finds possible, and nobody waits for them (DESIGN.md, section 11)."""

from analysis.session.provers.outcome import Budget, Outcome, reason_of
from analysis.session.provers.pool import Pool

__all__ = ["Budget", "Outcome", "Pool", "reason_of"]
