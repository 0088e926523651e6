"""From the model to the protocol: places, findings, functions, in the client's units. The only module that makes diagnostics."""

from __future__ import annotations

import os
import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from copy import copy
from functools import lru_cache
from importlib.resources import files
from typing import Literal, NamedTuple

from lsprotocol import types
from pygls.uris import from_fs_path

from analysis.model.file_reading import UnreadableError, read_file
from analysis.model.limits import Limits
from analysis.model.places import Place, Position
from analysis.model.report import IF_KEPT, LIKELY, Finding, FunctionReport, Message, RuleVerdict, TraceStep, Verdict
from analysis.model.settings import REFERENCE_NAMES, SESSION_START, Faint
from analysis.wire import Since
from server.ci_findings import PlacedFinding
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


class Mark(NamedTuple):
    """What a finding is since the reference, which words name; None if that is not known. `edit`: the number of the edit that has
    introduced it, 0 for none of this session, None where it is not known; `version` is what that edit made of its document.
    `in_ci`: whether the CI has it, None if no report of it is open."""

    since: Since | None = None
    reference: str = ""
    edit: int | None = None
    version: int | None = None
    in_ci: bool | None = None


Marking = Callable[[FileState, Finding], Mark]


def _unmarked(_state: FileState, _finding: Finding) -> Mark:
    return Mark()


class _Signs(NamedTuple):
    """How a finding is shown: stale, faded, new or older."""

    stale: bool
    fades: bool
    mark: Mark


class _Shown(NamedTuple):
    """A finding and what was made of it and, in their order, of the steps that explain it."""

    finding: Finding
    signs: _Signs
    diagnostic: types.Diagnostic
    steps: list[types.DiagnosticRelatedInformation]


class Converter:
    """Converts what lies in files of the workspace, open or on disk."""

    def __init__(
        self, documents: OpenDocuments, mark: Callable[[FileState, Finding], Mark] = lambda _state, _finding: Mark()
    ) -> None:
        self._documents = documents
        self._mark = mark
        self.faint: Faint = "information"
        self.session_is_asked = False  # or only what is compared with where there is no commit
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
        told = list(results.messages(path) if messages is None else messages)
        found: list[types.Diagnostic] = []
        if state is not None:
            found += _with_missing_reasons(state, self._findings(state), told)
            if unknown_hints:
                found += [self._unknown(function, state.stale is not None) for function in state.functions if _unknowns(function)]
        return sorted([*map(self._message, told), *found], key=_order)

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
            known = before.get(finding.fingerprint)
            signs = _Signs(state.is_stale(finding), state.fades(finding), self._mark(state, finding))
            same = known is not None and known.finding is finding and known.signs == signs
            now.append(known if known is not None and same else self._finding(finding, known, signs))
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

    def _finding(self, finding: Finding, known: _Shown | None, signs: _Signs) -> _Shown:
        before = () if known is None else zip(_placed(known.finding), known.steps, strict=True)
        steps = {id(step): shown for step, shown in before}
        related = [steps.get(id(step)) or self._related(step) for step in _placed(finding)]
        page = rule_page(finding.rule)
        diagnostic = types.Diagnostic(
            range=self.range(finding.place),
            message=message_of(finding),
            severity=_severity(finding, self._faintness(signs.mark)),
            code=finding.rule,
            code_description=types.CodeDescription(page) if page else None,
            source=SOURCE,
            related_information=related or None,
            tags=[types.DiagnosticTag.Unnecessary] if signs.fades and self.has_tags else None,
            data=_data(finding, signs.stale, signs.mark),
        )
        return _Shown(finding, signs, diagnostic, related)

    def _faintness(self, mark: Mark) -> Faint | None:
        """How a finding is shown that is older than the reference; None if it is shown as others."""
        return self.faint if mark.since == "old" and not self.is_fallback(mark.reference) else None

    def is_fallback(self, reference: str) -> bool:
        """Whether findings are compared with the start of the session because there is no commit. Nobody has asked for that:
        what was there at the start is shown as what is new."""
        return reference == REFERENCE_NAMES[SESSION_START] and not self.session_is_asked

    def _related(self, step: TraceStep) -> types.DiagnosticRelatedInformation:
        return types.DiagnosticRelatedInformation(self.location(step.place), step_text(step))

    def from_ci(self, placed: PlacedFinding) -> types.Diagnostic:
        """What the CI has found, and is not found here."""
        finding = placed.finding
        page = rule_page(finding.rule)
        return types.Diagnostic(
            range=self.range(placed.place),
            message=f"from CI, not found here (any more): {finding.message}",
            severity=types.DiagnosticSeverity.Hint,
            code=finding.rule,
            code_description=types.CodeDescription(page) if page else None,
            source=SOURCE,
            data={"status": "ci", "stale": False, "ci": finding.fingerprint},  # no finding of ours: it has no trace here
        )

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


def _with_missing_reasons(
    state: FileState, diagnostics: list[types.Diagnostic], messages: list[Message]
) -> list[types.Diagnostic]:
    """The diagnostics of the findings; what a comment beside one lacks to suppress it becomes a part of that one, and is
    taken out of the messages: it is one problem."""
    missing = {(message.unreasoned, message.line): message for message in messages if message.unreasoned}
    if not missing:
        return diagnostics
    placed = [finding for finding in state.shown if not finding.place.gone]
    shown = []
    for finding, diagnostic in zip(placed, diagnostics, strict=True):
        line = finding.place.range.start.line
        message = missing.get((finding.rule, line)) or missing.get((finding.rule, line - 1))
        if message is not None and message.path == finding.place.path:
            diagnostic = copy(diagnostic)
            diagnostic.message += f"\n{message.text}"
            if message in messages:
                messages.remove(message)
        shown.append(diagnostic)
    return shown


def _placed(finding: Finding) -> list[TraceStep]:
    """The steps that explain a finding and are still in the text."""
    return [step for step in finding.explanation if not step.place.gone]


def _severity(finding: Finding, faint: Faint | None) -> types.DiagnosticSeverity:
    if faint is not None:
        is_hint = faint == "hint" or finding.score < LIKELY
        return types.DiagnosticSeverity.Hint if is_hint else types.DiagnosticSeverity.Information
    if finding.status == "confirmed":
        return types.DiagnosticSeverity.Error
    return types.DiagnosticSeverity.Warning if finding.score >= LIKELY else types.DiagnosticSeverity.Hint


def _data(finding: Finding, stale: bool, mark: Mark) -> dict[str, object]:
    """What a diagnostic carries for clients that know of it: docs/protocol.md."""
    data: dict[str, object] = {"fingerprint": finding.fingerprint, "status": finding.status, "stale": stale}
    data["score"] = finding.score
    data["reasons"] = list(finding.reasons)
    if finding.reason is not None:
        data["reason"] = finding.reason
    if finding.assumptions:
        data["assumptions"] = list(finding.assumptions)
    data["since"] = mark.since or "unknown"
    if mark.since is not None:
        data["reference"] = mark.reference
    if mark.in_ci is not None:
        data["inCi"] = mark.in_ci
    if mark.edit is not None:
        data["introduced"] = {"edit": mark.edit, "version": mark.version}
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
    return verdict.reason and here(verdict.reason, function)


def here(text: str, function: FunctionReport) -> str:
    """A text as it is read beside a function: a place in its file is a line."""
    path = re.escape(function.place.path)
    return re.sub(rf"(?<![\w/.-]){path}:(\d+)", r"line \1", text)


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
        return "does not parse now; this is about its last text that did"
    return "it is being decided again" if state.is_held(function) else None
