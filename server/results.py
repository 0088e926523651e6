"""What the checker has said, file by file, kept in step with the text while it is edited.

Positions here are the model's. A result stays until a newer one replaces it; an edit moves it and marks it stale.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec

from analysis.model.places import Place, Position, Range, whole_line
from analysis.model.report import Finding, FunctionReport, Invariant, Message, TraceStep
from analysis.wire import FileResult, Since
from server.client_lines import Edit, moved_place
from server.documents import Document, OpenDocuments

FOUND_ELSEWHERE = "it was found elsewhere, and is being checked here"
REST_UNREAD = "the rest of the program is being read"


class FileState:
    """What is known of one file. `stale` says why it may not hold for the text as it is now, None when it does.

    `reference` says in words what the findings are compared with; `since` what each of them is, by fingerprint, where that is
    known. `revision` grows with each change. What a newer result says again stays the same object, so that it need not be shown
    again."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.held: dict[str, Finding] = {}  # what is said now of findings that were confirmed, until they are decided again
        self.revision = 0
        self.findings: tuple[Finding, ...] = ()
        self.functions: tuple[FunctionReport, ...] = ()
        self.messages: tuple[Message, ...] = ()
        self.stale: str | None = None
        self.is_alone = False  # whether it is only what the file shows by itself
        self.looks_stale = False  # for so long that people should see it
        self.moved = False
        self.reference = ""
        self.since: dict[str, Since] = {}
        self.new = self.older = 0  # of the findings that are shown

    def compare(self, result: FileResult) -> None:
        """Takes over what the findings of a result are."""
        marks = list(zip(result.findings, result.since, strict=False))
        self.reference = result.reference
        self.since = {finding.fingerprint: since for finding, since in marks if since is not None}
        self.new = sum(finding.shown and since == "new" for finding, since in marks)
        self.older = sum(finding.shown and since == "old" for finding, since in marks)

    @property
    def shown(self) -> tuple[Finding, ...]:
        """The findings that are shown; the others are held back."""
        return tuple(finding for finding in self.findings if finding.shown)

    @property
    def unplaced(self) -> tuple[Finding, ...]:
        """The findings of which nothing is left in the text: they are stale, and listed without a place."""
        return tuple(finding for finding in self.shown if finding.place.gone)

    def is_stale(self, finding: Finding) -> bool:
        """Whether a finding may not hold for the text as it is now."""
        return self.stale is not None or self._lasts(finding)

    def fades(self, finding: Finding) -> bool:
        """Whether it is stale for longer than a check takes, so that this is shown."""
        return (self.stale is not None and self.looks_stale) or self._lasts(finding)

    def _lasts(self, finding: Finding) -> bool:
        return finding.fingerprint in self.held or any(f.stale and f.name == finding.function for f in self.functions)

    def is_held(self, function: FunctionReport) -> bool:
        """Whether a finding in a function was confirmed and is being decided again."""
        return any(f.function == function.name and f.fingerprint in self.held for f in self.findings)


