"""Prover processes: they decide what the automaton engine finds possible, and the checker process does not wait for them.

`processes` runs tasks, whatever they are. `asking` has the questions and their answers, revision by revision. `proofs` joins
them to a session; `proof_verdicts` and `confirmed_findings` make the answers part of its report.
"""

from analysis.session.provers.processes.prover_pool import Pool
from analysis.session.provers.processes.task_outcome import Budget, Outcome, reason_of

__all__ = ["Budget", "Outcome", "Pool", "reason_of"]
