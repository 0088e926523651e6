"""pygls's protocol with four things put right.

- A command that is a coroutine is cancelled by `$/cancelRequest`; pygls 2.1 answers the client and lets it run on.
- Futures of handled notifications are dropped; pygls 2.1 keeps one for every edit, for ever.
- The pull of diagnostics is advertised only to clients that take no pushed ones: others would show everything twice.
- Documents are those of server.documents, which split lines as LSP says.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.protocol import LanguageServerProtocol, lsp_method

from server.documents import OpenDocuments


class EverproofProtocol(LanguageServerProtocol):
    """The protocol of the server; see the module."""

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        """Initialises as pygls does, and withdraws what this client must not be offered."""
        result: types.InitializeResult = yield from super().lsp_initialize(params)
        if not pulls_only(params.capabilities):
            result.capabilities.diagnostic_provider = None
        return result

    def adopt_workspace(self) -> OpenDocuments:
        """Puts documents of our own in the place of pygls's, before any is opened."""
        documents = OpenDocuments.adopt(self.workspace)
        self._workspace = documents
        return documents

    @lsp_method(types.WORKSPACE_EXECUTE_COMMAND)
    async def lsp_workspace__execute_command(self, params: types.ExecuteCommandParams) -> Any:  # type: ignore[override]
        """Runs a command with its arguments as they came. It is a coroutine, so the request and the command end together."""
        handler = self.fm.commands.get(params.command)
        if handler is None:
            raise JsonRpcInvalidParams(f"There is no command {params.command}.")
        try:
            call = inspect.signature(handler).bind(*(params.arguments or []))
        except TypeError as error:
            raise JsonRpcInvalidParams(f"{params.command}: {error}.") from None
        result = handler(*call.args)
        return await result if inspect.isawaitable(result) else result

    def _execute_handler(
        self,
        msg_id: str | int,
        handler: Callable[..., Any],
        callback: Callable[[Future[Any]], None],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        super()._execute_handler(msg_id, handler, callback, args, kwargs)
        future = self._request_futures.get(msg_id)
        if future is not None:
            loop = asyncio.get_running_loop()
            future.add_done_callback(lambda _: loop.call_soon(self._request_futures.pop, msg_id, None))


def pulls_only(capabilities: types.ClientCapabilities) -> bool:
    """Whether a client asks for diagnostics and does not say that it takes pushed ones."""
    text_document = capabilities.text_document
    return text_document is not None and text_document.diagnostic is not None and text_document.publish_diagnostics is None
