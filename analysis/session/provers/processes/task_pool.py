"""What those who ask provers need of a pool, wherever its provers run."""

from __future__ import annotations

from typing import Protocol

from analysis.session.provers.processes.task_outcome import Budget, Outcome


class TaskPool(Protocol):
    """A pool of provers: `prover_pool.Pool`, whose processes are on this machine, or
    `cluster.cluster_pool.ClusterPool`. Each task ends with exactly one outcome."""

    def submit(self, task: object, budget: Budget, rank: int = 0) -> int:
        """Has the work done on a task, before those that wait and have a higher rank; the ticket by
        which its outcome is known."""

    def cancel(self, ticket: int) -> None:
        """Ends a task, with the outcome `interrupted`; nothing if it has ended."""

    @property
    def open(self) -> int:
        """How many tasks have not ended."""

    def take(self) -> list[Outcome]:
        """The outcomes since this was last asked."""

    def wait(self, seconds: float | None = None) -> bool:
        """Waits until there is an outcome to take, or no task is open; False when the time is used up
        before."""

    def close(self) -> None:
        """Ends all tasks without an outcome. The pool may be used again."""
