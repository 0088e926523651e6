"""Prover processes: they decide what the automaton engine finds possible, and the checker process does not wait for them."""

from analysis.session.provers.outcome import Budget, Outcome, reason_of
from analysis.session.provers.pool import Pool

__all__ = ["Budget", "Outcome", "Pool", "reason_of"]
