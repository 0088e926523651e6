"""Hover on a function's name, where it is defined or called: what is known of it, and what the last check did. And on a finding:
whether it is new since the reference, and which edit has introduced it."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator, Sequence

import msgspec
from lsprotocol import types

from analysis.model.report import Finding, FunctionReport, Repaired, RuleVerdict, SummaryRepair, as_called
from analysis.wire import CheckDone, ContractText
from server.app import EverproofServer
from server.client_columns import Columns
from server.contract_markdown import contract_markdown
from server.convert import conditions, is_passed_over, reason_here, stale_reason, standing, violated_rules
from server.documents import Document
from server.features.introduced import findings_hover
from server.proof_words import BROKEN, broken, recheck_words, rechecked, reuse_texts

PATIENCE = 0.8  # seconds that a hover waits for the checker
_NAME = re.compile(r"[^\W\d]\w*")
_CONDITIONAL = "◐"
_SIGNS = {"confirmed": "✗", "possible": "⚠", "proved": "✓", "unknown": "?", "held back": "?"}
_ORDER = ("confirmed", "possible", "held back", "unknown", "proved")
_QUIET = ("unknown", "held back")  # nobody reads these unless they were asked for


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
    findings, is_all = state.findings, server.settings.show_unknown
    if contract is None:
        recheck = server.rechecks.describe(function, document.file_path, done) if done is not None else ""
        return describe(function, stale, done, recheck, findings=findings, show_unknown=is_all)
    news = server.contract_news.of(function.place.path, function.name, done)
    change = news[0].text if news is not None and news[1] and stale is None else ""
    link = "" if is_definition else _link(server, function)
    shown = contract_markdown(contract, link, change)
    if not is_definition:
        return "\n\n".join([shown, *_first_lines(function, stale, findings, show_unknown=is_all)])
    recheck = server.rechecks.describe(function, document.file_path, done) if done is not None else ""
    beside = msgspec.structs.replace(function, summary=())
    return "\n\n".join([shown, "---", describe(beside, stale, done, recheck, findings=findings, show_unknown=is_all)])


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


def describe(
    function: FunctionReport,
    stale: str | None,
    last_check: CheckDone | None,
    recheck: str = "",
    *,
    findings: Sequence[Finding] = (),
    show_unknown: bool = False,
) -> str:
    """What is known of a function, as Markdown; `recheck` says what the last check did with it, `findings` are those of its file.
    What is not known is said where that is asked for."""
    parts = _first_lines(function, stale, findings, show_unknown=show_unknown) or [f"**{function.name}**"]
    if function.summary:
        parts.append("\n".join(f"- {line}" for line in function.summary))
    parts.append("\n".join([*_verdict_lines(function, findings, show_unknown=show_unknown), *_proof_lines(function)]))
    parts.append("\n".join(_assumed(function)))
    if function.invariants:
        lines = dict.fromkeys(f"- line {i.place.range.start.line}: `{i.text}`" for i in function.invariants)
        parts.append("Loop invariants:\n" + "\n".join(lines))
    if last_check is not None:
        parts.append(recheck)
        parts.append(f"*{work_text(last_check)}*")
    return "\n\n".join(part for part in parts if part)


def _first_lines(function: FunctionReport, stale: str | None, findings: Sequence[Finding], *, show_unknown: bool) -> list[str]:
    """What is known over all rules, and whether it is of the text as it is. Nothing where nothing is known."""
    word = standing(function, findings)
    needed, lost = conditions(function), ", ".join(broken(function))
    if word == "unknown" and not needed and rechecked(function):
        return [f"**{function.name}**: ↻ {recheck_words(function)}", *([] if stale is None else [f"*Stale: {stale}.*"])]
    if word == "unknown" and not needed and lost:
        return [f"**{function.name}**: ? {BROKEN}: {lost}", *([] if stale is None else [f"*Stale: {stale}.*"])]
    if word == "unknown" and not needed and not show_unknown:
        return [] if stale is None else [f"**{function.name}**", f"*Stale: {stale}.*"]
    confirmed, possible, _ = violated_rules(function, findings)
    rules = {"confirmed": confirmed, "possible": possible}.get(word, [])
    said = f"{_CONDITIONAL} {needed}" if needed else f"{_SIGNS[word]} {word}" + (f": {', '.join(rules)}" if rules else "")
    said += f" · ? {BROKEN}: {lost}" if lost else ""
    return [f"**{function.name}**: {said}", *([] if stale is None else [f"*Stale: {stale}.*"])]


def _verdict_lines(function: FunctionReport, findings: Sequence[Finding], *, show_unknown: bool) -> list[str]:
    """One line for all rules of which the same is known for the same reason: what is wrong first, what is proved last."""
    words, said = _rule_words(function, findings), standing(function, findings)
    groups: dict[tuple[str, str, str | None], list[str]] = {}
    for rule, verdict in sorted(function.verdicts.items(), key=lambda item: (_ORDER.index(words[item[0]]), item[0])):
        word = words[rule]
        note = None if word == "possible" else _note(verdict, function)  # the finding says more
        sign = _SIGNS[word]
        if note is None and word == said and word in ("confirmed", "possible"):
            continue  # the first line has them
        holds_within = verdict.within is not None and verdict.within.holds and word == "unknown"
        if (verdict.is_conditional or holds_within) and note is not None:
            sign, word, note = _CONDITIONAL, note, None
        elif verdict.rechecked:
            continue  # it has a line of its own
        elif word in _QUIET and (not show_unknown or is_passed_over(verdict, function)):
            continue
        groups.setdefault((sign, word, note), []).append(f"`{rule}`")
    return [
        f"- {sign} {word}: {', '.join(rules)}" + (f" ({note})" if note else "") for (sign, word, note), rules in groups.items()
    ]


def _rule_words(function: FunctionReport, findings: Sequence[Finding]) -> dict[str, str]:
    """What is said of each rule. What is safe without a certificate is not called proved."""
    words = {rule: "proved" if verdict.certified else "unknown" for rule, verdict in function.verdicts.items()}
    for word, rules in zip(("confirmed", "possible", "held back"), violated_rules(function, findings), strict=True):
        words |= dict.fromkeys(rules, word)
    return words


def _assumed(function: FunctionReport) -> Iterator[str]:
    """What the proofs rest on, each once; with the rules, where it is not all that are proved."""
    rules: dict[str, list[str]] = {}
    proved = [(rule, verdict) for rule, verdict in sorted(function.verdicts.items()) if verdict.certified]
    for rule, verdict in proved:
        for assumption in verdict.assumptions:
            rules.setdefault(assumption, []).append(f"`{rule}`")
    if rules:
        yield "Assumed, not proved:"
    for assumption, resting in rules.items():
        yield f"- {assumption}" + (f" (for {', '.join(resting)})" if len(resting) < len(proved) else "")


_REPAIRED: dict[Repaired, str] = {
    "made": "is new",
    "strengthened": "was strengthened",
    "weakened": "was weakened",
    "lost": "was lost: its calls are checked together with what calls it",
    "held": "still holds",
    "kept": "did not have to be checked again",
}


def _proof_lines(function: FunctionReport) -> Iterator[str]:
    """What the last edit meant for proofs, and for summaries."""
    again = rechecked(function)
    if again:
        yield f"- ↻ {recheck_words(function)}: {', '.join(f'`{rule}`' for rule in again)}"
    for texts in (broken(function), reuse_texts(function)):
        for text in dict.fromkeys(texts.values()):
            yield f"- {', '.join(f'`{rule}`' for rule, said in texts.items() if said == text)}: {text}"
    yield from _repair_lines(function)


def _repair_lines(function: FunctionReport) -> Iterator[str]:
    """What the last change meant for the summaries of the function's calls."""
    groups: dict[SummaryRepair, list[str]] = {}
    for rule, verdict in sorted(function.verdicts.items()):
        if verdict.repair is not None:
            groups.setdefault(verdict.repair, []).append(f"`{rule}`")
    for repair, rules in groups.items():
        if repair.what in ("made", "kept") or function.name == "main":  # nothing is above it
            yield f"- Summary within bound {repair.bound} for {', '.join(rules)}: {_REPAIRED[repair.what]}"
            continue
        calls = f"{repair.above} calls that lead" if repair.above > 1 else f"{'1' if repair.above else 'no'} call that leads"
        above = f"{calls} to it {'were' if repair.above > 1 else 'was'} checked again"
        yield f"- Summary within bound {repair.bound} for {', '.join(rules)}: {_REPAIRED[repair.what]}; {above}"


def _note(verdict: RuleVerdict, function: FunctionReport) -> str | None:
    """Why the verdict is unknown, or how it is known; what proofs rest on is said for all together (`_assumed`)."""
    if verdict.verdict == "violated":
        return f"assuming: {'; '.join(verdict.assumptions)}" if verdict.assumptions else reason_here(verdict, function)
    if verdict.verdict != "safe" or not verdict.certified:
        return reason_here(verdict, function)
    called = f"{as_called(verdict.entries)}, " if verdict.entries and function.name not in verdict.entries else ""
    return f"{called}by the {verdict.engine} engine; the proof was checked"


def work_text(done: CheckDone) -> str:
    """How long the last check took, and how many functions of the program it looked at again, in one sentence."""
    count = done.work.functions
    again = f", {count.recomputed} of {count.recomputed + count.reused} functions looked at again" if count.recomputed else ""
    return f"Last check: {done.times.total:.0f} ms{again}."
