"""Work-done progress (LSP 3.17) for a check that takes longer than half a second; its Cancel button ends the check."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import Callable

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from analysis.wire import Progress

DELAY = 0.5  # seconds; a shorter check shows nothing


class CheckProgress:
    """Shows one stretch of checking, from the first check to the end of the last that continued it; then `shown` is done."""

    def __init__(self, server: LanguageServer, cancel: Callable[[], None]) -> None:
        self._server = server
        self._cancel = cancel
        self._ended = asyncio.Event()
        self._latest: Progress | None = None
        self._token: str | None = None
        self.shown = asyncio.create_task(self._show(), name="progress")

    def report(self, event: Progress) -> None:
        """The checker's news."""
        self._latest = event
        if self._token is not None:
            self._server.work_done_progress.report(
                self._token, types.WorkDoneProgressReport(message=event.text, percentage=event.percentage)
            )

    def end(self) -> None:
        """The checking is over, however it ended. Nothing is shown of what ends early; but what the client was asked to create
        begins and ends, also if it answers only now: else it would wait for the beginning for ever."""
        self._ended.set()

    async def _show(self) -> None:
        with contextlib.suppress(TimeoutError):  # what takes long shows
            await asyncio.wait_for(self._ended.wait(), DELAY)
            return
        token = f"everproof-{uuid.uuid4()}"
        progress = self._server.work_done_progress
        with contextlib.suppress(JsonRpcException):  # the client refuses
            await progress.create_async(token)
            progress.tokens[token].add_done_callback(lambda future: self._cancel() if future.cancelled() else None)
            self._token = token
            text, percentage = (self._latest.text, self._latest.percentage) if self._latest else (None, None)
            progress.begin(
                token,
                types.WorkDoneProgressBegin(title="Everproof", cancellable=True, message=text, percentage=percentage),
            )
            try:
                await self._ended.wait()
            finally:
                progress.end(token, types.WorkDoneProgressEnd())
                progress.tokens.pop(token, None)


def wanted(capabilities: types.ClientCapabilities) -> bool:
    """Whether a client shows progress that the server begins."""
    return capabilities.window is not None and bool(capabilities.window.work_done_progress)
