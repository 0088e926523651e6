"""A check under way, and who is told of it."""

from __future__ import annotations

import asyncio
from typing import Protocol

from analysis.wire import AuditDone, CheckDone, ContractChanges, FileResult, Progress


class Audience(Protocol):
    """Receives the scheduler's news, to show them to the user."""

    def check_started(self, check: RunningCheck) -> None:
        """A check was asked for."""

    def edits_settled(self) -> None:
        """The client has paused, or a check is about to start: time to show what edits have moved."""

    def file_checked(self, result: FileResult) -> None:
        """There is news of a file."""

    def check_progressed(self, check: RunningCheck, event: Progress) -> None:
        """The checker says how far it is."""

    def findings_decided(self) -> None:
        """Provers have said all of the findings that are known."""

    def contracts_compared(self, event: ContractChanges) -> None:
        """There is news of what edits did to contracts."""

    def check_finished(self, check: RunningCheck, done: CheckDone) -> None:
        """The check is complete."""

    def reference_missed(self, reason: str) -> None:
        """Findings are not compared with what the user asked for."""

    def audit_done(self, event: AuditDone) -> None:
        """In idle time, what is shown was checked again from nothing."""

    def check_failed(self, check: RunningCheck | None, reason: str) -> None:
        """The check ended without an answer."""

    def check_refused(self, reason: str) -> None:
        """The checker says that it cannot do the check; `check_failed` follows."""

    def checker_crashed(self, reason: str, first: bool) -> None:
        """The checker process ended by itself; it is started again."""

    def check_given_up(self, reason: str, first: bool) -> None:
        """The checker survived none of the last checks; the check is not repeated. `first`: it was repeated until now."""


class RunningCheck:
    """A check that was asked for. `finished` has the outcome: None when it is complete, else why it is not. `typed`: only because
    open documents were edited."""

    def __init__(self, generation: int, full: bool, typed: bool = False) -> None:
        loop = asyncio.get_running_loop()
        self.generation = generation
        self.full = full
        self.typed = typed
        self.started = loop.time()
        self.finished: asyncio.Future[str | None] = loop.create_future()

    def finish(self, reason: str | None) -> None:
        """Wakes the tasks that wait for the check."""
        if not self.finished.done():
            self.finished.set_result(reason)
