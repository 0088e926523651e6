"""The budgets of provers, by name: one table for every command, the editor and the benchmarks.

The same budget, program and options lead to the same questions, whoever asks.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from analysis.model.limits import Limits

BudgetName = Literal["edit", "background", "full"]
First = Literal["program", "function"]


class ProverBudget(msgspec.Struct, frozen=True):
    """Seconds of work (`analysis.model.clock`): `finding` to decide one finding, at most; `findings` for all of them, in equal
    shares that are fixed before anything is known of any (None: no limit); `function` to prove one rule in one function,
    `program` for one question about all of the program, `contracts` for one about its functions, by their contracts. After
    `total` seconds, of all tasks together, nothing is begun but findings and contracts; None: no end. `first`: whether proofs
    begin with the program, or with each function by itself, which survives edits elsewhere. `patience`: how many times as
    many seconds of the processor a task may take, and `wait`, how many times as long by the wall clock, on a machine that others
    use. Both are the last resort: a task ends by its work before."""

    finding: float
    findings: float | None
    function: float
    program: float
    contracts: float
    total: float | None
    first: First
    patience: float = 8.0
    wait: float = 80.0

    def of_findings(self, count: int) -> float:
        """The seconds for each of so many findings."""
        if self.findings is None or count == 0:
            return self.finding
        return min(self.finding, max(_LEAST, self.findings / count))


BUDGETS: dict[BudgetName, ProverBudget] = {
    "edit": ProverBudget(finding=2.0, findings=None, function=1.0, program=2.0, contracts=8.0, total=6.0, first="program"),
    "background": ProverBudget(
        finding=6.0, findings=None, function=5.0, program=20.0, contracts=160.0, total=None, first="function"
    ),
    "full": ProverBudget(finding=3.0, findings=12.0, function=0.6, program=3.0, contracts=8.0, total=5.0, first="program"),
}
"""`edit` is for a user who waits after each change, `background` for one who does not wait, `full` for one
who waits once: nearly all that is decided is decided by a small part of it (docs/how-often-right.md)."""
_LEAST = 0.6  # seconds for a finding: those that runs confirm take less


BY_THE_CLOCK = 1.0
"""`wait` where limits name the seconds: a user who does that means the clock."""


def budget_of(name: BudgetName, limits: Limits) -> ProverBudget:
    """The budget of a name, with what the limits say instead."""
    named = BUDGETS[name]
    return ProverBudget(
        finding=named.finding if limits.task_seconds is None else limits.task_seconds,
        findings=named.findings if limits.task_seconds is None else None,
        function=named.function if limits.proof_seconds is None else limits.proof_seconds,
        program=named.program if limits.program_seconds is None else limits.program_seconds,
        contracts=named.contracts if limits.total_seconds is None else min(named.contracts, limits.total_seconds),
        total=named.total if limits.total_seconds is None else limits.total_seconds,
        first=named.first,
        wait=BY_THE_CLOCK if limits.task_seconds or limits.proof_seconds or limits.program_seconds else named.wait,
    )
