"""Fixes of findings: as code actions once they are checked, and as a command that waits for the check.

Until then there is one action, which waits. So no fix is offered that was not checked in the text as it is (`server.fixes`).
"""

from __future__ import annotations

import asyncio
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from analysis.model.places import Place
from analysis.model.report import Finding
from analysis.model.text_changes import FIXABLE, Fix
from server.app import EverproofServer
from server.documents import Document
from server.features.commands import text_argument

FIX = "everproof.fix"
_CHANGED = "Everproof: the text has changed, so the fixes of this finding have to be looked for again."
_NONE = "Everproof: no fix was found that removes this finding and causes no other one."


def register(server: EverproofServer) -> None:
    """Registers the command. It answers at once when fixes are known; the user may take long to choose."""
    offers: set[asyncio.Task[None]] = set()

    @server.command(FIX)
    async def fix(uri: Any, fingerprint: Any) -> list[dict[str, Any]] | None:
        document = server.documents.find(text_argument(FIX, "uri", uri))
        finding = _finding(server, document, text_argument(FIX, "fingerprint", fingerprint))
        if document is None or finding is None:
            return []
        version = document.current_version
        fixes = await server.fixes.find(document.file_path, finding.fingerprint)
        if fixes is None or document.current_version != version:
            server.show(_CHANGED, types.MessageType.Info)
            return None
        if not fixes:
            server.show(_NONE, types.MessageType.Info)
            return []
        offering = asyncio.create_task(_offer(server, document, fixes, version), name="offer fixes")
        offers.add(offering)
        offering.add_done_callback(offers.discard)
        return [{"title": one.title, "edit": edit_of(server, document, one)} for one in fixes]


async def _offer(server: EverproofServer, document: Document, fixes: tuple[Fix, ...], version: int) -> None:
    """Lets the user choose, and makes the change."""
    text = "Everproof: each of these changes removes the finding, and causes no other one."
    choices = [types.MessageActionItem(one.title) for one in fixes]
    request = types.ShowMessageRequestParams(types.MessageType.Info, text, choices)
    try:
        chosen = await server.window_show_message_request_async(request)
    except JsonRpcException:  # the client has no way to ask; its user finds the fixes among the code actions
        return
    found = next((one for one in fixes if chosen is not None and one.title == chosen.title), None)
    if found is not None and document.current_version == version:
        edit = edit_of(server, document, found)
        await server.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(edit, found.title))


def fix_actions(
    server: EverproofServer, document: Document, finding: Finding, diagnostics: list[types.Diagnostic]
) -> list[types.CodeAction]:
    """The fixes of a finding that are checked; if they are not yet, an action that waits for them."""
    if finding.rule not in FIXABLE or not _is_here(server, document, finding):
        return []
    fixes = server.fixes.known(document.file_path, finding.fingerprint)
    if fixes is None:
        server.fixes.look(document.file_path, finding.fingerprint)
        title = f"Everproof: look for a fix of {finding.rule}, and check it"
        command = types.Command(title, FIX, arguments=[document.uri, finding.fingerprint])
        return [types.CodeAction(title, kind=types.CodeActionKind.QuickFix, diagnostics=diagnostics, command=command)]
    return [
        types.CodeAction(
            f"Everproof: {one.title} (checked)",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=diagnostics,
            is_preferred=number == 0,
            edit=edit_of(server, document, one),
        )
        for number, one in enumerate(fixes)
    ]


def edit_of(server: EverproofServer, document: Document, fix: Fix) -> types.WorkspaceEdit:
    """A fix as an edit of the version of the document that it was checked in."""
    edits = [types.TextEdit(server.converter.range(Place(fix.path, one.range)), one.text) for one in fix.changes]
    return versioned(server, document, edits)


def versioned(server: EverproofServer, document: Document, edits: list[types.TextEdit]) -> types.WorkspaceEdit:
    """Edits of a document, which a client that knows versions does not apply to another one."""
    workspace = server.client_capabilities.workspace
    if workspace is not None and workspace.workspace_edit is not None and workspace.workspace_edit.document_changes:
        identifier = types.OptionalVersionedTextDocumentIdentifier(uri=document.uri, version=document.version)
        return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(identifier, [*edits])])
    return types.WorkspaceEdit(changes={document.uri: edits})


def _finding(server: EverproofServer, document: Document | None, fingerprint: str) -> Finding | None:
    state = None if document is None else server.results.state(document.file_path)
    found = next((one for one in state.findings if one.fingerprint == fingerprint), None) if state is not None else None
    return found if document is not None and found is not None and _is_here(server, document, found) else None


def _is_here(server: EverproofServer, document: Document, finding: Finding) -> bool:
    """Whether a finding is in a document, and of its text as it is."""
    state = server.results.state(document.file_path)
    return finding.place.path == document.file_path and state is not None and not state.is_stale(finding)
