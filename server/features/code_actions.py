"""Code actions on a finding: fix it, show its trace, explain its rule, show what introduced it, suppress it with a reason, check
everything again."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from analysis.model.report import Finding
from server.app import EverproofServer
from server.convert import message_of, rule_page
from server.documents import Document
from server.features import commands, inlay_hints, introduced
from server.features.quick_fixes import fix_actions
from server.features.replaying import replay_action
from server.features.suppressing import suppress_action

_SHOW_CHANGE = "Everproof: show the change that introduced this"


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
        for new in (f for f in found if state is not None and state.since.get(f.fingerprint) == "new"):
            asked = [document.uri, new.fingerprint]
            actions.append(_command(_SHOW_CHANGE, introduced.INTRODUCED, asked, _of(new, params.context)))
        if found:
            actions.append(_command("Everproof: run a full check", commands.FULL_CHECK, [document.uri], []))
        return actions


def _for_finding(
    server: EverproofServer, document: Document, finding: Finding, context: types.CodeActionContext
) -> list[types.CodeAction]:
    diagnostics = _of(finding, context)
    trace = [document.uri, finding.fingerprint]
    actions = fix_actions(server, document, finding, diagnostics)
    if finding.trace:
        actions.append(
            _command(f"Everproof: show the trace of {finding.rule}", commands.TRACE, [*trace, commands.BACK], diagnostics)
        )
    run_again = replay_action(server, document, finding, diagnostics)
    if run_again is not None:
        actions.append(run_again)
    if len(finding.explanation) < len(finding.trace):
        title = f"Everproof: show all {len(finding.trace)} steps of the trace of {finding.rule}"
        actions.append(_command(title, commands.TRACE, [*trace, {"whole": True} | commands.BACK], diagnostics))
    title = f"Everproof: show or hide the states of the rules along {finding.function}"
    actions.append(_command(title, inlay_hints.STATES, [document.uri, finding.function], diagnostics))
    if rule_page(finding.rule) is not None:
        actions.append(_command(f"Everproof: explain {finding.rule}", commands.EXPLAIN, [finding.rule], diagnostics))
    suppress = suppress_action(server, document, finding, diagnostics)
    if suppress is not None:
        actions.append(suppress)
    return actions


def _of(finding: Finding, context: types.CodeActionContext) -> list[types.Diagnostic]:
    return [d for d in context.diagnostics if d.code == finding.rule and d.message.startswith(message_of(finding))]


def _command(title: str, name: str, arguments: Sequence[object], diagnostics: list[types.Diagnostic]) -> types.CodeAction:
    command = types.Command(title, name, arguments=list(arguments))
    return types.CodeAction(title, kind=types.CodeActionKind.QuickFix, diagnostics=diagnostics, command=command)


def _touches(one: types.Range, other: types.Range) -> bool:
    return one.start <= other.end and other.start <= one.end
