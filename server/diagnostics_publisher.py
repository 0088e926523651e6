"""Diagnostics as they are shown: pushed to the client, or the client is notified and pulls them."""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

from lsprotocol import types

from analysis.model.settings import Settings
from server.ci_findings import CiFindings
from server.convert import Converter
from server.documents import OpenDocuments
from server.results import Results
from server.transport.protocol import pulls_only
from server.typing_pauses import TypingPauses


class ShowingServer(Protocol):
    """What showing diagnostics needs of the server."""

    documents: OpenDocuments
    results: Results
    ci: CiFindings
    converter: Converter
    pauses: TypingPauses
    settings: Settings

    @property
    def client_capabilities(self) -> types.ClientCapabilities:
        """What the client has said that it can do."""

    def is_shown(self, path: str) -> bool:
        """Whether diagnostics of a file are shown."""

    def text_document_publish_diagnostics(self, params: types.PublishDiagnosticsParams) -> None:
        """Pushes the diagnostics of a file."""

    def workspace_diagnostic_refresh(self, params: None) -> Any:
        """Notifies a client that pulls."""


class DiagnosticsPublisher:
    """Shows diagnostics: pushes them, or notifies a client that pulls."""

    def __init__(self, server: ShowingServer) -> None:
        self._server = server
        self._published: dict[str, tuple[int | None, list[types.Diagnostic]]] = {}
        self._moved: dict[str, None] = {}
        self._changed = False

    def publish(self, path: str) -> None:
        """Shows what is known of a file now."""
        server = self._server
        state = server.results.state(path)
        if state is not None:
            state.moved = False
        self._moved.pop(path, None)
        self._changed = True
        if pulls_only(server.client_capabilities):
            return
        shown = server.is_shown(path)
        if not shown and path not in self._published:
            return
        items = self.items(path) if shown else []
        document = server.documents.at_path(path)
        if not items and document is None and not self._published.get(path, (None, []))[1]:
            return  # nothing is shown of it and nothing is to be
        news = (document.version if document else None, items)
        if self._published.get(path) != news:
            self._push(server.documents.uri_of(path), *news)
        self._published[path] = news

    def items(self, path: str) -> list[types.Diagnostic]:
        """What is told of a file now."""
        server = self._server
        messages = server.pauses.to_tell(path, server.results.messages(path))
        own = server.converter.diagnostics(server.results, path, server.settings.unknown_hints, messages)
        return [*own, *map(server.converter.from_ci, server.ci.missing(path))]

    def publish_moved(self) -> None:
        """Shows what edits have moved, soon: file by file, so that the client's next message need not wait for all of them."""
        waits = bool(self._moved)
        self._moved |= {state.path: None for state in self._server.results.states() if state.moved}
        if self._moved and not waits:
            asyncio.get_running_loop().call_soon(self._publish_next)

    def _publish_next(self) -> None:
        if self._moved:
            self.publish(next(iter(self._moved)))
            asyncio.get_running_loop().call_soon(self._publish_next)

    def clear(self, path: str, uri: str) -> None:
        """Shows nothing of a file any more."""
        self._moved.pop(path, None)
        self._published.pop(path, None)
        if not pulls_only(self._server.client_capabilities):
            self._push(uri, None, [])

    def settled(self) -> None:
        """A check is over: all that is known is shown, and a client that pulls is notified, if there is news."""
        for path in list(self._moved):
            self.publish(path)
        workspace = self._server.client_capabilities.workspace
        refreshes = workspace is not None and workspace.diagnostics is not None and workspace.diagnostics.refresh_support
        if self._changed and pulls_only(self._server.client_capabilities) and refreshes:
            self._server.workspace_diagnostic_refresh(None)
        self._changed = False

    def _push(self, uri: str, version: int | None, items: list[types.Diagnostic]) -> None:
        self._server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, version=version, diagnostics=items)
        )
