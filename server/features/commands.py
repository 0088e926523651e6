"""Commands (`workspace/executeCommand`). Each is a coroutine, so that cancelling the request ends it."""

from __future__ import annotations

from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from server.app import EverproofServer
from server.convert import rule_page, step_text

FULL_CHECK = "everproof.fullCheck"
TRACE = "everproof.trace"
STATUS = "everproof.status"
BACK = {"from": "error"}
"""The argument of TRACE for people, who begin at the error and ask what led there."""
CLEAR_STORE = "everproof.clearStore"
EXPLAIN = "everproof.explainRule"


def register(server: EverproofServer) -> None:
    """Registers the commands."""

    @server.command(FULL_CHECK)
    async def full_check(uri: Any = None) -> dict[str, Any]:
        document = server.documents.find(text_argument(FULL_CHECK, "uri", uri)) if uri is not None else None
        if document is not None:
            server.scheduler.look_at(document.file_path)
        failure = await server.scheduler.full_check()
        findings = sum(len(state.findings) for state in server.results.states())
        held_back = findings - sum(len(state.shown) for state in server.results.states())
        return {"complete": failure is None, "reason": failure, "findings": findings, "heldBack": held_back}

    @server.command(TRACE)
    async def trace(uri: Any, fingerprint: Any, options: Any = None) -> list[dict[str, object]]:
        text_argument(TRACE, "uri", uri)
        whole, goes_back = _trace_options(options)
        finding = server.results.finding(text_argument(TRACE, "fingerprint", fingerprint))
        if finding is None:
            return []
        steps = finding.trace if whole else finding.explanation
        if goes_back:
            steps = steps[::-1]
        return [server.converter.step(step) | {"summary": step_text(step)} for step in steps]

    @server.command(STATUS)
    async def status() -> list[dict[str, Any]]:
        return [server.status_of(document) for document in server.documents.open_c()]

    @server.command(CLEAR_STORE)
    async def clear_store() -> None:
        server.results.mark_stale("the store was cleared")
        server.scheduler.clear_store()

    @server.command(EXPLAIN)
    async def explain(rule: Any) -> str | None:
        page = rule_page(text_argument(EXPLAIN, "rule", rule))
        window = server.client_capabilities.window
        if page is not None and window is not None and window.show_document is not None and window.show_document.support:
            await server.window_show_document_async(types.ShowDocumentParams(page, take_focus=True))
        return page


def _trace_options(options: Any) -> tuple[bool, bool]:
    """Whether all steps are asked for, and whether they begin at the error and go back."""
    if options is None:
        return False, False
    whole, start = (options.get("whole", False), options.get("from", "entry")) if isinstance(options, dict) else (None, None)
    if not isinstance(whole, bool) or start not in ("entry", "error"):
        expected = 'an object, its `whole` true or false, its `from` "entry" or "error"'
        raise JsonRpcInvalidParams(f"{TRACE}: the third argument must be {expected}.")
    return whole, start == "error"


def toggled(server: EverproofServer, command: str, shown: dict[str, set[str]], uri: Any, function: Any) -> bool:
    """Shows a kind of hints of a function, or no more; whether they are shown now. `shown` are the functions by document."""
    document = server.documents.find(text_argument(command, "uri", uri))
    name = text_argument(command, "function", function)
    if document is None:
        return False
    names = shown.setdefault(document.uri, set())
    names ^= {name}
    server.refresh_hints()
    return name in names


def text_argument(command: str, name: str, value: Any) -> str:
    """An argument that must be a string; the client gets the name of one that is none."""
    if not isinstance(value, str):
        raise JsonRpcInvalidParams(f"{command}: {name} must be a string.")
    return value