class Results:
    """The state of every file that the checker has spoken of."""

    def __init__(self, documents: OpenDocuments) -> None:
        self._documents = documents
        self._files: dict[str, FileState] = {}
        self._program_messages: dict[str, tuple[Message, ...]] = {}

    def state(self, path: str) -> FileState | None:
        """What is known of a file, None when nothing is."""
        return self._files.get(path)

    def states(self) -> list[FileState]:
        """What is known of all files, in the order of their paths."""
        return [self._files[path] for path in sorted(self._files)]

    def messages(self, path: str) -> tuple[Message, ...]:
        """The messages about a file, from its own result and from the last check as a whole, each once."""
        state = self._files.get(path)
        own = state.messages if state else ()
        return own + tuple(m for m in self._program_messages.get(path, ()) if m not in own)

    def finding(self, fingerprint: str) -> Finding | None:
        """The finding with a fingerprint, in whatever file."""
        return next((f for state in self.states() for f in state.findings if f.fingerprint == fingerprint), None)

    def function(self, name: str, path: str) -> tuple[FunctionReport, FileState] | None:
        """A function by its name, of `path` rather than of another file."""
        first = self._files.get(path)
        for state in ([first] if first else []) + self.states():
            for function in state.functions:
                if function.name == name:
                    return function, state
        return None

    def apply(self, result: FileResult) -> FileState | None:
        """Takes over a result. One of an earlier version is moved to the current text and is stale; None when it cannot be."""
        result = _with_absolute_paths(result)
        document = self._documents.at_path(result.path)
        if not _counts(result, document):
            return None
        current = document is None or result.version == document.current_version
        state = self._files.setdefault(result.path, FileState(result.path))
        if result.alone and not state.is_alone and (state.functions or state.findings):
            return None  # more is known, if of an earlier text
        state.is_alone = result.alone and not result.handed_over
        edits = self._edits_since(result)
        new = _same_findings(state.findings, (_moved_finding(finding, edits) for finding in result.findings))
        state.findings, state.held = _held(state, new)
        state.functions = tuple(_moved_function(function, edits) for function in result.functions)
        state.messages = _moved_messages(result.messages, edits)
        state.compare(result)
        state.stale = _why_early(result) if result.alone else None if current else "edited since"
        state.moved = state.looks_stale = False
        state.revision += 1
        return state

    def counted(self, reference: str) -> tuple[int, int]:
        """How many findings are new since a reference, and how many are older, of those that are shown."""
        states = [state for state in self._files.values() if state.reference == reference]
        return sum(state.new for state in states), sum(state.older for state in states)

    def replace_program_messages(self, messages: tuple[Message, ...]) -> list[str]:
        """Takes over the messages of a whole check; answers the files whose messages changed."""
        old = self._program_messages
        self._program_messages = {}
        for message in messages:
            if message.path:
                path = os.path.abspath(message.path)
                located = msgspec.structs.replace(message, path=path)
                self._program_messages[path] = (*self._program_messages.get(path, ()), located)
        paths = sorted({*old, *self._program_messages})
        return [path for path in paths if old.get(path) != self._program_messages.get(path)]

    def edited(self, path: str, edits: list[Edit]) -> None:
        """Moves all that lies in a file through edits of it, and marks what is known of the file stale."""
        moves = {path: edits}
        for state in self._files.values():
            findings = tuple(_moved_finding(finding, moves) for finding in state.findings)
            if any(new is not old for new, old in zip(findings, state.findings, strict=True)):
                state.moved = True
            state.findings = findings
            state.held = {name: _moved_finding(finding, moves) for name, finding in state.held.items()}
        self._move_own(path, moves)

    def _move_own(self, path: str, moves: dict[str, list[Edit]]) -> None:
        state = self._files.get(path)
        if state is not None:
            state.functions = tuple(_moved_function(function, moves) for function in state.functions)
            messages = _moved_messages(state.messages, moves)
            state.moved = state.moved or messages != state.messages
            state.messages = messages
            state.stale = state.stale or "edited since"
            state.revision += 1

    def confirm(self, generation: int) -> list[str]:
        """A check of all that was sent up to `generation` is complete: results that it did not replace still hold.
        Returns the paths of files whose results were stale."""
        confirmed = []
        for state in self.states():
            document = self._documents.at_path(state.path)
            if state.stale is not None and (document is None or document.version_at(generation) == document.current_version):
                state.stale, state.looks_stale = None, False
                state.revision += 1
                confirmed.append(state.path)
        return confirmed

    def mark_stale(self, reason: str) -> None:
        """Marks everything stale: the checker lost it, or no longer stands by it."""
        for state in self._files.values():
            state.stale, state.looks_stale = state.stale or reason, True
            state.revision += 1

    def last(self) -> list[str]:
        """The check takes long: what is stale looks so. Returns the paths of the files for which that is news."""
        found = [state for state in self.states() if state.stale is not None and not state.looks_stale]
        for state in found:
            state.looks_stale = True
        return [state.path for state in found]

    def decided(self) -> list[str]:
        """Provers have said all: what they did not confirm again is no longer confirmed. Returns the paths of files that it
        is news for."""
        found = [state for state in self.states() if state.held]
        for state in found:
            state.findings = tuple(state.held.get(finding.fingerprint, finding) for finding in state.findings)
            state.held = {}
            state.revision += 1
        return [state.path for state in found]

    def forget(self, path: str) -> None:
        """Drops what is known of a file."""
        self._files.pop(path, None)

    def _edits_since(self, result: FileResult) -> dict[str, list[Edit]]:
        """For each open document: the edits since the version that the result was computed from."""
        moves: dict[str, list[Edit]] = {}
        for document in self._documents.open_c():
            path = document.file_path
            version = result.version if path == result.path else document.version_at(result.generation)
            edits = document.edits_since(version) if version is not None else None
            if edits:
                moves[path] = edits
        return moves


def _why_early(result: FileResult) -> str:
    """Why a result is not the last word that came before the program was read."""
    return FOUND_ELSEWHERE if result.handed_over else REST_UNREAD


def _counts(result: FileResult, document: Document | None) -> bool:
    """Whether a result is of a text that leads to the one that is shown. If not, one for that text is on its way."""
    if document is None:
        return result.version is None  # else it was closed since
    if result.version is None or document.version_at(result.generation) is None:
        return False  # of the file on disk, or of an earlier opening: versions start anew with each
    return document.edits_since(result.version) is not None


