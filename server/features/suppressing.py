"""Suppressing a finding with a reason: a comment on a line of its own before it.

A client that says so (`experimental.everproof.asksForReason`) asks for the reason and runs the command with it. Else the action
inserts the comment without one; until the reason is written there, the finding stays, and says what is missing.
"""

from __future__ import annotations

from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from analysis.model.report import Finding
from server.app import EverproofServer
from server.documents import Document
from server.features.commands import text_argument
from server.features.quick_fixes import versioned

SUPPRESS = "everproof.suppress"


def register(server: EverproofServer) -> None:
    """Registers the command."""

    @server.command(SUPPRESS)
    async def suppress(uri: Any, fingerprint: Any, reason: Any) -> bool:
        document = server.documents.find(text_argument(SUPPRESS, "uri", uri))
        finding = server.results.finding(text_argument(SUPPRESS, "fingerprint", fingerprint))
        words = " ".join(text_argument(SUPPRESS, "reason", reason).split()).rstrip("\\ ")
        if not words:
            raise JsonRpcInvalidParams(f"{SUPPRESS}: reason must say why the finding is not to be reported.")
        edit = None if document is None or finding is None else _comment(server, document, finding, words)
        if edit is None:
            return False
        answer = await server.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(edit, "Suppress a finding"))
        return answer.applied


def suppress_action(
    server: EverproofServer, document: Document, finding: Finding, diagnostics: list[types.Diagnostic]
) -> types.CodeAction | None:
    """The action; None inside a continued line, where the comment would swallow code."""
    edit = _comment(server, document, finding, "")
    if edit is None:
        return None
    title = f"Everproof: suppress {finding.rule} here, with a reason"
    action = types.CodeAction(title, kind=types.CodeActionKind.QuickFix, diagnostics=diagnostics)
    if _asks(server):
        action.command = types.Command(title, SUPPRESS, arguments=[document.uri, finding.fingerprint])
    else:
        action.edit = edit
    return action


def _asks(server: EverproofServer) -> bool:
    """Whether the client asks for the reason."""
    experimental: Any = server.client_capabilities.experimental
    own = experimental.get("everproof") if isinstance(experimental, dict) else getattr(experimental, "everproof", None)
    asks = own.get("asksForReason") if isinstance(own, dict) else getattr(own, "asksForReason", False)
    return asks is True


def _comment(server: EverproofServer, document: Document, finding: Finding, reason: str) -> types.WorkspaceEdit | None:
    line = finding.place.range.start.line - 1
    if line >= len(document.lines) or (line > 0 and document.lines[line - 1].rstrip("\r\n").endswith("\\")):
        return None
    text = document.lines[line]
    indent = text[: len(text) - len(text.lstrip(" \t"))]
    end = "\r\n" if text.endswith("\r\n") else "\n"
    start = types.Position(line, 0)
    edit = types.TextEdit(types.Range(start, start), f"{indent}// everproof: ignore {finding.rule} {reason}{end}")
    return versioned(server, document, [edit])
