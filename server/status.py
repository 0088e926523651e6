"""The one model of what is known and what is being done, sent as `everproof/status`; lenses and hovers say the same.

A verdict is never shown as current when the text it is about has changed, and a function that nothing is known of is
`unknown` with a reason.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from lsprotocol import types

from analysis.model.report import Finding, FunctionReport
from analysis.wire import CheckDone
from server.convert import Converter, overall, stale_reason, standing
from server.documents import Document
from server.proof_words import broken, rechecked, reuse_texts, waits
from server.results import FileState, Results

METHOD = "everproof/status"
State = Literal["checking", "idle", "failed"]


class Statuses:
    """What is said of each open document. The functions of one are said anew only when something has changed."""

    def __init__(self, results: Results, converter: Converter) -> None:
        self._results = results
        self._converter = converter
        self._said: dict[str, tuple[tuple[object, ...], list[dict[str, Any]]]] = {}

    def payload(self, document: Document, state: State, message: str | None) -> dict[str, Any]:
        """The parameters of the notification for one document. `message` says more about the state, where there is more."""
        return {
            "uri": document.uri,
            "version": document.current_version,
            "state": state,
            "message": message,
            "functions": self._functions(document),
            "heldBack": self._held_back(document),
            "unplaced": self._unplaced(document),
            "reference": self._reference(document),
        }

    def _unplaced(self, document: Document) -> list[dict[str, Any]]:
        """The findings that are shown and have no place in the text any more."""
        known = self._results.state(document.file_path)
        return [] if known is None else [_without_place(finding) for finding in known.unplaced]

    def _reference(self, document: Document) -> dict[str, Any] | None:
        """How many findings are new since what those of the document are compared with, in all files; None if nothing is."""
        known = self._results.state(document.file_path)
        if known is None or not known.reference:
            return None
        new, older = self._results.counted(known.reference)
        text = f"{new} new since {known.reference}, {older} older"
        return {"name": known.reference, "new": new, "older": older, "text": text}

    def _held_back(self, document: Document) -> int:
        """How many findings of the document are known and not shown."""
        known = self._results.state(document.file_path)
        return 0 if known is None else len(known.findings) - len(known.shown)

    def forget(self, uri: str) -> None:
        """A document was closed."""
        self._said.pop(uri, None)

    def _functions(self, document: Document) -> list[dict[str, Any]]:
        known = self._results.state(document.file_path)
        if known is None:
            return []
        at = (known, known.revision, document, document.current_version)
        said = self._said.get(document.uri)
        if said is None or said[0] != at:
            said = self._said[document.uri] = (at, _functions(known, self._converter))
        return said[1]


def _functions(known: FileState, converter: Converter) -> list[dict[str, Any]]:
    functions = []
    for function in known.functions:
        if function.place.path != known.path or function.place.gone:
            continue
        verdict, reason = overall(function)
        stale = stale_reason(known, function)
        functions.append(
            {
                "name": function.name,
                "range": _plain(converter.range(function.place)),
                "verdict": verdict,
                "standing": standing(function, known.findings),
                "stale": stale is not None,
                "reason": stale if stale is not None and reason is None else reason,
                **_proofs(function),
            }
        )
    return functions


def _proofs(function: FunctionReport) -> dict[str, Any]:
    """What the last edit meant for proofs, where it meant anything."""
    again = "waiting" if waits(function) else "rechecked"
    said = {again: rechecked(function), "reused": reuse_texts(function), "broken": broken(function)}
    return {name: value for name, value in said.items() if value}


def _without_place(finding: Finding) -> dict[str, Any]:
    return {
        "fingerprint": finding.fingerprint,
        "rule": finding.rule,
        "message": finding.said,
        "function": finding.function,
        "status": finding.status,
    }


def _plain(range_: types.Range) -> dict[str, dict[str, int]]:
    """A range as JSON has it: it is compared with what was said last, and written, many times."""
    ends = {"start": range_.start, "end": range_.end}
    return {name: {"line": position.line, "character": position.character} for name, position in ends.items()}


def times(done: CheckDone | None) -> dict[str, float] | None:
    """The milliseconds of the last complete check, by stage. They go with a status, and are no news by themselves."""
    return None if done is None else {stage: round(ms, 3) for stage, ms in msgspec.structs.asdict(done.times).items()}