def _with_absolute_paths(result: FileResult) -> FileResult:
    """The same with the paths that documents are known by; the compiler names headers as it found them."""
    result = msgspec.structs.replace(result, path=os.path.abspath(result.path))
    findings = tuple(
        msgspec.structs.replace(f, place=_absolute(f.place), trace=tuple(_absolute_step(step) for step in f.trace))
        for f in result.findings
    )
    functions = tuple(
        msgspec.structs.replace(
            f,
            place=_absolute(f.place),
            invariants=tuple(msgspec.structs.replace(i, place=_absolute(i.place)) for i in f.invariants),
        )
        for f in result.functions
    )
    messages = tuple(msgspec.structs.replace(m, path=os.path.abspath(m.path)) for m in result.messages)
    return msgspec.structs.replace(result, findings=findings, functions=functions, messages=messages)


def _same_findings(known: tuple[Finding, ...], new: Iterable[Finding]) -> tuple[Finding, ...]:
    """The new findings; a known one, and a known step of one, in the place of an equal one."""
    by_fingerprint = {finding.fingerprint: finding for finding in known}
    return tuple(_same_finding(by_fingerprint.get(finding.fingerprint), finding) for finding in new)


def _held(state: FileState, new: tuple[Finding, ...]) -> tuple[tuple[Finding, ...], dict[str, Finding]]:
    """The new findings, but those that were confirmed and are open now as they were, where they are now; and what is said of
    these. An edit elsewhere has made them uncertain: what shows is not to change until provers have decided."""
    confirmed = {finding.fingerprint: finding for finding in state.findings if finding.status == "confirmed"}
    held = {f.fingerprint: f for f in new if f.fingerprint in confirmed and f.status == "possible" and f.reason is None}
    shown = [msgspec.structs.replace(confirmed[f.fingerprint], place=f.place) if f.fingerprint in held else f for f in new]
    return tuple(shown), held


def _same_finding(known: Finding | None, new: Finding) -> Finding:
    if known is None or known == new:
        return known or new
    steps = tuple(old if old == step else step for old, step in zip(known.trace, new.trace, strict=False))
    return msgspec.structs.replace(new, trace=steps + new.trace[len(steps) :])


def _absolute_step(step: TraceStep) -> TraceStep:
    place = _absolute(step.place)
    return step if place is step.place else msgspec.structs.replace(step, place=place)


_absolute_path = lru_cache(maxsize=10_000)(os.path.abspath)  # the folder of this process stays the same


def _absolute(place: Place) -> Place:
    path = _absolute_path(place.path)
    return place if path == place.path else msgspec.structs.replace(place, path=path)


def _moved_finding(finding: Finding, moves: dict[str, list[Edit]]) -> Finding:
    """The same object when nothing of it moves, as at most keys: this is asked of every finding at each of them."""
    place = _moved(finding.place, moves)
    touched = [index for index, step in enumerate(finding.trace) if step.place.path in moves]
    moved = {index: step for index in touched if (step := _moved_step(finding.trace[index], moves)) is not finding.trace[index]}
    if place is finding.place and not moved:
        return finding
    trace = tuple(moved.get(index, step) for index, step in enumerate(finding.trace)) if moved else finding.trace
    return msgspec.structs.replace(finding, place=place, trace=trace)


def _moved_step(step: TraceStep, moves: dict[str, list[Edit]]) -> TraceStep:
    place = _moved(step.place, moves)
    return step if place is step.place else msgspec.structs.replace(step, place=place)


def _moved_function(function: FunctionReport, moves: dict[str, list[Edit]]) -> FunctionReport:
    place = _moved(function.place, moves)
    invariants = tuple(_moved_invariant(invariant, moves) for invariant in function.invariants)
    if place is function.place and all(new is old for new, old in zip(invariants, function.invariants, strict=True)):
        return function
    return msgspec.structs.replace(function, place=place, invariants=invariants)


def _moved_invariant(invariant: Invariant, moves: dict[str, list[Edit]]) -> Invariant:
    place = _moved(invariant.place, moves)
    return invariant if place is invariant.place else msgspec.structs.replace(invariant, place=place)


def _moved_messages(messages: Sequence[Message], moves: dict[str, list[Edit]]) -> tuple[Message, ...]:
    """The messages whose text is still there."""
    moved = (_moved_message(message, moves) for message in messages)
    return tuple(message for message in moved if message is not None)


def _moved_message(message: Message, moves: dict[str, list[Edit]]) -> Message | None:
    """A message has a line, and perhaps a part of it."""
    if message.line < 1 or message.path not in moves:
        return message
    line, columns = message.line, (message.column, message.end_column)
    if message.column < 1:
        moved = _moved(whole_line(message.path, line), moves)
        return message if moved.range.start.line == line else msgspec.structs.replace(message, line=moved.range.start.line)
    place = Place(message.path, Range(Position(line, columns[0]), Position(line, columns[1])))
    moved = _moved(place, moves)
    start, end = moved.range.start, moved.range.end
    if moved.gone or start.line != end.line:
        return None
    return (
        message
        if moved is place
        else msgspec.structs.replace(message, line=start.line, column=start.column, end_column=end.column)
    )


def _moved(place: Place, moves: dict[str, list[Edit]]) -> Place:
    edits = moves.get(place.path)
    return moved_place(place, place.path, edits) if edits else place
