"""Which check looked at a function last, and why: for hovers. A check names what it looked at; all else it took over."""

from __future__ import annotations

import os
from typing import NamedTuple

from analysis.model.report import FunctionReport, RecheckReason
from analysis.wire import CheckDone
from server.documents import OpenDocuments

_WHY: dict[RecheckReason, str] = {
    "scratch": "Checked from scratch by the last check, like the whole program.",
    "small": "Re-checked by the last check: a function or a declaration came or went, and the program is small.",
    "text": "Re-checked by the last check: its body changed.",
    "callee": "Re-checked by the last check: {other}, which it calls, behaves differently.",
    "summary": "Re-checked by the last check: {other}, which it calls, behaves differently.",
    "argument": "Re-checked by the last check: {other} calls it with something that was not passed before.",
    "start": "Re-checked by the last check: the program begins differently.",
    "together": "Re-checked by the last check: it is recursive with a function that was re-checked.",
    "rule": "Re-checked by the last check: a rule that matters to it changed.",
}
_WHOLE: tuple[RecheckReason, ...] = ("scratch", "small")


class Recheck(NamedTuple):
    """The last look at a function: in which check, at which version of its document (None if it was not open), and why."""

    generation: int
    version: int | None
    reason: RecheckReason
    other: str


class Rechecks:
    """The last look at each function, by path and name."""

    def __init__(self, documents: OpenDocuments) -> None:
        self._documents = documents
        self._last: dict[tuple[str, str], Recheck] = {}

    def note(self, done: CheckDone) -> None:
        """Takes over what a check looked at."""
        anew = {os.path.abspath(item.path) for item in done.rechecked if item.reason in _WHOLE}
        if anew:  # with all functions that there are
            self._last = {key: last for key, last in self._last.items() if key[0] not in anew}
        for item in done.rechecked:
            path = os.path.abspath(item.path)
            document = self._documents.at_path(path)
            version = document.version_at(done.generation) if document is not None else None
            self._last[path, item.function] = Recheck(done.generation, version, item.reason, item.other)

    def describe(self, function: FunctionReport, shown: str, last_check: CheckDone) -> str:
        """What the last check did with a function, in one sentence; `shown` is the path of the document that is looked at."""
        path = os.path.abspath(function.place.path)
        last = self._last.get((path, function.name))
        if last is None:  # no check of this server's time looked at it: what is known was in the store
            return "Not touched by the last check: known from an earlier session."
        if last.generation == last_check.generation:
            return _WHY[last.reason].format(other=f"`{last.other}`" if last.other else "something")
        if last.version is None:
            return "Not touched by the last check: reused since its file was read."
        of = "" if path == shown else f" of {os.path.basename(path)}"
        return f"Not touched by the last check: reused since version {last.version}{of}."
