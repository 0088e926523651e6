"""From the model to the protocol: places, findings, functions, in the client's units. The only module that makes diagnostics."""

from __future__ import annotations

import os
import re
from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Literal, NamedTuple

from lsprotocol import types
from pygls.uris import from_fs_path

from analysis.model.file_reading import UnreadableError, read_file
from analysis.model.limits import Limits
from analysis.model.places import Place, Position
from analysis.model.report import IF_KEPT, LIKELY, Finding, FunctionReport, Message, RuleVerdict, TraceStep, Verdict
from server.client_lines import clamp, content_length, split_lines
from server.documents import OpenDocuments
from server.results import FileState, Results

SOURCE = "everproof"
Standing = Literal["confirmed", "possible", "proved", "unknown"]
"""What people are told of a function: three words, and nothing where nothing is known."""
_FILES_KEPT = 64
_MESSAGE_SEVERITY = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "note": types.DiagnosticSeverity.Information,
}


class _Shown(NamedTuple):
    """A finding and what was made of it and, in their order, of the steps that explain it."""

    finding: Finding
    stale: bool
    fades: bool
    diagnostic: types.Diagnostic
    steps: list[types.DiagnosticRelatedInformation]


class Converter:
    """Converts what lies in files of the workspace, open or on disk."""

    def __init__(self, documents: OpenDocuments) -> None:
        self._documents = documents
        self._columns = documents.columns
        self._on_disk: OrderedDict[tuple[str, int, int], Sequence[str]] = OrderedDict()
        self._shown: dict[str, list[_Shown]] = {}
        self.has_tags = False  # whether the client knows tags of diagnostics

    def lines(self, path: str) -> Sequence[str]:
        """The lines of a file as the user sees them; none of one that cannot be read."""
        document = self._documents.at_path(path)
        return document.lines if document is not None else self._lines_on_disk(path)

    def range(self, place: Place) -> types.Range:
        """A range in the client's units, inside the text."""
        lines = self.lines(place.path)
        return types.Range(self._position(lines, place.range.start), self._position(lines, place.range.end))

    def location(self, place: Place) -> types.Location:
        """A location in the client's units."""
        return types.Location(self._documents.uri_of(place.path), self.range(place))

    def diagnostics(
        self, results: Results, path: str, unknown_hints: bool, messages: Sequence[Message] | None = None
    ) -> list[types.Diagnostic]:
        """All diagnostics of a file, in the order of their places; `messages` are those that are told, all if it is None."""
        state = results.state(path)
        found = [self._message(message) for message in (results.messages(path) if messages is None else messages)]
        if state is not None:
            found += self._findings(state)
            if unknown_hints:
                found += [self._unknown(function, state.stale is not None) for function in state.functions if _unknowns(function)]
        return sorted(found, key=_order)

    def forget_shown(self) -> None:
        """A document was opened or closed, or a file changed on disk: the same places may be others in the client's units."""
        self._shown.clear()

    def _findings(self, state: FileState) -> list[types.Diagnostic]:
        """The findings of a file. What was not moved since it was shown last is not made again, finding or step."""
        before = {shown.finding.fingerprint: shown for shown in self._shown.get(state.path, ())}
        now = []
        for finding in state.shown:
            if finding.place.gone:
                continue
            known, stale, fades = before.get(finding.fingerprint), state.is_stale(finding), state.fades(finding)
            same = known is not None and known.finding is finding and (known.stale, known.fades) == (stale, fades)
            now.append(known if known is not None and same else self._finding(finding, known, stale=stale, fades=fades))
        self._shown[state.path] = now
        return [shown.diagnostic for shown in now]

    def step(self, step: TraceStep) -> dict[str, object]:
        """A step of a trace for clients that show traces themselves."""
        location = self.location(step.place)
        return {
            "uri": location.uri,
            "range": location.range,
            "function": step.function,
            "depth": step.depth,
            "kind": step.kind,
            "text": step.text,
            "values": step.values,
        }

    def _finding(self, finding: Finding, known: _Shown | None, *, stale: bool, fades: bool) -> _Shown:
        before = () if known is None else zip(_placed(known.finding), known.steps, strict=True)
        steps = {id(step): shown for step, shown in before}
        related = [steps.get(id(step)) or self._related(step) for step in _placed(finding)]
        page = rule_page(finding.rule)
        diagnostic = types.Diagnostic(
            range=self.range(finding.place),
            message=message_of(finding),
            severity=_severity(finding),
            code=finding.rule,
            code_description=types.CodeDescription(page) if page else None,
            source=SOURCE,
            related_information=related or None,
            tags=[types.DiagnosticTag.Unnecessary] if fades and self.has_tags else None,
            data=_data(finding, stale),
        )
        return _Shown(finding, stale, fades, diagnostic, related)

    def _related(self, step: TraceStep) -> types.DiagnosticRelatedInformation:
        return types.DiagnosticRelatedInformation(self.location(step.place), step_text(step))

    def _unknown(self, function: FunctionReport, stale: bool) -> types.Diagnostic:
        rules = ", ".join(f"{rule} ({verdict.reason})" for rule, verdict in _unknowns(function))
        return types.Diagnostic(
            range=self.range(function.place),
            message=f"{function.name}: not known for {rules}",
            severity=types.DiagnosticSeverity.Hint,
            code="unknown",
            source=SOURCE,
            data={"status": "unknown", "stale": stale or function.stale},
        )

    def _message(self, message: Message) -> types.Diagnostic:
        lines = self.lines(message.path)
        line = min(max(message.line, 1), max(len(lines), 1))
        text = lines[line - 1] if line <= len(lines) else ""
        start, end = message.column, message.end_column
        if start < 1:
            start, end = len(text) - len(text.lstrip()) + 1, content_length(text) + 1
        return types.Diagnostic(
            range=types.Range(self._position(lines, Position(line, start)), self._position(lines, Position(line, end))),
            message=message.text,
            severity=_MESSAGE_SEVERITY[message.severity],
            code="input",
            source=SOURCE,
        )

    def _position(self, lines: Sequence[str], position: Position) -> types.Position:
        line, column = max(position.line - 1, 0), max(position.column - 1, 0)
        line, column = clamp(lines, line, column)
        return types.Position(line, self._columns.units(lines[line][:column]) if line < len(lines) else 0)

    def _lines_on_disk(self, path: str) -> Sequence[str]:
        """Read as bytes: a file need not be UTF-8. A byte that is not counts as one code point, as everywhere else."""
        try:
            status = os.stat(path)
            key = (path, status.st_mtime_ns, status.st_size)
            if key not in self._on_disk:
                text = read_file(path, Limits().source_bytes)
                self._on_disk[key] = split_lines(text.decode("utf-8", "surrogateescape"))
        except (OSError, ValueError, UnreadableError):
            return ()
        self._on_disk.move_to_end(key)
        while len(self._on_disk) > _FILES_KEPT:
            self._on_disk.popitem(last=False)
        return self._on_disk[key]


