"""A client of the language server that keeps every message, so that tests wait for messages and never for time."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Union

import pytest
from lsprotocol import types
from pygls.lsp.client import LanguageClient

PATIENCE = 60.0  # seconds; only a test that fails waits this long


class Editor(LanguageClient):
    """An editor as the server sees it."""

    def __init__(self) -> None:
        super().__init__("editor", "1")
        self._read_code_actions()
        self.state = Path()
        self.messages: list[tuple[str, Any]] = []
        self.settings: object = None
        self._news = asyncio.Condition()
        for method in (
            types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS,
            types.WINDOW_SHOW_MESSAGE,
            types.WINDOW_LOG_MESSAGE,
            types.PROGRESS,
            "everproof/status",
        ):
            self._keep(method)
        for method in (
            types.WINDOW_WORK_DONE_PROGRESS_CREATE,
            types.WORKSPACE_CODE_LENS_REFRESH,
            types.WORKSPACE_DIAGNOSTIC_REFRESH,
            types.CLIENT_REGISTER_CAPABILITY,
        ):
            self._keep(method)

        @self.feature(types.WORKSPACE_CONFIGURATION)
        async def configuration(params: types.ConfigurationParams) -> list[Any]:
            await self._take(types.WORKSPACE_CONFIGURATION, params)
            return [self.settings for _ in params.items]

    def _read_code_actions(self) -> None:
        """lsprotocol 2025.0 reads a code action that has a command as a command; what tells them apart is a command's string."""
        converter = self.protocol._converter

        def read(item: Any, _: type) -> types.Command | types.CodeAction:
            is_command = isinstance(item.get("command"), str)
            return converter.structure(item, types.Command if is_command else types.CodeAction)

        converter.register_structure_hook(types.Command | types.CodeAction, read)
        converter.register_structure_hook(Union[types.Command, types.CodeAction], read)  # noqa: UP007  lsprotocol's own spelling

    def _keep(self, method: str) -> None:
        @self.feature(method)
        async def keep(params: Any) -> None:
            await self._take(method, params)

    async def _take(self, method: str, params: Any) -> None:
        async with self._news:
            self.messages.append((method, params))
            self._news.notify_all()

    async def until(self, method: str, fits: Callable[[Any], bool] = lambda _: True, after: int = 0) -> Any:
        """The first message of a method that fits, from the index `after` on, awaited if it has not come yet."""

        def found() -> list[Any]:
            return [params for name, params in self.messages[after:] if name == method and fits(params)]

        async with self._news:
            try:
                await asyncio.wait_for(self._news.wait_for(lambda: bool(found())), PATIENCE)
            except TimeoutError:
                pytest.fail(f"no {method} that fits; there were {self.messages[after:]}")
            return found()[0]

    async def diagnostics(
        self, uri: str, version: int | None = None, stale: bool = False, after: int = 0
    ) -> list[types.Diagnostic]:
        """The diagnostics of a document at a version, current ones unless stale ones are asked for."""

        def fits(params: types.PublishDiagnosticsParams) -> bool:
            marks = {bool(data(item).get("stale")) for item in params.diagnostics}
            return params.uri == uri and (version is None or params.version == version) and marks <= {stale}

        published = await self.until(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, fits, after)
        return list(published.diagnostics)

    async def status(self, uri: str, state: str, version: int | None = None, after: int = 0) -> Any:
        def fits(params: Any) -> bool:
            return params.uri == uri and params.state == state and version in (None, params.version)

        return await self.until("everproof/status", fits, after)

    def count(self, method: str) -> int:
        return sum(1 for name, _ in self.messages if name == method)

    def open(self, path: Path | str, text: str, version: int = 1, language: str = "c") -> str:
        uri = path.as_uri() if isinstance(path, Path) else path
        item = types.TextDocumentItem(uri, language, version, text)
        self.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def replace(self, uri: str, version: int, text: str) -> None:
        """Changes the whole text."""
        self._change(uri, version, types.TextDocumentContentChangeWholeDocument(text))

    def edit(self, uri: str, version: int, start: tuple[int, int], end: tuple[int, int], text: str) -> None:
        """Changes a range."""
        range_ = types.Range(types.Position(*start), types.Position(*end))
        self._change(uri, version, types.TextDocumentContentChangePartial(range=range_, text=text))

    def _change(self, uri: str, version: int, change: types.TextDocumentContentChangeEvent) -> None:
        document = types.VersionedTextDocumentIdentifier(version, uri)
        self.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))

    def close(self, uri: str) -> None:
        self.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    async def command(self, name: str, *arguments: object) -> Any:
        params = types.ExecuteCommandParams(name, list(arguments))
        answer = await asyncio.wait_for(self.workspace_execute_command_async(params), PATIENCE)
        return json.loads(json.dumps(answer), object_hook=lambda table: SimpleNamespace(**table))

    def checker_log(self) -> list[str]:
        """The requests that the checker has had."""
        return (self.state / "log").read_text(encoding="utf-8").splitlines()

    async def finish(self) -> int | None:
        """Shuts the server down as the protocol says; its exit code."""
        await asyncio.wait_for(self.shutdown_async(None), PATIENCE)
        self.exit(None)
        return await self.ended()

    async def stop(self) -> None:
        """Ends the client, and closes its side of the connection: what is left open is a warning in whichever test comes next."""
        await super().stop()
        writer = self.protocol.writer
        if isinstance(writer, asyncio.StreamWriter):
            writer.close()
            with contextlib.suppress(ConnectionError):  # the server was gone first
                await writer.wait_closed()

    async def ended(self) -> int | None:
        server = self._server
        assert server is not None
        return await asyncio.wait_for(server.wait(), PATIENCE)


def data(item: types.Diagnostic) -> dict[str, Any]:
    """What a diagnostic carries for us: the client's converter leaves it as it came."""
    if item.data is None:
        return {}
    return item.data if isinstance(item.data, dict) else vars(item.data) | getattr(item.data, "_asdict", dict)()


def capabilities(
    encodings: list[str] | None = None, pull: bool = False, push: bool = True, tags: bool = True
) -> types.ClientCapabilities:
    """What a client can do, like VS Code unless asked for something else."""
    return types.ClientCapabilities(
        general=types.GeneralClientCapabilities(
            position_encodings=[types.PositionEncodingKind(encoding) for encoding in encodings] if encodings else None
        ),
        text_document=types.TextDocumentClientCapabilities(
            publish_diagnostics=types.PublishDiagnosticsClientCapabilities(
                related_information=True,
                tag_support=types.ClientDiagnosticsTagOptions([types.DiagnosticTag.Unnecessary]) if tags else None,
            )
            if push
            else None,
            diagnostic=types.DiagnosticClientCapabilities() if pull else None,
        ),
        window=types.WindowClientCapabilities(work_done_progress=True),
        workspace=types.WorkspaceClientCapabilities(
            configuration=True,
            workspace_folders=True,
            code_lens=types.CodeLensWorkspaceClientCapabilities(refresh_support=True),
            diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True),
            did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
            workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True),
        ),
    )
