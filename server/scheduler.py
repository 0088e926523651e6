"""When to check what: sends edits to the checker, asks it for checks, and knows which answers still count.

One check is under way at a time. Edits made meanwhile are sent when it ends, or when it takes more than twice as long as the
last one did, within `PATIENCE`: typing never starves the checks, and a long one never holds up a newer text. A full
check is never interrupted by edits, only by its user. A check that the checker does not survive is repeated, but not for
ever (`ATTEMPTS`). The event loop never waits here.
"""

from __future__ import annotations

import asyncio
import logging
import subprocess
from collections.abc import Sequence
from typing import TypeVar

from analysis.model.derivation import FunctionDerivations
from analysis.model.options import Options
from analysis.model.settings import Settings
from analysis.model.text_changes import Fix
from analysis.wire import (
    AskContract,
    AskDifference,
    AskFixes,
    AuditDone,
    Bisect,
    Bisected,
    Cancel,
    Cancelled,
    Check,
    CheckDone,
    ClearStore,
    Configure,
    ContractChanges,
    ContractText,
    Decided,
    Derive,
    Derived,
    Edit,
    Event,
    Failed,
    FileResult,
    Progress,
    ReferenceProblem,
    Request,
    Saved,
    ToldContract,
    ToldDifference,
    ToldFixes,
)
from server.documents import OpenDocuments
from server.running_check import Audience, RunningCheck
from server.worker_client import WorkerClient

logger = logging.getLogger(__name__)
_Answer = TypeVar("_Answer")

CANCELLED = "cancelled"
ATTEMPTS = 3  # at a check that the checker does not survive, until it is asked for again
GRACE = 5.0  # seconds that the checker has to end a check that was cancelled, until it is killed
PATIENCE = (0.1, 1.0)  # seconds, least and most, that a newer text waits for a check that is under way


_Configured = tuple[Options, tuple[str, ...], str | None, str, bool]


