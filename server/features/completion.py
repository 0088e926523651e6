"""Completion in comments that silence a finding: `// everproof: ignore RULE` (the guide, "Silence a finding").

The rules are those that were checked in the file. The rules of findings that the comment would silence come first. The comment
has no effect until somebody writes a reason behind the rule.
"""

from __future__ import annotations

import re

from lsprotocol import types

from analysis.model.report import Finding
from server.app import EverproofServer
from server.client_columns import Columns
from server.documents import Document
from server.results import FileState

_BEFORE_CURSOR = re.compile(r"/[/*][ \t]*everproof:(?P<gap>[ \t]*)(?P<typed>(?:ignore[ \t]+)?[a-z0-9-]*)$")


def register(server: EverproofServer) -> None:
    """Registers the handler."""

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=[":"], resolve_provider=False))
    async def completion(params: types.CompletionParams) -> list[types.CompletionItem]:
        document = server.documents.find(params.text_document.uri)
        state = server.results.state(document.file_path) if document is not None else None
        if document is None or state is None:
            return []
        return complete(document, state, params.position, server.documents.columns)


def complete(document: Document, state: FileState, position: types.Position, columns: Columns) -> list[types.CompletionItem]:
    """Returns an item for each rule that was checked in the file; none outside of a comment that silences findings."""
    line, column = document.position(position)
    text = document.lines[line][:column] if line < len(document.lines) else ""
    found = _BEFORE_CURSOR.search(text)
    if found is None:
        return []
    silenced = {f.rule: f for f in state.findings if f.place.range.start.line in (line + 1, line + 2)}
    checked = {rule for function in state.functions for rule in function.verdicts} | {f.rule for f in state.findings}
    start = types.Position(line, columns.units(text[: found.start("typed")]))
    edited = types.Range(start, types.Position(line, columns.units(text)))
    gap = "" if found.group("gap") else " "
    return [
        _item(rule, silenced.get(rule), edited, gap) for rule in sorted(checked, key=lambda rule: (rule not in silenced, rule))
    ]


def _item(rule: str, finding: Finding | None, edited: types.Range, gap: str) -> types.CompletionItem:
    words = f"ignore {rule}"
    return types.CompletionItem(
        words,
        kind=types.CompletionItemKind.Keyword,
        detail=finding.message if finding is not None else None,
        filter_text=gap + words,
        sort_text=f"{'1' if finding is None else '0'} {rule}",
        preselect=finding is not None,
        text_edit=types.TextEdit(edited, f"{gap}{words} "),
    )
