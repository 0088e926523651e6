"""Code actions on a finding: show its trace, explain its rule, suppress it with a reason, check everything again."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from analysis.model.report import Finding
from server.app import EverproofServer
from server.convert import message_of, rule_page
from server.documents import Document
from server.features import commands, inlay_hints


def register(server: EverproofServer) -> None:
    """Registers the handler."""

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix], resolve_provider=False),
    )
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        document = server.documents.find(params.text_document.uri)
        only = params.context.only
        if document is None or (only and not any(types.CodeActionKind.QuickFix.value.startswith(kind) for kind in only)):
            return []
        state = server.results.state(document.file_path)
        found = [f for f in state.findings if _touches(server.converter.range(f.place), params.range)] if state else []
        actions = [action for finding in found for action in _for_finding(server, document, finding, params.context)]
        if found:
            actions.append(_command("Everproof: run a full check", commands.FULL_CHECK, [document.uri], []))
        return actions


def _for_finding(
    server: EverproofServer, document: Document, finding: Finding, context: types.CodeActionContext
) -> list[types.CodeAction]:
    diagnostics = [d for d in context.diagnostics if d.code == finding.rule and d.message == message_of(finding)]
    trace = [document.uri, finding.fingerprint]
    actions = []
    if finding.trace:
        actions.append(
            _command(f"Everproof: show the trace of {finding.rule}", commands.TRACE, [*trace, commands.BACK], diagnostics)
        )
    if len(finding.explanation) < len(finding.trace):
        title = f"Everproof: show all {len(finding.trace)} steps of the trace of {finding.rule}"
        actions.append(_command(title, commands.TRACE, [*trace, {"whole": True} | commands.BACK], diagnostics))
    title = f"Everproof: show or hide the states of the rules along {finding.function}"
    actions.append(_command(title, inlay_hints.STATES, [document.uri, finding.function], diagnostics))
    if rule_page(finding.rule) is not None:
        actions.append(_command(f"Everproof: explain {finding.rule}", commands.EXPLAIN, [finding.rule], diagnostics))
    edit = _suppression(server, document, finding)
    if edit is not None:
        title = f"Everproof: suppress {finding.rule} here, with a reason"
        actions.append(types.CodeAction(title, kind=types.CodeActionKind.QuickFix, diagnostics=diagnostics, edit=edit))
    return actions


def _command(title: str, name: str, arguments: Sequence[object], diagnostics: list[types.Diagnostic]) -> types.CodeAction:
    command = types.Command(title, name, arguments=list(arguments))
    return types.CodeAction(title, kind=types.CodeActionKind.QuickFix, diagnostics=diagnostics, command=command)


def _suppression(server: EverproofServer, document: Document, finding: Finding) -> types.WorkspaceEdit | None:
    """A comment on a line of its own before the finding; None inside a continued line, where it would swallow code.

    The reason is left for the person to write: until it is there, the comment suppresses nothing, and a message asks for it.
    """
    line = finding.place.range.start.line - 1
    if line >= len(document.lines) or (line > 0 and document.lines[line - 1].rstrip("\r\n").endswith("\\")):
        return None
    text = document.lines[line]
    indent = text[: len(text) - len(text.lstrip(" \t"))]
    end = "\r\n" if text.endswith("\r\n") else "\n"
    start = types.Position(line, 0)
    edit = types.TextEdit(types.Range(start, start), f"{indent}// everproof: ignore {finding.rule} {end}")
    workspace = server.client_capabilities.workspace
    if workspace is not None and workspace.workspace_edit is not None and workspace.workspace_edit.document_changes:
        identifier = types.OptionalVersionedTextDocumentIdentifier(uri=document.uri, version=document.version)
        return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(identifier, [edit])])
    return types.WorkspaceEdit(changes={document.uri: [edit]})


def _touches(one: types.Range, other: types.Range) -> bool:
    return one.start <= other.end and other.start <= one.end
