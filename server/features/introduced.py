"""What a finding is since the reference, and which edit has introduced it: for hovers, and the command `everproof.introduced`.

The command answers with the edit of this session that has introduced a finding, if it is known, and with how the finding's file
differs from what it held at the reference; `text` says both as people read it.
"""

from __future__ import annotations

from typing import Any

from lsprotocol import types

from analysis.model.places import Place
from analysis.model.report import Finding
from analysis.wire import ToldDifference
from server.app import EverproofServer
from server.documents import Document
from server.features.commands import text_argument
from server.introductions import BEFORE
from server.results import FileState
from server.session_edits import SessionEdit

INTRODUCED = "everproof.introduced"


def register(server: EverproofServer) -> None:
    """Registers the command."""

    @server.command(INTRODUCED)
    async def introduced(uri: Any, fingerprint: Any) -> dict[str, Any] | None:
        text_argument(INTRODUCED, "uri", uri)
        name = text_argument(INTRODUCED, "fingerprint", fingerprint)
        found = _finding(server, name)
        if found is None or not found[0].reference:
            return None
        state, finding = found
        number = server.introductions.number(name)
        edit = server.edits.edit(number or BEFORE)
        told = await server.scheduler.difference(state.path)
        return {
            "since": state.since.get(name),
            "reference": state.reference,
            "edit": None if edit is None else _payload(server, edit),
            "difference": None if told is None else told.difference,
            "text": _text(server, state, finding, number, edit, told),
        }


def _finding(server: EverproofServer, fingerprint: str) -> tuple[FileState, Finding] | None:
    for state in server.results.states():
        for finding in state.findings:
            if finding.fingerprint == fingerprint:
                return state, finding
    return None


def _payload(server: EverproofServer, edit: SessionEdit) -> dict[str, Any]:
    place = server.edits.present_place(edit)
    return {
        "number": edit.number,
        "uri": edit.uri,
        "version": edit.version,
        "range": server.converter.range(Place(edit.path, place)),
        "function": function_at(server, edit.path, place.start.line),
        "before": edit.before,
        "after": edit.after,
    }


def function_at(server: EverproofServer, path: str, line: int) -> str | None:
    """The name of the function that begins last up to a line, as far as is known."""
    state = server.results.state(path)
    above = [f for f in state.functions if f.place.path == path and f.place.range.start.line <= line] if state else []
    return max(above, key=lambda function: function.place.range.start.line).name if above else None


def findings_hover(server: EverproofServer, document: Document, position: types.Position) -> types.Hover | None:
    """What the findings at a position are since the reference; None where nothing is known of that."""
    state = server.results.state(document.file_path)
    if state is None or not state.reference:
        return None
    lines, range_ = [], None
    for finding in state.shown:
        at = server.converter.range(finding.place)
        since = state.since.get(finding.fingerprint)
        if since is None or (since == "old" and server.converter.is_fallback(state.reference)):
            continue
        if at.start <= position <= at.end:
            lines.append(f"`{finding.rule}`: {sentence(server, state, finding)}")
            range_ = range_ or at
    if range_ is None:
        return None
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "\n\n".join(dict.fromkeys(lines))), range_)


def sentence(server: EverproofServer, state: FileState, finding: Finding) -> str:
    """Whether a finding is new, and which edit has introduced it, in words."""
    if state.since.get(finding.fingerprint) != "new":
        return f"older than {state.reference}."
    number = server.introductions.number(finding.fingerprint)
    edit = server.edits.edit(number or BEFORE)
    if edit is not None:
        return f"new since {state.reference}, introduced by {_named(server, edit)}."
    before = ", introduced before this session" if number == BEFORE else ""
    return f"new since {state.reference}{before}."


def _named(server: EverproofServer, edit: SessionEdit) -> str:
    """An edit in words: its number, the version that it made, and where it is now."""
    line = server.edits.present_place(edit).start.line
    function = function_at(server, edit.path, line)
    of = "" if function is None else f" in `{function}`"
    return f"edit {edit.number} of this session (version {edit.version}, line {line}{of})"


def _text(
    server: EverproofServer,
    state: FileState,
    finding: Finding,
    number: int | None,
    edit: SessionEdit | None,
    told: ToldDifference | None,
) -> str:
    parts = [f"{finding.rule} in {finding.function}: {sentence(server, state, finding)}\n".replace("`", "")]
    if edit is not None:
        parts += ["", *(f"-{line}" for line in edit.before.splitlines()), *(f"+{line}" for line in edit.after.splitlines())]
    elif number is None and state.since.get(finding.fingerprint) == "new":
        parts.append("Which edit has introduced it is not known.")
    if told is not None and told.difference is not None:
        parts += [
            "",
            f"The file since {told.reference}:" if told.difference else f"The file has not changed since {told.reference}.",
            "",
        ]
        parts.append(told.difference)
    return "\n".join(parts)
