"""An editor without a screen: starts the language server, types into documents, and waits for what the server says of each text.

It speaks LSP over the server's standard input and output by itself, so that what it measures holds little of its own work.
Times are those of `time.perf_counter`, in seconds, taken when a frame has been read and before it is decoded.

With another language server, which sends no `everproof/status`, a version is settled when its diagnostics are published.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

Json = dict[str, Any]


class ServerError(Exception):
    """The server ended, answered with an error, or did not answer in time."""


@dataclass
class Document:
    """An open document as the editor has it. `shown` are the newest diagnostics, whatever text they belong to; `published` are
    all that came since the last edit, with the time, and `statuses` what was said of its version since then."""

    uri: str
    text: str
    version: int = 1
    shown: list[Json] = field(default_factory=list)
    functions: list[Json] = field(default_factory=list)
    published: list[tuple[float, list[Json]]] = field(default_factory=list)
    statuses: list[tuple[float, Json]] = field(default_factory=list)


@dataclass(frozen=True)
class Settled:
    """What the server knows of one version of a document, and when that came. `times` are the check's milliseconds by stage."""

    version: int
    diagnostics: list[Json]
    functions: list[Json]
    published: float
    finished: float
    times: dict[str, float] = field(default_factory=dict)


class Editor:
    """One server process and the documents open in it."""

    def __init__(self, process: Process, patience: float, has_status: bool) -> None:
        self._process = process
        self._patience = patience
        self._has_status = has_status
        self._documents: dict[str, Document] = {}
        self._published: dict[str, tuple[int | None, float]] = {}
        self._waiting: dict[str, tuple[int, asyncio.Future[Settled]]] = {}
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._settings: Json = {}
        self._news = asyncio.Event()
        self._last_words = "it said nothing"
        self._reader = asyncio.create_task(self._read())
        self._listener = asyncio.create_task(self._listen())

    @classmethod
    async def start(
        cls, command: Sequence[str], root: Path, settings: Json, patience: float = 300.0, has_status: bool = True
    ) -> Self:
        """Starts a server on the workspace `root`. `patience`: the seconds to wait for any one answer; `has_status`: whether it
        sends `everproof/status`. Raises ServerError."""
        process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, stderr=PIPE, limit=1 << 26)
        editor = cls(process, patience, has_status)
        editor._settings = settings
        folder = {"uri": root.as_uri(), "name": root.name}
        await editor.request(
            "initialize",
            {
                "processId": None,
                "rootUri": root.as_uri(),
                "workspaceFolders": [folder],
                "initializationOptions": {"everproof": settings},
                "capabilities": {
                    "general": {"positionEncodings": ["utf-16"]},
                    "workspace": {"configuration": True, "workspaceFolders": True},
                    "textDocument": {"publishDiagnostics": {"relatedInformation": True, "versionSupport": True}},
                },
            },
        )
        await editor.notify("initialized", {})
        return editor

    @property
    def process_id(self) -> int:
        """The server's."""
        return self._process.pid

    async def open(self, path: Path) -> tuple[Document, Settled]:
        """Opens a file and waits for the first complete check."""
        document = Document(path.as_uri(), path.read_text(encoding="utf-8", errors="replace"))
        self._documents[document.uri] = document
        settled = self._expect(document)
        item = {"uri": document.uri, "languageId": "c", "version": 1, "text": document.text}
        await self.notify("textDocument/didOpen", {"textDocument": item})
        return document, await self._patiently(settled)

    async def replace(
        self, document: Document, start: int, end: int, text: str, more: Json | None = None
    ) -> tuple[float, Settled]:
        """Replaces the characters from offset `start` to `end`; the time at which that was sent, and what came of it. `more` goes
        with the notification, for servers that extend it."""
        content = {"range": {"start": position(document.text, start), "end": position(document.text, end)}, "text": text}
        document.text = document.text[:start] + text + document.text[end:]
        document.version += 1
        document.published, document.statuses = [], []
        settled = self._expect(document)
        identifier = {"uri": document.uri, "version": document.version}
        sent = time.perf_counter()
        change = {"textDocument": identifier, "contentChanges": [content], **(more or {})}
        await self.notify("textDocument/didChange", change)
        return sent, await self._patiently(settled)

    async def status(self, document: Document, wanted: Callable[[Json], bool], seconds: float) -> tuple[float, Json] | None:
        """The first status of the document's version, since its last edit, that is as wanted, and its time; None if none comes in
        so many seconds."""
        until = time.perf_counter() + seconds
        while True:
            self._news.clear()
            found = next((one for one in document.statuses if wanted(one[1])), None)
            left = until - time.perf_counter()
            if found is not None or left <= 0:
                return found
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), left)

    async def close(self) -> None:
        """Shuts the server down as LSP asks for, and ends it if it does not go."""
        try:
            await self.request("shutdown", None)
            await self.notify("exit", None)
            await asyncio.wait_for(self._process.wait(), 10)
        except (ServerError, TimeoutError, ConnectionError):
            self._process.kill()
        await self._process.wait()
        await asyncio.gather(self._reader, self._listener, return_exceptions=True)

    async def request(self, method: str, params: Any) -> Any:
        """The result of a request; raises ServerError."""
        number = len(self._answers) + 1
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        await self._send({"id": number, "method": method, "params": params})
        return await self._patiently(answer)

    async def notify(self, method: str, params: Any) -> None:
        """Sends a notification."""
        await self._send({"method": method, "params": params})

    def _expect(self, document: Document) -> asyncio.Future[Settled]:
        settled: asyncio.Future[Settled] = asyncio.get_running_loop().create_future()
        self._waiting[document.uri] = (document.version, settled)
        return settled

    async def _patiently(self, answer: asyncio.Future[Any]) -> Any:
        await asyncio.wait({answer, self._reader}, timeout=self._patience, return_when=asyncio.FIRST_COMPLETED)
        if answer.done():
            return answer.result()
        if self._reader.done():
            raise ServerError(f"The language server ended: {self._last_words}")
        raise ServerError(f"The language server did not answer within {self._patience:.0f} s.")

    async def _listen(self) -> None:
        """Keeps standard error from filling up, and its last line for a message."""
        assert self._process.stderr is not None
        async for line in self._process.stderr:
            self._last_words = line.decode(errors="replace").strip() or self._last_words

    async def _send(self, message: Json) -> None:
        assert self._process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        await self._process.stdin.drain()

    async def _read(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        while True:
            try:
                header = await stream.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                return
            lengths = [line.split(b":")[1] for line in header.split(b"\r\n") if line.lower().startswith(b"content-length")]
            body = await stream.readexactly(int(lengths[0]))
            await self._handle(json.loads(body), time.perf_counter())

    async def _handle(self, message: Json, now: float) -> None:
        match message:
            case {"method": "workspace/configuration", "id": number, "params": params}:
                await self._send({"id": number, "result": [self._settings for _ in params["items"]]})
            case {"method": _, "id": number}:
                await self._send({"id": number, "result": None})
            case {"method": "textDocument/publishDiagnostics", "params": params}:
                self._take_diagnostics(params, now)
            case {"method": "everproof/status", "params": params}:
                self._take_status(params, now)
            case {"id": number, "error": error} if number in self._answers:
                self._answers[number].set_exception(ServerError(f"The language server refused: {error.get('message')}"))
            case {"id": number} if number in self._answers:
                self._answers[number].set_result(message.get("result"))
            case _:
                pass  # log messages and progress are not for us

    def _take_diagnostics(self, params: Json, now: float) -> None:
        document = self._documents.get(params["uri"])
        if document is not None:
            document.shown = params["diagnostics"]
            if params.get("version") == document.version:
                document.published.append((now, document.shown))
            self._published[document.uri] = (params.get("version"), now)
            wanted, settled = self._waiting.get(document.uri, (0, None))
            if not self._has_status and settled is not None and not settled.done() and params.get("version") == wanted:
                settled.set_result(Settled(wanted, document.shown, [], now, now))

    def _take_status(self, params: Json, now: float) -> None:
        document = self._documents.get(params["uri"])
        wanted, settled = self._waiting.get(params["uri"], (0, None))
        if document is not None and params["version"] == document.version:
            document.statuses.append((now, params))
            self._news.set()
        if document is None or settled is None or settled.done():
            return
        if params["version"] != wanted or params["state"] == "checking":
            return
        if params["state"] == "failed":
            settled.set_exception(ServerError(f"The check failed: {params.get('message')}"))
            return
        document.functions = params["functions"]
        version, published = self._published.get(document.uri, (None, now))
        when = published if version == wanted else now
        times = params.get("times") or {}
        settled.set_result(Settled(wanted, list(document.shown), document.functions, when, now, times))


def position(text: str, offset: int) -> Json:
    """An offset in Unicode characters as an LSP position, which counts UTF-16 units."""
    start = text.rfind("\n", 0, offset) + 1
    return {"line": text.count("\n", 0, offset), "character": len(text[start:offset].encode("utf-16-le")) // 2}
