"""Hover on a function's name, where it is defined or called: what is known of it, and what the last check did."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsprotocol import types

from analysis.model.report import Count, FunctionReport, Repaired, RuleVerdict, SummaryRepair, as_called
from analysis.wire import CheckDone
from server.app import EverproofServer
from server.client_columns import Columns
from server.convert import conditions, overall, reason_here, stale_reason
from server.documents import Document

_NAME = re.compile(r"[^\W\d]\w*")
_ORDER = {"violated": 0, "unknown": 1, "safe": 2}
_CONDITIONAL = "◐"
_SIGNS = {"safe": "✓", "violated": "✗", "unknown": "?"}


def register(server: EverproofServer) -> None:
    """Registers the handler."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        document = server.documents.find(params.text_document.uri)
        found = name_at(document, params.position, server.documents.columns) if document is not None else None
        if document is None or found is None:
            return None
        name, range_ = found
        known = server.results.function(name, document.file_path)
        if known is None:
            return None
        function, state = known
        done = server.last_check
        recheck = server.rechecks.describe(function, document.file_path, done) if done is not None else ""
        text = describe(function, stale_reason(state, function), done, recheck)
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), range_)


def name_at(document: Document, position: types.Position, columns: Columns) -> tuple[str, types.Range] | None:
    """The name at a position and its range."""
    line, column = document.position(position)
    if line >= len(document.lines):
        return None
    text = document.lines[line]
    for match in _NAME.finditer(text):
        if match.start() <= column <= match.end():
            start, end = columns.units(text[: match.start()]), columns.units(text[: match.end()])
            return match.group(), types.Range(types.Position(line, start), types.Position(line, end))
    return None


def describe(function: FunctionReport, stale: str | None, last_check: CheckDone | None, recheck: str = "") -> str:
    """What is known of a function, as Markdown; `recheck` says what the last check did with it."""
    verdict, reason = overall(function)
    is_listed = verdict == "unknown" and bool(function.verdicts)  # below, rule by rule
    why = f" ({reason})" if reason and not is_listed else ""
    needed = conditions(function)
    said = f"{_CONDITIONAL} {needed}" if needed else f"{_SIGNS[verdict]} {verdict}{why}"
    parts = [f"**{function.name}**: {said}"]
    if stale is not None:
        parts.append(f"*Stale: {stale}.*")
    if function.summary:
        parts.append("\n".join(f"- {line}" for line in function.summary))
    parts.append("\n".join([*_verdict_lines(function), *_repair_lines(function)]))
    if function.invariants:
        lines = dict.fromkeys(f"- line {i.place.range.start.line}: `{i.text}`" for i in function.invariants)
        parts.append("Loop invariants:\n" + "\n".join(lines))
    assumptions = sorted({a for v in function.verdicts.values() if not v.certified for a in v.assumptions})
    if assumptions:
        parts.append("Assuming: " + "; ".join(assumptions) + ".")
    if last_check is not None:
        parts.append(recheck)
        parts.append(f"*{work_text(last_check)}*")
    return "\n\n".join(part for part in parts if part)


def _verdict_lines(function: FunctionReport) -> list[str]:
    """One line for all rules with the same verdict for the same reason: what is violated first, what is safe last."""
    groups: dict[tuple[str, str, str | None], list[str]] = {}
    for rule, verdict in sorted(function.verdicts.items(), key=lambda item: (_ORDER[item[1].verdict], item[0])):
        sign, note = _SIGNS[verdict.verdict], _note(verdict, function)
        word: str = verdict.verdict
        if verdict.is_conditional and note is not None:
            sign, word, note = _CONDITIONAL, note, None
        elif verdict.verdict == "safe" and verdict.certified:
            word = "proved"
        groups.setdefault((sign, word, note), []).append(f"`{rule}`")
    return [
        f"- {sign} {word}: {', '.join(rules)}" + (f" ({note})" if note else "") for (sign, word, note), rules in groups.items()
    ]


_REPAIRED: dict[Repaired, str] = {
    "made": "is new",
    "strengthened": "was strengthened",
    "weakened": "was weakened",
    "lost": "was lost: its calls are a part of what calls it",
    "held": "still holds",
    "kept": "did not have to be checked again",
}


def _repair_lines(function: FunctionReport) -> Iterator[str]:
    """What the last change meant for the summaries of the function's calls."""
    groups: dict[SummaryRepair, list[str]] = {}
    for rule, verdict in sorted(function.verdicts.items()):
        if verdict.repair is not None:
            groups.setdefault(verdict.repair, []).append(f"`{rule}`")
    for repair, rules in groups.items():
        if repair.what in ("made", "kept"):
            yield f"- Summary within bound {repair.bound} for {', '.join(rules)}: {_REPAIRED[repair.what]}"
            continue
        calls = f"{repair.above} calls" if repair.above > 1 else "1 call" if repair.above else "nothing"
        above = f"{calls} above it {'were' if repair.above > 1 else 'was'} checked again"
        yield f"- Summary within bound {repair.bound} for {', '.join(rules)}: {_REPAIRED[repair.what]}; {above}"


def _note(verdict: RuleVerdict, function: FunctionReport) -> str | None:
    """Why the verdict is unknown, or which assumptions a proof rests on."""
    if verdict.verdict != "safe" or not verdict.certified:
        return reason_here(verdict, function)
    assumed = f"; assuming: {'; '.join(verdict.assumptions)}" if verdict.assumptions else ""
    called = f", {as_called(verdict.entries)}" if verdict.entries and function.name not in verdict.entries else ""
    return f"by the {verdict.engine} engine{called}, its certificate was accepted{assumed}"


def work_text(done: CheckDone) -> str:
    """What the last check did and what it took over, in one sentence."""
    counts = [
        ("functions", "lowered", done.work.functions),
        ("configurations", "computed", done.work.configurations),
        ("derivations", "computed", done.work.derivations),
    ]
    parts = [f"{name} {count.recomputed} {verb}, {count.reused} reused" for name, verb, count in counts if count != Count()]
    return f"Last check: {'; '.join(parts) or 'nothing to do'}; {done.times.total:.0f} ms."
