"""The language server: one object that holds the parts together, and what happens when the checker has news.

Everything here runs on the event loop and is short (invariant I13). See server.scheduler for when checks are
made, server.results for what is kept, server.features for the requests of the client, which `registration` adds to a server.
"""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from analysis.model.distribution import everproof_version
from analysis.model.report import Finding, Message
from analysis.model.settings import Settings
from analysis.wire import AuditDone, CheckDone, ContractChanges, FileResult, Progress
from server import status, work_progress
from server.ci_findings import CiFindings
from server.contract_news import ContractNews
from server.convert import Converter, Mark
from server.diagnostics_publisher import DiagnosticsPublisher
from server.documents import Document, OpenDocuments
from server.editor_settings import EditorSettings
from server.fixes import Fixes
from server.introductions import Asked, Introductions
from server.loop_watch import LoopWatch
from server.rechecks import Rechecks
from server.results import FileState, Results
from server.running_check import RunningCheck
from server.scheduler import CANCELLED, Scheduler
from server.session_edits import SessionEdits
from server.transport.early import CHECKER
from server.transport.protocol import EverproofProtocol
from server.typing_pauses import TypingPauses

logger = logging.getLogger(__name__)


class EverproofServer(LanguageServer):
    """The server. Its parts exist from `initialize` on. Implements server.scheduler.Audience. `store` is the setting of that name
    where none is set; `started` a checker process that runs already (server.transport.early); `watch_loop`: statuses say when the
    event loop was held up (server.loop_watch)."""

    protocol: EverproofProtocol

    documents: OpenDocuments
    edits: SessionEdits
    introductions: Introductions
    results: Results
    rechecks: Rechecks
    converter: Converter
    statuses: status.Statuses
    scheduler: Scheduler
    fixes: Fixes
    publisher: DiagnosticsPublisher
    pauses: TypingPauses

    def __init__(
        self,
        command: Sequence[str] = CHECKER,
        store: str | None = None,
        started: subprocess.Popen[bytes] | None = None,
        watch_loop: bool = False,
    ) -> None:
        super().__init__("everproof", everproof_version(), protocol_cls=EverproofProtocol)
        self._command = command
        self._started = started
        self._watch_loop = watch_loop
        self._loop_watch: LoopWatch | None = None
        self.store = store
        self.settings = Settings()
        self.editor = EditorSettings()
        self.shutdown_requested = False
        self.last_check: CheckDone | None = None
        self.contract_news = ContractNews()
        self.shown_states: dict[str, set[str]] = {}  # the functions whose states are shown, by URI
        self.shown_invariants: dict[str, set[str]] = {}
        self._progress: work_progress.CheckProgress | None = None
        self._long_check: asyncio.TimerHandle | None = None
        self._failure: str | None = None
        self._sent: dict[str, Any] = {}
        self._logged: set[str] = set()
        self._bisecting: set[asyncio.Task[None]] = set()

    def begin(self) -> None:
        """Makes the parts, once the client has sent its name, capabilities and folders."""
        self.documents = self.protocol.adopt_workspace()
        self.results = Results(self.documents)
        self.ci = CiFindings(self.documents, self.results)
        self.edits = SessionEdits(self.documents)
        self.introductions = Introductions(self.edits)
        self.rechecks = Rechecks(self.documents)
        self.converter = Converter(self.documents, self._mark)
        self.statuses = status.Statuses(self.results, self.converter)
        self.scheduler = Scheduler(self.documents, self.settings, self._command, self, self._started)
        self.fixes = Fixes(self.scheduler.fixes)
        self.publisher = DiagnosticsPublisher(self)
        self.pauses = TypingPauses(self._call_later, self._paused)
        self._loop_watch = LoopWatch() if self._watch_loop else None

    @property
    def begun(self) -> bool:
        """Whether `begin` was called."""
        return hasattr(self, "scheduler")

    async def end(self) -> None:
        """Ends the checker and what is shown of it."""
        self._end_progress()
        if self.begun:
            self.pauses.close()
            self.fixes.forget()
            await self.scheduler.close()

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Errors of ours go to the log: a popup for each would bury the user's editor."""
        logger.error("%s: %s", getattr(source, "__name__", source), error, exc_info=error)

    def show(self, text: str, kind: types.MessageType = types.MessageType.Warning) -> None:
        """Shows a sentence to the user."""
        self.window_show_message(types.ShowMessageParams(kind, text))

    def is_shown(self, path: str) -> bool:
        """Whether diagnostics of a file are shown: it is open, or it belongs to the workspace."""
        return self.documents.at_path(path) is not None or self.documents.contains(path)

    def state_of(self, document: Document) -> status.State:
        """What is being done about a document."""
        if self.scheduler.running_check is not None:
            return "checking"
        if self._failure is not None:
            return "failed"
        return "checking" if self.scheduler.check_is_wanted else "idle"

    def status_of(self, document: Document) -> dict[str, Any]:
        """The state of a document and its functions, as `everproof/status` has it."""
        state = self.state_of(document)
        return self.statuses.payload(document, state, self._failure if state == "failed" else None)

    def send_status(self, path: str | None = None) -> None:
        """Sends `everproof/status` for each open document, or the one at a path, of which it would say something new.

        That a check has begun is news when somebody asked for it, or when it takes long. A key is not: its status comes when the
        check is done, so that nothing flickers while one types.
        """
        only = None if path is None else self.documents.at_path(path)
        for document in self.documents.open_c() if path is None else [only] if only is not None else []:
            news = self.status_of(document)
            sent = self._sent.get(document.uri)
            begins = sent is not None and sent["state"] != "checking" and news["state"] == "checking"
            if sent != news and not (begins and self._passes_soon):
                self._sent[document.uri] = news
                beside = {"times": status.times(self.last_check), "memory": self.scheduler.checker_memory()}
                watched = {"loop": self._loop_watch.take()} if self._loop_watch is not None else {}
                self.protocol.notify(status.METHOD, {**news, **beside, **watched})

    def forget_status(self, uri: str) -> None:
        """A document was closed: should it be opened again, its status is news."""
        self._sent.pop(uri, None)
        self.shown_states.pop(uri, None)
        self.shown_invariants.pop(uri, None)
        self.statuses.forget(uri)

    def refresh_lenses(self) -> None:
        """Asks the client to ask for lenses again."""
        workspace = self.client_capabilities.workspace
        if workspace is not None and workspace.code_lens is not None and workspace.code_lens.refresh_support:
            self.workspace_code_lens_refresh(None)

    def refresh_hints(self) -> None:
        """Asks the client to ask for inlay hints again."""
        workspace = self.client_capabilities.workspace
        if workspace is not None and workspace.inlay_hint is not None and workspace.inlay_hint.refresh_support:
            self.workspace_inlay_hint_refresh(None)

    def _refresh_shown_hints(self) -> None:
        if self.settings.invariants or any(self.shown_states.values()) or any(self.shown_invariants.values()):
            self.refresh_hints()

    def check_started(self, check: RunningCheck) -> None:
        """A check is under way."""
        self.introductions.check_started(check.generation)
        if self._progress is None and work_progress.wanted(self.client_capabilities):
            self._progress = work_progress.CheckProgress(self, self._cancel_check)
        if self._long_check is None:
            self._long_check = asyncio.get_running_loop().call_later(work_progress.DELAY, self._check_lasts)
        self.send_status()

    def _call_later(self, seconds: float, call: Callable[[], None]) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(seconds, call)

    def _paused(self, path: str) -> None:
        """Nobody types in a file any more: what does not parse in it is told."""
        if self.results.messages(path):
            self.publisher.publish(path)
            self.publisher.settled()

    def _check_lasts(self) -> None:
        """The check takes long: what is stale looks so."""
        self._publish(self.results.last())
        self.send_status()

    def findings_decided(self) -> None:
        """What provers did not confirm again is no longer shown as confirmed."""
        changed = self.results.decided()
        self._publish(changed)
        if changed:
            self.send_status()
            self.refresh_lenses()

    def _publish(self, paths: Iterable[str]) -> None:
        for path in dict.fromkeys(paths):
            self.publisher.publish(path)

    def show_again(self, paths: Iterable[str]) -> None:
        """What the CI has found is other than before: shows what is known of its files, `paths`, and of all others."""
        self.converter.forget_shown()
        self._publish([*(state.path for state in self.results.states()), *paths])
        self.publisher.settled()

    def _lose(self, reason: str) -> None:
        """All that is known is stale, and looks so."""
        self.results.mark_stale(reason)
        self._publish(state.path for state in self.results.states())

    def edits_settled(self) -> None:
        """Edits moved diagnostics: those that moved are published again, marked stale."""
        self.publisher.publish_moved()
        self.send_status()

    def file_checked(self, result: FileResult) -> None:
        """News of a file."""
        known = self.results.state(os.path.abspath(result.path))
        before = () if known is None else known.findings
        state = self.results.apply(result)
        if state is not None:
            self.introductions.file_checked(state, before, result.generation)
            if self.scheduler.running_check is None:
                self._bisect()
            self.publisher.publish(state.path)
            self.send_status(state.path)
            if self.scheduler.running_check is None:  # provers have said something since the check
                self.refresh_lenses()
                self._refresh_shown_hints()

    def check_progressed(self, check: RunningCheck, event: Progress) -> None:
        """The checker says how far it is."""
        if self._progress is not None:
            self._progress.report(event)

    def contracts_compared(self, event: ContractChanges) -> None:
        """News of what edits did to contracts: lenses show it."""
        self.contract_news.apply(event)
        self.refresh_lenses()

    def check_finished(self, check: RunningCheck, done: CheckDone) -> None:
        """A check is complete."""
        self._failure = None
        self.last_check = done
        self.rechecks.note(done)
        self.introductions.check_finished(done.generation, self.results.states())
        self._bisect()
        self._end_progress()
        changed = [*self.results.confirm(done.generation), *self.results.replace_program_messages(done.messages)]
        self._publish([*changed, *self.ci.paths])
        self.publisher.settled()
        self._log_messages(done.messages)
        self.send_status()
        self.refresh_lenses()
        self._refresh_shown_hints()

    def reference_missed(self, reason: str) -> None:
        """Said once: the status says what findings are compared with instead."""
        self.show(f"Everproof: {reason}")

    def audit_done(self, event: AuditDone) -> None:
        """The log says what came of it. The user is told only of a difference."""
        kind = types.MessageType.Warning if event.is_news else types.MessageType.Info
        self.window_log_message(types.LogMessageParams(kind, event.sentence))
        if event.is_news:
            self.show(f"Everproof: {event.sentence}")

    def _mark(self, state: FileState, finding: Finding) -> Mark:
        """What a finding is since the reference."""
        since, in_ci = state.since.get(finding.fingerprint), self.ci.has(finding.fingerprint)
        if since != "new":
            return Mark(since, state.reference, in_ci=in_ci)
        number = self.introductions.number(finding.fingerprint)
        edit = None if number is None else self.edits.edit(number)
        return Mark(since, state.reference, number, None if edit is None else edit.version, in_ci)

    def _bisect(self) -> None:
        """Has the checker find out which edits have introduced what is new, where that is not known at once."""
        for asked in self.introductions.to_ask(self.results.states()):
            task = asyncio.create_task(self._bisect_one(asked), name="blame")
            self._bisecting.add(task)
            task.add_done_callback(self._bisecting.discard)

    async def _bisect_one(self, asked: Asked) -> None:
        texts, steps = asked.steps
        found = await self.scheduler.bisect(asked.path, texts, steps, asked.fingerprints)
        if found is not None and self.introductions.answered(asked, found):
            self.publisher.publish(asked.path)

    def check_failed(self, check: RunningCheck | None, reason: str) -> None:
        """A check ended without an answer: what was known is stale, and nothing looks finished. What was known before a full
        check that was cancelled still holds."""
        self._failure = None if reason == CANCELLED else reason
        self._end_progress()
        if not (reason == CANCELLED and check is not None and check.full):  # else nothing has changed
            self._lose(reason)
        self.contract_news.forget()
        self.send_status()
        self.refresh_lenses()
        self.publisher.settled()

    def check_refused(self, reason: str) -> None:
        """Said once, until a check succeeds or fails for another reason: not every client shows the status."""
        if reason != self._failure:
            self.show(f"Everproof: the check is not complete: {reason}")

    def checker_crashed(self, reason: str, first: bool) -> None:
        """The checker ended by itself. Said once; it is tried again with growing pauses."""
        logger.warning("%s", reason)
        self._failure = reason
        self._lose(reason)
        self.contract_news.forget()
        self.send_status()
        if first:
            self.show(f"Everproof: {reason} It is started again.")

    def check_given_up(self, reason: str, first: bool) -> None:
        """No check is under way, and none is to come. Said once; the status keeps saying so."""
        self._failure = reason
        self._lose(reason)
        self.send_status()
        if first:
            self.show(f"Everproof: {reason}")

    @property
    def _passes_soon(self) -> bool:
        """Whether the check under way was asked for by an edit alone, and has not taken long so far."""
        long = self._long_check is not None and self._long_check.when() <= asyncio.get_running_loop().time()
        return self.scheduler.only_typed and not long

    def _cancel_check(self) -> None:
        check = self.scheduler.running_check
        if check is not None:
            self.scheduler.cancel(check)

    def _end_progress(self) -> None:
        if self._long_check is not None:
            self._long_check.cancel()
            self._long_check = None
        if self._progress is not None:
            self._progress.end()
            self._progress = None

    def _log_messages(self, messages: Sequence[Message]) -> None:
        """Messages about no file in particular, each once."""
        for message in messages:
            if not message.path and message.text not in self._logged:
                self._logged.add(message.text)
                kind = types.MessageType.Info if message.severity == "note" else types.MessageType.Warning
                self.window_log_message(types.LogMessageParams(kind, message.text))