def _placed(finding: Finding) -> list[TraceStep]:
    """The steps that explain a finding and are still in the text."""
    return [step for step in finding.explanation if not step.place.gone]


def _severity(finding: Finding) -> types.DiagnosticSeverity:
    if finding.status == "confirmed":
        return types.DiagnosticSeverity.Error
    return types.DiagnosticSeverity.Warning if finding.score >= LIKELY else types.DiagnosticSeverity.Hint


def _data(finding: Finding, stale: bool) -> dict[str, object]:
    """What a diagnostic carries for clients that know of it: docs/protocol.md."""
    data: dict[str, object] = {"fingerprint": finding.fingerprint, "status": finding.status, "stale": stale}
    data["score"] = finding.score
    data["reasons"] = list(finding.reasons)
    if finding.reason is not None:
        data["reason"] = finding.reason
    if finding.assumptions:
        data["assumptions"] = list(finding.assumptions)
    return data


def message_of(finding: Finding) -> str:
    """What a diagnostic says: what is wrong, since when, and why it is not decided."""
    return finding.said if finding.reason is None else f"{finding.said}\nNot decided: {finding.reason}"


def step_text(step: TraceStep) -> str:
    """A step in one line: what is done, the values that drive it, and where it is when it is a call down."""
    values = ", ".join(f"{name} = {value}" for name, value in step.values.items())
    inside = f" (in {step.function})" if step.depth > 0 else ""
    return f"{step.text}{inside}" + (f" [{values}]" if values else "")


@lru_cache(maxsize=1000)
def rule_page(rule: str) -> str | None:
    """The page that explains a shipped rule, in Markdown. None for the user's own rules."""
    if not all(c.isalnum() or c in "-_" for c in rule):
        return None
    page = files("analysis") / "rules" / "pages" / f"{rule}.md"
    path = str(page)
    return from_fs_path(path) if os.path.isfile(path) else None


