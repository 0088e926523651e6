"""pygls's protocol with five things put right.

- Every request is answered, once, also one that is wrong: pygls 2.1 drops what it cannot read. What is wrong and wants no answer
  is left out, with one line in the log.
- A command that is a coroutine is cancelled by `$/cancelRequest`; pygls 2.1 answers the client and lets it run on.
- Futures of handled notifications are dropped; pygls 2.1 keeps one for every edit, for ever.
- The pull of diagnostics is advertised only to clients that take no pushed ones: others would show everything twice.
- Documents are those of server.documents, which split lines as LSP says.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import json
import logging
from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import Any
from urllib.parse import unquote

from cattrs import Converter
from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.protocol import LanguageServerProtocol, lsp_method

from server.documents import OpenDocuments
from server.transport import envelopes
from server.transport.envelopes import Id, Notification, Request, Response, Wrong, messages_in

logger = logging.getLogger(__name__)

_FAREWELL = 1.0  # seconds


def _exactly(kind: type) -> Callable[[Any, Any], Any]:
    """Reads a value of a JSON type that must have it: lsprotocol makes the text "None" of null. cattrs asks
    here for enumerations of such values, too: they become their members, or ValueError is raised."""

    def read(value: Any, target: Any) -> Any:
        if kind is int and isinstance(value, float) and value.is_integer():
            value = int(value)
        if type(value) is not kind:
            raise TypeError(f"{type(value).__name__} in the place of {kind.__name__}")
        return value if target is kind else target(value)

    return read


class EverproofProtocol(LanguageServerProtocol):
    """The protocol of the server; see the module."""

    def __init__(self, server: Any, converter: Converter) -> None:
        for kind in (str, int, bool):
            converter.register_structure_hook(kind, _exactly(kind))
        super().__init__(server, converter)
        self._unanswered: set[Id] = set()
        self._is_answered = asyncio.Event()  # is set when the last request that has no answer gets one

    def receive(self, body: bytes) -> None:
        """Handles what the client has sent in one frame. Raises SystemExit when it says `exit`."""
        for message in messages_in(body):
            context = contextvars.copy_context()
            match message:
                case Wrong():
                    self.refuse(message)
                case Request():
                    context.run(self._take_request, message)
                case Notification():
                    context.run(self._take_notification, message)
                case Response():
                    context.run(self._take_response, message)

    async def answered(self) -> None:
        """Waits until all requests are answered, for a client that does not; not for long."""
        if self._unanswered:
            self._is_answered.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._is_answered.wait(), _FAREWELL)

    def refuse(self, wrong: Wrong) -> None:
        """Answers with an error."""
        logger.info("Refused: %s", wrong.text)
        error = {"code": wrong.code, "message": wrong.text}
        self._send_data({"jsonrpc": self.VERSION, "id": wrong.id, "error": error})

    def _take_request(self, request: Request) -> None:
        wrong = self._objection(request)
        handler = self._handler(request.method)
        if wrong is None and handler is None:
            wrong = (envelopes.METHOD_NOT_FOUND, f"There is no method {request.method}.")
        if wrong is None:
            try:
                params = self._params(request)
            except Exception as error:
                wrong = (envelopes.INVALID_PARAMS, f"The parameters of {request.method} are wrong: {_described(error)}")
        if wrong is not None:
            self.refuse(Wrong(request.id, *wrong))
            return
        self._unanswered.add(request.id)
        self._shutdown = self._shutdown or request.method == types.SHUTDOWN
        self._handle_request(request.id, request.method, params)

    def _objection(self, request: Request) -> tuple[int, str] | None:
        """Why a request cannot be taken now, whatever it asks."""
        if self._shutdown:
            return envelopes.INVALID_REQUEST, "The server is shutting down."
        if (request.method == types.INITIALIZE) != (self._workspace is None):
            if self._workspace is None:
                return envelopes.NOT_INITIALIZED, "The first request must be initialize."
            return envelopes.INVALID_REQUEST, "The server is initialized."
        if request.id in self._unanswered or request.id in self._request_futures:
            return envelopes.INVALID_REQUEST, f"The id {request.id!r:.100} belongs to another request."
        return None

    def _take_notification(self, notification: Notification) -> None:
        method = notification.method
        if method == types.EXIT:
            raise SystemExit
        if self._shutdown or self._workspace is None:
            logger.info("Left out, before initialize or after shutdown: %r", method)
            return
        if method != types.CANCEL_REQUEST and self._handler(method) is None:
            if not method.startswith("$/"):
                logger.warning("Left out, not known: %.100r", method)
            return
        try:
            params = self._params(notification)
        except Exception as error:
            logger.warning("Left out: the parameters of %s are wrong: %s", method, _described(error))
            return
        self._handle_notification(method, params)

    def _take_response(self, response: Response) -> None:
        future = None if response.id in self._unanswered else self._request_futures.pop(response.id, None)
        if future is None or future.done():
            logger.warning("Left out: an answer to %.100r, which is no open request", response.id)
            return
        kind = self._result_types.pop(response.id, None)
        try:
            if "error" in response.message:
                error = self._converter.structure(response.message, types.ResponseErrorMessage).error
                future.set_exception(JsonRpcException.from_error(error) if error else JsonRpcException())
            elif kind is not None:
                future.set_result(self._converter.structure(response.message, kind).result)
            else:
                future.set_result(response.message["result"])
        except Exception as error:
            logger.warning("An answer of the client is wrong: %s", _described(error))
            if not future.done():
                future.set_exception(JsonRpcInvalidParams())

    def _handler(self, method: str) -> Callable[..., Any] | None:
        return self.fm.builtin_features.get(method) or self.fm.features.get(method)

    def _params(self, message: Request | Notification) -> Any:
        """The parameters of a method that is known, as lsprotocol has them. Raises whatever cattrs raises."""
        kind = self.get_message_type(message.method)
        if kind is None:
            return message.message.get("params")
        whole = {**message.message, "id": 0} if isinstance(message, Request) else message.message
        return self._converter.structure(whole, kind).params

    def _handle_cancel_notification(self, msg_id: Id) -> None:
        if envelopes.is_id(msg_id) and msg_id in self._unanswered:
            super()._handle_cancel_notification(msg_id)

    def _send_handler_result(self, future: Future[Any], *, msg_id: Id) -> None:
        """Answers a request with what its handler made of it."""
        self._request_futures.pop(msg_id, None)
        failure = None if future.cancelled() else future.exception()
        if future.cancelled():
            self._fail(msg_id, envelopes.CANCELLED, "The request was cancelled.")
        elif isinstance(failure, JsonRpcException):
            self._fail(msg_id, failure.code, failure.message)
        elif failure is not None:
            logger.error("A request could not be answered", exc_info=failure)
            self._fail(msg_id, envelopes.INTERNAL_ERROR, f"A defect of Everproof: {_described(failure)}")
        else:
            self._answer(msg_id, future.result())

    def _send_response(self, msg_id: Id, result: Any | None = None, error: types.ResponseError | None = None) -> None:
        if error is not None:
            self._fail(msg_id, error.code, error.message)
        else:
            self._answer(msg_id, result)

    def _answer(self, msg_id: Id, result: Any) -> None:
        response = {"jsonrpc": self.VERSION, "id": msg_id, "result": result}
        try:
            body = json.dumps(response, default=self._serialize_message)
        except Exception as error:
            logger.exception("An answer cannot be written down")
            self._fail(msg_id, envelopes.INTERNAL_ERROR, f"A defect of Everproof: {_described(error)}")
        else:
            if self.writer is not None:
                self.writer.write(f"Content-Length: {len(body)}\r\n\r\n{body}".encode("ascii"))
            self._count_answer(msg_id)

    def _fail(self, msg_id: Id, code: int, text: str) -> None:
        self.refuse(Wrong(msg_id, code, text))
        self._count_answer(msg_id)

    def _count_answer(self, msg_id: Id) -> None:
        self._unanswered.discard(msg_id)
        if not self._unanswered:
            self._is_answered.set()

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        """Initialises as pygls does, and withdraws what this client must not be offered."""
        try:
            result: types.InitializeResult = yield from super().lsp_initialize(params)
        except Exception:
            self._workspace = None  # the client may try again
            raise
        if not pulls_only(params.capabilities):
            result.capabilities.diagnostic_provider = None
        return result

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> Any:
        """Changes a document that is open."""
        if self._is_open(params.text_document.uri):
            yield from super().lsp_text_document__did_change(params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> Any:
        """Closes a document that is open."""
        if self._is_open(params.text_document.uri):
            yield from super().lsp_text_document__did_close(params)

    @lsp_method(types.WINDOW_WORK_DONE_PROGRESS_CANCEL)
    def lsp_work_done_progress_cancel(self, params: types.WorkDoneProgressCancelParams) -> Any:
        """Cancels what has a progress that is known."""
        if envelopes.is_id(params.token):
            yield from super().lsp_work_done_progress_cancel(params)

    def _is_open(self, uri: str) -> bool:
        is_open = unquote(uri) in self.workspace.text_documents
        if not is_open:
            logger.warning("Left out: a change of a document that is not open, %.200r", uri)
        return is_open

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


def knows_tags(capabilities: types.ClientCapabilities) -> bool:
    """Whether a client shows diagnostics with a tag in another way."""
    text_document = capabilities.text_document
    published = None if text_document is None else text_document.publish_diagnostics
    return published is not None and published.tag_support is not None


def _described(error: BaseException) -> str:
    """An error in one short line; of a group, the first that is no group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}".replace("\n", " ")[:300]
