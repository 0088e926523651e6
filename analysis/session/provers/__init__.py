"""Lets prover processes decide findings and look for proofs.

    check ──> findings ──> proofs ──> asking (questions, by revision) ──> processes ╎ answering
              report <── confirmed_findings, proof_verdicts <── kept_answers <──────┘ portfolio

The checker process never loads z3 and never waits for a prover.

- A question's key is the digest of the functions that its answer depends on
  (`asking.program_slices`): those that lead to the place, and all that these call or take the
  address of. An edit outside of that slice neither restarts the task nor changes the answer.
- Findings in edited functions come first, then those in files that an editor has open, then the
  rest.
- A refuted finding is left out, so that others with the same cause are considered. It stays out while it is decided again,
  after edits of its own function, too, as long as its statement is there.
- `asking.claim_answers` asks for proofs: of a small program as a whole, and of functions from any
  state in which they could be called. A proof stays in the reports while everything that it is
  about is the same object, so the first answer after a keystroke contains it. A proof of a rule for
  the program refutes its findings; a run confirms the finding that it ends at, or is a finding, unless it
  repeats the loss that one shows (`block_steps`).
- After an edit, it first asks, at once, whether what was proved before still holds (`asking.earlier_first`).
- `asking.contract_answers` asks about all functions of the program at once, by the contracts of what they
  call: one question for all rules about blocks and streams, one for each rule about values. After an edit,
  the prover follows only what the edit concerns.
- A confirmed finding takes back proofs that rest on an assumption that it breaks
  (`broken_assumptions`).
- Final answers are kept in the store. So is the time for which an answer was looked for in vain; a
  budget that is not larger gets the same answer.
- Budgets count work (`model.clock`), so the answer does not depend on the machine or its load. A deadline by the wall clock,
  eight times as long, is the last resort. Answers count in a fixed order (`asking.claim_queue`), whoever is faster.
"""

from analysis.session.provers.processes.prover_pool import Pool
from analysis.session.provers.processes.task_outcome import Budget, Outcome, reason_of

__all__ = ["Budget", "Outcome", "Pool", "reason_of"]
