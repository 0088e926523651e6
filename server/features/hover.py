"""Hover on a function's name, where it is defined or called: what is known of it, and what the last check did. And on a finding:
whether it is new since the reference, and which edit has introduced it."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator

import msgspec
from lsprotocol import types

from analysis.model.report import Count, FunctionReport, Repaired, RuleVerdict, SummaryRepair, as_called
from analysis.wire import CheckDone, ContractText
from server.app import EverproofServer
from server.client_columns import Columns
from server.contract_markdown import contract_markdown
from server.convert import conditions, overall, reason_here, stale_reason
from server.documents import Document
from server.features.introduced import findings_hover

PATIENCE = 0.8  # seconds that a hover waits for the checker
_NAME = re.compile(r"[^\W\d]\w*")
_ORDER = {"violated": 0, "unknown": 1, "safe": 2}
_CONDITIONAL = "◐"
_SIGNS = {"safe": "✓", "violated": "✗", "unknown": "?"}


def register(server: EverproofServer) -> None:
    """Registers the handler."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        document = server.documents.find(params.text_document.uri)
        if document is None:
            return None
        since = findings_hover(server, document, params.position)
        known = await _function_hover(server, document, params.position)
        if since is None or known is None:
            return since or known
        both = f"{_markdown(since)}\n\n---\n\n{_markdown(known)}"
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, both), known.range)


def _markdown(hover: types.Hover) -> str:
    return hover.contents.value if isinstance(hover.contents, types.MarkupContent) else ""


async def _function_hover(server: EverproofServer, document: Document, position: types.Position) -> types.Hover | None:
    """What is known of the function that is named at a position."""
    found = name_at(document, position, server.documents.columns)
    if found is None:
        return None
    name, range_ = found
    if server.results.function(name, document.file_path) is None and not _is_called(document, range_.end):
        return None
    contract = await _contract(server, document, name)
    text = _text(server, document, range_, name, contract)
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), range_) if text else None


async def _contract(server: EverproofServer, document: Document, name: str) -> ContractText | None:
    """The contract of what a name in a document stands for, in its text as it is now; None if that is not known soon."""
    version = document.current_version
    try:
        contract = await asyncio.wait_for(server.scheduler.contract(document.file_path, name), PATIENCE)
    except TimeoutError:
        return None
    return contract if document.current_version == version else None


def _text(
    server: EverproofServer, document: Document, range_: types.Range, name: str, contract: ContractText | None
) -> str | None:
    """What is known of a function; None if nothing is. What there is to say of its verdicts is said where it is defined."""
    of = contract.path if contract is not None else ""
    known = server.results.function(name, os.path.abspath(of) if of else document.file_path)
    if known is None or (contract is not None and not of):
        return None if contract is None else contract_markdown(contract)
    function, state = known
    stale, done = stale_reason(state, function), server.last_check
    is_definition = function.place.path == document.file_path and server.converter.range(function.place).start == range_.start
    if contract is None:
        recheck = server.rechecks.describe(function, document.file_path, done) if done is not None else ""
        return describe(function, stale, done, recheck)
    news = server.contract_news.of(function.place.path, function.name, done)
    change = news[0].text if news is not None and news[1] and stale is None else ""
    link = "" if is_definition else _link(server, function)
    shown = contract_markdown(contract, link, change)
    if not is_definition:
        first = _first_lines(function, stale)
        return "\n\n".join([shown, *(first if overall(function)[0] != "unknown" or conditions(function) else first[1:])])
    recheck = server.rechecks.describe(function, document.file_path, done) if done is not None else ""
    return "\n\n".join([shown, "---", describe(msgspec.structs.replace(function, summary=()), stale, done, recheck)])


def _link(server: EverproofServer, function: FunctionReport) -> str:
    place = server.converter.location(function.place)
    line = place.range.start.line + 1
    return f"[{os.path.basename(function.place.path)}:{line}]({place.uri}#L{line})"


def _is_called(document: Document, end: types.Position) -> bool:
    """Whether what follows a name makes a call of it."""
    line, column = document.position(end)
    behind = "".join(document.lines[line : line + 2])[column:]
    return behind.lstrip().startswith("(")


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
    parts = _first_lines(function, stale)
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


def _first_lines(function: FunctionReport, stale: str | None) -> list[str]:
    """The verdict over all rules, and whether it is of the text as it is."""
    verdict, reason = overall(function)
    is_listed = verdict == "unknown" and bool(function.verdicts)  # rule by rule, below or at the definition
    why = f" ({reason})" if reason and not is_listed else ""
    needed = conditions(function)
    said = f"{_CONDITIONAL} {needed}" if needed else f"{_SIGNS[verdict]} {verdict}{why}"
    return [f"**{function.name}**: {said}", *([] if stale is None else [f"*Stale: {stale}.*"])]


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