def overall(function: FunctionReport) -> tuple[Verdict, str | None]:
    """The verdict of a function over all rules, and its reason. Without any rule it is unknown: nothing was checked. Rules that
    nothing in it could violate count only where nothing else is known."""
    verdicts = function.verdicts.items()
    violated = [rule for rule, verdict in verdicts if verdict.verdict == "violated"]
    if violated:
        return "violated", ", ".join(sorted(violated))
    unknown: dict[str, list[str]] = {}
    for rule, verdict in sorted(_unknowns(function)):
        unknown.setdefault(reason_here(verdict, function) or "", []).append(rule)
    if unknown:
        said = [f"{', '.join(rules)}: {reason}" for reason, rules in unknown.items()]
        return "unknown", next(iter(unknown)) if len(unknown) == 1 else "; ".join(said)
    return ("safe", None) if function.verdicts else ("unknown", "no rule was checked")


def standing(function: FunctionReport, findings: Sequence[Finding]) -> Standing:
    """What people are told of a function, given the findings of its file. A finding that is held back is not told, and keeps the
    function from being proved."""
    verdict = overall(function)[0]
    if verdict != "violated":
        return "proved" if verdict == "safe" and proved(function) else "unknown"
    confirmed, possible, _ = violated_rules(function, findings)
    return "confirmed" if confirmed else "possible" if possible else "unknown"


def violated_rules(function: FunctionReport, findings: Sequence[Finding]) -> tuple[list[str], list[str], list[str]]:
    """The rules that a function violates: for which a finding is confirmed, or possible, or all are held back."""
    violated = {rule for rule, verdict in function.verdicts.items() if verdict.verdict == "violated"}
    mine = [finding for finding in findings if finding.function == function.name and finding.rule in violated]
    confirmed = {finding.rule for finding in mine if finding.shown and finding.status == "confirmed"}
    held_back = {finding.rule for finding in mine} - {finding.rule for finding in mine if finding.shown}
    return sorted(confirmed), sorted(violated - confirmed - held_back), sorted(held_back)


def conditions(function: FunctionReport) -> str:
    """What callers have to keep, where nothing else keeps the function from being safe; else empty."""
    unknown = [verdict for _, verdict in _unknowns(function) if not verdict.no_place]
    if overall(function)[0] != "unknown" or not unknown or not all(verdict.is_conditional for verdict in unknown):
        return ""
    kept = dict.fromkeys((reason_here(verdict, function) or "").removeprefix(IF_KEPT) for verdict in unknown)
    return IF_KEPT + " and ".join(kept)


def reason_here(verdict: RuleVerdict, function: FunctionReport) -> str | None:
    """The reason of a verdict, as it is read beside the function: a place in its file is a line."""
    path = re.escape(function.place.path)
    return verdict.reason and re.sub(rf"(?<![\w/.-]){path}:(\d+)", r"line \1", verdict.reason)


def proved(function: FunctionReport) -> list[str]:
    """The rules that are proved, each with an accepted certificate."""
    return sorted(rule for rule, verdict in function.verdicts.items() if verdict.verdict == "safe" and verdict.certified)


def is_passed_over(verdict: RuleVerdict, function: FunctionReport) -> bool:
    """Whether a verdict says only that nothing in the function could violate the rule, while more is known of other rules."""
    return verdict.no_place and any(other.verdict != "unknown" for other in function.verdicts.values())


def _unknowns(function: FunctionReport) -> list[tuple[str, RuleVerdict]]:
    unknown = [(rule, verdict) for rule, verdict in function.verdicts.items() if verdict.verdict == "unknown"]
    return [(rule, verdict) for rule, verdict in unknown if not is_passed_over(verdict, function)]


def _order(diagnostic: types.Diagnostic) -> tuple[int, int, str, str]:
    start = diagnostic.range.start
    return start.line, start.character, str(diagnostic.code), diagnostic.message


def stale_reason(state: FileState, function: FunctionReport) -> str | None:
    """Why a function's verdict may not hold for the text as it is now; None when it does hold."""
    if state.stale is not None:
        return state.stale
    if function.stale:
        return "does not parse now; what is known is of its last good text"
    return "it is being decided again" if state.is_held(function) else None
