"""Inlay hints: loop invariants (`invariants`), and the states of the rules along a function, for the functions for which they
were asked for.

The command `everproof.states` [uri, function] turns them on, and off when it is given again; it answers whether they are on now.
At the end of a line stands what some path to it establishes before it, where that differs from the line above. It is what the
automaton engine has derived (analysis.model.derivation) of the text that was checked last, moved to where it is now.
"""

from __future__ import annotations

from typing import Any

from lsprotocol import types

from analysis.model.derivation import Configuration, FunctionDerivations
from server.app import EverproofServer
from server.client_columns import Columns
from server.client_lines import Edit, content_length, moved_place
from server.documents import Document
from server.features import invariants
from server.features.commands import toggled

STATES = "everproof.states"
_NOTHING = "nothing"  # the fact that only says that a place is reached
_SHOWN = 4  # facts in a hint; its tooltip has all of them


def register(server: EverproofServer) -> None:
    """Registers the command and the handler."""

    @server.command(STATES)
    async def states(uri: Any, function: Any) -> bool:
        return toggled(server, STATES, server.shown_states, uri, function)

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT, types.InlayHintOptions(resolve_provider=False))
    async def inlay_hint(params: types.InlayHintParams) -> list[types.InlayHint]:
        document = server.documents.find(params.text_document.uri)
        if document is None:
            return []
        is_wanted = server.shown_states.get(document.uri) or invariants.wanted(server, document)
        if is_wanted and server.settings.mode == "continuous":
            await server.scheduler.caught_up(document.file_path)
        first, last = params.range.start.line, params.range.end.line
        found = [*invariants.hints(server, document), *await _states(server, document)]
        return [hint for hint in found if first <= hint.position.line <= last]


async def _states(server: EverproofServer, document: Document) -> list[types.InlayHint]:
    hints: list[types.InlayHint] = []
    for name in sorted(server.shown_states.get(document.uri, ())):
        derived = await server.scheduler.derivations(document.file_path, name)
        checked = document.version_at(server.last_check.generation) if server.last_check is not None else None
        edits = document.edits_since(checked) if checked is not None else None
        if derived is not None and edits is not None:
            hints += function_hints(derived, document, edits, server.documents.columns)
    return hints


def function_hints(
    derived: FunctionDerivations, document: Document, edits: list[Edit], columns: Columns
) -> list[types.InlayHint]:
    """The hints of one function, in the order of their lines; `edits` lead from the text that was checked to the one now."""
    by_line: dict[int, list[Configuration]] = {}
    for configuration in derived.configurations:
        place = moved_place(configuration.place, document.file_path, edits)
        if place.path == document.file_path and not configuration.error:
            by_line.setdefault(place.range.start.line - 1, []).append(configuration)
    hints = []
    above: list[str] = []
    for line in sorted(by_line):
        first = min(configuration.place.range.start for configuration in by_line[line])
        facts = sorted({c.fact for c in by_line[line] if c.place.range.start == first and c.fact != _NOTHING})
        if facts and facts != above and line < len(document.lines):
            hints.append(_hint(document.lines[line], line, facts, columns))
        above = facts
    return hints


def _hint(text: str, line: int, facts: list[str], columns: Columns) -> types.InlayHint:
    plain = list(dict.fromkeys(_in_short(fact) for fact in facts))
    label = " · ".join(plain[:_SHOWN]) + (" · …" if len(plain) > _SHOWN else "")
    tooltip = "Before this line, on some path to it:\n" + "\n".join(f"- {fact}" for fact in facts)
    return types.InlayHint(
        types.Position(line, columns.units(text[: content_length(text)])),
        label,
        padding_left=True,
        tooltip=types.MarkupContent(types.MarkupKind.Markdown, tooltip),
    )


def _in_short(fact: str) -> str:
    """A fact without its rule and without the values of branches under which it holds, which the tooltip has."""
    return (fact.partition(": ")[2] or fact).partition(", condition ")[0]
