"""The loop invariants of proved functions as inlay hints, in C: of all functions by the setting `invariants`, else of those for
which the command `everproof.invariants` [uri, function] asked. It turns them off when it is given again, and answers whether they
are on now.

They come with the function's report, so they move with the text; what was edited since the last check shows none.
"""

from __future__ import annotations

from typing import Any

from lsprotocol import types

from analysis.model.report import FunctionReport
from server.app import EverproofServer
from server.client_columns import Columns
from server.client_lines import content_length
from server.convert import stale_reason
from server.documents import Document
from server.features.commands import toggled

INVARIANTS = "everproof.invariants"
_LONGEST = 100  # characters of a hint; its tooltip has all


def register(server: EverproofServer) -> None:
    """Registers the command; the hints are among those of `inlay_hints`."""

    @server.command(INVARIANTS)
    async def invariants(uri: Any, function: Any) -> bool:
        return toggled(server, INVARIANTS, server.shown_invariants, uri, function)


def wanted(server: EverproofServer, document: Document) -> bool:
    """Whether any hints of a document are to be shown."""
    return server.settings.invariants or bool(server.shown_invariants.get(document.uri))


def hints(server: EverproofServer, document: Document) -> list[types.InlayHint]:
    """The hints of a document's functions, as far as they hold for its text."""
    state = server.results.state(document.file_path)
    asked = server.shown_invariants.get(document.uri, set())
    if state is None:
        return []
    return [
        hint
        for function in state.functions
        if (server.settings.invariants or function.name in asked) and stale_reason(state, function) is None
        for hint in function_hints(function, document, server.documents.columns)
    ]


def function_hints(function: FunctionReport, document: Document, columns: Columns) -> list[types.InlayHint]:
    """One hint for each loop of a function: what holds whenever its condition is evaluated."""
    by_line: dict[int, dict[str, list[str]]] = {}
    for invariant in function.invariants:
        line = invariant.place.range.start.line - 1
        if invariant.place.path == document.file_path and line < len(document.lines):
            by_line.setdefault(line, {}).setdefault(invariant.text, []).append(invariant.rule)
    return [_hint(document.lines[line], line, said, function, columns) for line, said in sorted(by_line.items())]


def _hint(text: str, line: int, said: dict[str, list[str]], function: FunctionReport, columns: Columns) -> types.InlayHint:
    label = "invariant: " + " && ".join(said if len(said) == 1 else (f"({part})" if "||" in part else part for part in said))
    shown = label if len(label) <= _LONGEST else label[: _LONGEST - 1] + "…"
    assumed = sorted({a for rules in said.values() for rule in rules for a in _assumptions(function, rule)})
    lines = [f"- `{part}` (proof of {', '.join(rules)})" for part, rules in said.items()]
    tooltip = "Holds whenever the loop's condition is evaluated:\n" + "\n".join(lines)
    tooltip += "\n\nAssuming: " + "; ".join(assumed) + "." if assumed else ""
    return types.InlayHint(
        types.Position(line, columns.units(text[: content_length(text)])),
        shown,
        padding_left=True,
        tooltip=types.MarkupContent(types.MarkupKind.Markdown, tooltip),
    )


def _assumptions(function: FunctionReport, rule: str) -> tuple[str, ...]:
    verdict = function.verdicts.get(rule)
    return () if verdict is None else verdict.assumptions