class Scheduler:
    """Owns the checker process. Implements server.worker_client.Owner."""

    def __init__(
        self,
        documents: OpenDocuments,
        settings: Settings,
        command: Sequence[str],
        audience: Audience,
        started: subprocess.Popen[bytes] | None = None,
    ) -> None:
        self._documents = documents
        self._settings = settings
        self._audience = audience
        self._worker = WorkerClient(command, self, started)
        self._generation = 0
        self._unsent: dict[str, None] = {}
        self._untold: dict[str, str] = {}
        self._focus: list[str] = []
        self._configured: _Configured | None = None
        self._wanted = False
        self._asked = False  # for a check of everything; else what is wanted follows from edits
        self._check: RunningCheck | None = None
        self._last_seconds = 0.0
        self._grace: asyncio.TimerHandle | None = None
        self._idle_deaths = 0  # of the checker, with no check under way, since a text or setting changed
        self._deaths = 0  # of the checker, during checks, since one was complete
        self._gave_up = False  # since then
        self._timer: asyncio.TimerHandle | None = None
        self._starters: list[asyncio.Future[str | None]] = []
        self._derivations: dict[int, asyncio.Future[FunctionDerivations | None]] = {}
        self._contracts: dict[int, asyncio.Future[ContractText | None]] = {}
        self._differences: dict[int, asyncio.Future[ToldDifference | None]] = {}
        self._bisections: dict[int, asyncio.Future[dict[str, int] | None]] = {}
        self._fixes: dict[int, asyncio.Future[tuple[Fix, ...] | None]] = {}

    @property
    def running_check(self) -> RunningCheck | None:
        """The check under way."""
        return self._check

    @property
    def check_is_wanted(self) -> bool:
        """Whether a check is to be made as soon as possible."""
        return self._wanted

    @property
    def only_typed(self) -> bool:
        """Whether all that is done, or wanted, is to look at edits of open documents."""
        if self._asked or (self._check is not None and not self._check.typed):
            return False
        return all(self._documents.at_path(path) is not None for path in self._unsent)

    def checker_memory(self) -> int | None:
        """The bytes of memory that the checker process holds, if that is known."""
        return self._worker.resident_bytes()

    async def caught_up(self, path: str) -> None:
        """Waits until no check is under way and the newest text of a file was checked, or could not be."""
        while self._check is not None or (path in self._unsent and self._wanted):
            if self._check is not None:
                await asyncio.shield(self._check.finished)
            elif self._worker.running:
                self._flush()
            elif await self._checker_ready() is not None:
                return

    def start(self) -> None:
        """Starts the checker process."""
        self._worker.start()

    async def close(self) -> None:
        """Ends the checker process."""
        self._cancel_timer()
        self._end_grace()
        if self._check is not None:
            self._check.finish("the server is shutting down")
            self._check = None
        self._drop_questions()
        await self._worker.close()

    def kill_for_good(self) -> None:
        """Ends the checker process when the event loop cannot; from any thread."""
        self._worker.kill_for_good()

    def look_at(self, path: str) -> None:
        """The user turned to a file: it is checked first."""
        self._focus = [path, *(other for other in self._focus if other != path)][:100]

    def text_changed(self, path: str, check: bool) -> None:
        """A file has a new text, open or on disk. `check`: now, otherwise when a check is asked for."""
        self._unsent[path] = None
        self._idle_deaths = 0
        self._wanted = self._wanted or check
        self._arm()

    def check_soon(self) -> None:
        """Asks for a check of everything as it is."""
        self._wanted = self._asked = True
        self._arm()

    def configure(self, settings: Settings, files_changed: bool = False) -> None:
        """Settings or folders, old or new. It is checked again if they, or the files that they name, change what is checked."""
        mode_changed = settings.mode != self._settings.mode
        self._settings = settings
        if not self._worker.running:
            return
        reconfigured = files_changed or self._asked_for() != self._configured
        if reconfigured:
            self._worker.send(self._configuration())
        if (reconfigured or mode_changed) and settings.mode != "onDemand":
            self.check_soon()

    async def full_check(self) -> str | None:
        """Checks everything from nothing and waits for the end; None, or why it is not complete.

        Cancelling the caller ends the checker at once; a new one is started, which checks on the next edit.
        """
        while self._check is not None and self._check.full:
            await asyncio.shield(self._check.finished)
        if not self._worker.running:
            failure = await self._checker_ready()
            if failure is not None:
                return failure
        check = self._send_check(full=True)
        try:
            return await asyncio.shield(check.finished)
        except asyncio.CancelledError:
            self.cancel(check)
            raise

    async def derivations(self, path: str, function: str, line: int | None = None) -> FunctionDerivations | None:
        """What the last check derived in a function, or what of it leads to a line, counted from 1; None if nothing or if the
        checker ends before it answers."""
        return await self._answer(self._derivations, Derive(self._next_generation(), path, function, line))

    async def contract(self, path: str, function: str) -> ContractText | None:
        """What callers of a function that is named in a file can rely on, once the newest texts were checked: it depends on other
        files, too. None if that is not known, or if the checker ends before it answers."""
        for one in (path, *self._unsent):
            await self.caught_up(one)
        return await self._answer(self._contracts, AskContract(self._next_generation(), path, function))

    async def difference(self, path: str) -> ToldDifference | None:
        """How a file differs from what it held at the reference; None if the checker ends before it answers."""
        return await self._answer(self._differences, AskDifference(self._next_generation(), path))

    async def bisect(
        self, path: str, texts: dict[str, str], steps: tuple[tuple[str, str], ...], fingerprints: tuple[str, ...]
    ) -> dict[str, int] | None:
        """Which step has introduced findings (see `analysis.wire.Bisect`); None if the checker ends before it answers."""
        return await self._answer(self._bisections, Bisect(self._next_generation(), path, texts, steps, fingerprints))

    async def fixes(self, path: str, fingerprint: str) -> tuple[Fix, ...] | None:
        """Fixes of a finding of an open file, each checked in its newest text; None if the checker ends before it answers."""
        await self.caught_up(path)
        return await self._answer(self._fixes, AskFixes(self._next_generation(), path, fingerprint))

    async def _answer(self, questions: dict[int, asyncio.Future[_Answer | None]], question: Request) -> _Answer | None:
        if not self._worker.running and await self._checker_ready() is not None:
            return None
        answer: asyncio.Future[_Answer | None] = asyncio.get_running_loop().create_future()
        questions[question.generation] = answer
        self._worker.send(question)
        try:
            return await answer
        finally:
            questions.pop(question.generation, None)

    def saved(self, path: str, version: int) -> None:
        """A version of an open file was saved."""
        self._worker.send(Saved(self._next_generation(), path, version))

    def cancel(self, check: RunningCheck) -> None:
        """The user does not want a check any more. What it would have said is unknown; nothing of it is shown. The checker keeps
        what it knows; if it does not answer, it is killed."""
        if self._check is check:
            self._wanted = self._wanted and check.full  # what was edited during a full check is still to be checked
            self._end(CANCELLED)
            self._worker.send(Cancel(self._next_generation()))
            self._end_grace()
            self._grace = asyncio.get_running_loop().call_later(GRACE, self._not_cancelled)

    def _not_cancelled(self) -> None:
        self._end_grace()
        if self._check is not None:  # asked for since, and not heard
            self._wanted = True
            self._end("the checker did not answer")
        self._worker.kill()

    def _end_grace(self) -> None:
        if self._grace is not None:
            self._grace.cancel()
            self._grace = None

    def clear_store(self) -> None:
        """Has the checker empty its store and forget what it knows, and check again."""
        self._worker.send(ClearStore(self._next_generation()))
        if self._settings.mode != "onDemand":
            self.check_soon()

    def checker_started(self) -> None:
        """Tells a new process all that the last one knew."""
        self._drop_questions()
        self._end_grace()
        self._worker.send(self._configuration())
        self._wake_starters(None)
        self._find_first_texts()
        for document in self._documents.open_c():
            self._unsent[document.file_path] = None
        self._arm()

    def _find_first_texts(self) -> None:
        """A process that was started later has to be told what files held when the session began."""
        self._untold = {}
        for path, text in self._documents.first_texts.items():
            document = self._documents.at_path(path)
            if document is None or document.source != text:
                self._untold[path] = text
                self._unsent[path] = None

    @property
    def waits_for_checker(self) -> bool:
        """Whether anything is expected of it."""
        return self._check is not None or bool(self._derivations or self._contracts or self._differences)

    def checker_died(self, reason: str, first: bool) -> None:
        """Its check is over. It is repeated a few times: the process may have died of something else."""
        was_checking = self._check is not None
        self._deaths += was_checking
        gives_up = was_checking and not self._wanted and self._deaths >= ATTEMPTS
        self._wanted = self._wanted or (was_checking and not gives_up) or (not was_checking and self._tries_again())
        sentence = f"The checker process {reason}."
        self._end(sentence)
        self._drop_questions()
        self._wake_starters(sentence)
        self._audience.checker_crashed(sentence, first)
        if gives_up:
            given_up = (
                f"{sentence} {ATTEMPTS} checks in a row ended like this: the next one is made when a file or setting changes."
            )
            self._audience.check_given_up(given_up, not self._gave_up)
            self._gave_up = True

    def _tries_again(self) -> bool:
        """A checker died at rest: what it knew is found out again, without anybody typing; but not for ever."""
        self._idle_deaths += 1
        return self._idle_deaths < ATTEMPTS and self._settings.mode != "onDemand" and self._configured is not None

    def checker_event(self, event: Event) -> None:
        """Sorts what the checker says."""
        check = self._check
        match event:
            case FileResult():
                self._audience.file_checked(event)
            case Cancelled():
                self._end_grace()
            case Decided() if check is None and not self._unsent:
                self._audience.findings_decided()
            case Derived():
                _settle(self._derivations, event.generation, event.derivations)
            case ToldContract():
                _settle(self._contracts, event.generation, event.contract)
            case ToldDifference():
                _settle(self._differences, event.generation, event)
            case Bisected():
                _settle(self._bisections, event.generation, event.introduced)
            case ToldFixes():
                _settle(self._fixes, event.generation, event.fixes)
            case ContractChanges():
                self._audience.contracts_compared(event)
            case ReferenceProblem():
                self._audience.reference_missed(event.reason)
            case AuditDone():
                self._audience.audit_done(event)
            case Progress() if check is not None:
                self._audience.check_progressed(check, event)
            case CheckDone() if check is not None and event.generation >= check.generation:
                self._worker.check_done()
                self._deaths, self._gave_up = 0, False
                self._check = None
                self._last_seconds = asyncio.get_running_loop().time() - check.started
                self._audience.check_finished(check, event)
                check.finish(None)
                self._arm()
            case Failed() if check is not None and event.generation >= check.generation:
                self._worker.check_done()
                self._deaths, self._gave_up = 0, False
                self._audience.check_refused(event.reason)
                self._end(event.reason)
            case _:
                logger.debug("Not for the check under way: %s", type(event).__name__)

    async def _checker_ready(self) -> str | None:
        """Waits for the next start of the process; None, or why it could not be started."""
        waiter: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self._starters.append(waiter)
        return await waiter

    def _drop_questions(self) -> None:
        """Ends the requests that will get no answer."""
        for generation in tuple(self._derivations):
            _settle(self._derivations, generation, None)
        for generation in tuple(self._contracts):
            _settle(self._contracts, generation, None)
        for generation in tuple(self._differences):
            _settle(self._differences, generation, None)
        for generation in tuple(self._bisections):
            _settle(self._bisections, generation, None)
        for generation in tuple(self._fixes):
            _settle(self._fixes, generation, None)

    def _wake_starters(self, failure: str | None) -> None:
        starters, self._starters = self._starters, []
        for waiter in starters:
            if not waiter.done():
                waiter.set_result(failure)

    def _end(self, reason: str) -> None:
        check, self._check = self._check, None
        if check is not None:
            self._audience.check_failed(check, reason)
            check.finish(reason)
            self._arm()

    def _arm(self) -> None:
        """Sees to it that what waits is sent: at once when nothing is under way, else when that ends or takes long."""
        if self._timer is not None and self._check is not None:
            return
        self._cancel_timer()
        if self._unsent or self._wanted:
            delay = 0.0 if self._check is None else min(max(2 * self._last_seconds, PATIENCE[0]), PATIENCE[1])
            self._timer = asyncio.get_running_loop().call_later(delay, self._flush)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _flush(self) -> None:
        self._timer = None
        self._audience.edits_settled()
        if self._check is not None and self._check.full:
            return  # armed again when it ends
        if self._wanted and self._worker.running:
            self._send_check(full=False)

    def _send_check(self, full: bool) -> RunningCheck:
        """Sends the texts that changed and asks for a check. A check under way is made obsolete by it, and is continued by it."""
        self._cancel_timer()
        typed = not full and self.only_typed
        for path in self._unsent:
            self._send_text(path)
        self._unsent = {}
        self._wanted = self._asked = False
        opened = [document.file_path for document in self._documents.open_c()]
        focus = [path for path in self._focus if path in opened]
        before = self._check
        check = RunningCheck(self._next_generation(), full, typed)
        self._check = check
        if before is not None:
            check.finished.add_done_callback(lambda done: before.finish(done.result()))
        self._worker.send(Check(check.generation, tuple(focus), full))
        self._audience.check_started(check)
        return check

    def _send_text(self, path: str) -> None:
        document = self._documents.at_path(path)
        generation, first = self._next_generation(), self._untold.pop(path, None)
        if document is None:
            self._worker.send(Edit(generation, path, 0, None, first))
        else:
            self._worker.send(Edit(generation, path, document.current_version, document.source, first))
            document.sent(generation)

    def _asked_for(self) -> _Configured:
        """The options, the folders, the store, the reference, and whether to audit, as they are now."""
        found, folders = self._settings, self._documents.folder_paths()
        return found.options(folders), folders, found.store_path(folders), found.reference, found.self_audit

    def _configuration(self) -> Configure:
        self._configured = self._asked_for()
        return Configure(self._next_generation(), *self._configured)

    def _next_generation(self) -> int:
        self._generation += 1
        return self._generation


def _settle(questions: dict[int, asyncio.Future[_Answer | None]], generation: int, answer: _Answer | None) -> None:
    """Wakes the task that waits for an answer, if it still does."""
    waiting = questions.get(generation)
    if waiting is not None and not waiting.done():
        waiting.set_result(answer)
