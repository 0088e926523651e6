"""The report as text for people: one block a finding, then one line that says what was checked and what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from analysis.cli.repeated_steps import repetitions
from analysis.engines.automaton.report.answers import UNASKED
from analysis.model.places import Place
from analysis.model.report import (
    IF_KEPT,
    Finding,
    FunctionReport,
    Message,
    ProofReuse,
    Report,
    SummaryWork,
    TraceStep,
    Within,
    as_called,
    other_runs,
)

_MOST_REASONS = 4
_MOST_NAMED = 12  # functions of which one line says that they are proved


def text_report(report: Report, *, stats: bool = False, known: int = 0) -> str:
    """The whole report; `known` is the number of findings that a baseline withheld."""
    lines: list[str] = []
    for finding in report.shown:
        lines.extend(finding_lines(finding))
        lines.append("")
    if any(len(finding.explanation) < len(finding.trace) for finding in report.shown):
        lines += ["The steps are those that explain a finding: --trace whole prints all.", ""]
    lines.extend(_refuted_lines(report))
    lines.extend(_proved_lines(report))
    lines.extend(_within_lines(report, stats=stats))
    if stats or not report.shown:
        lines.extend(_unknown_lines(report))
    if stats:
        lines.extend(_stats_lines(report))
    lines.append(summary_line(report, known=known))
    return "\n".join(lines) + "\n"


def finding_lines(finding: Finding) -> Iterator[str]:
    """A finding and the steps that explain it, a step a line."""
    certain = "" if finding.status == "confirmed" else "possible: "
    yield f"{spot(finding.place)}: {finding.severity}: {certain}{finding.said} [{finding.rule}]"
    if finding.reasons:
        yield f"  score {finding.score} of 100: {'; '.join(finding.reasons)}"
    if finding.reason:
        yield f"  not decided: {finding.reason}"
    for assumption in finding.assumptions:  # a sentence, or what an external function does
        yield f"  assumed: {assumption}"
    steps = finding.explanation
    width = max((len(spot(step.place)) for step in steps), default=0)
    top = min((step.depth for step in steps), default=0)
    for first, length, times in repetitions(steps):
        for number in range(first, first + length):
            yield _step_line(number + 1, steps[number], width, top)
        if times > 1:
            yield f"       ... {f'these {length} steps' if length > 1 else 'this step'} {count(times - 1, 'more time')}"


def _step_line(number: int, step: TraceStep, width: int, top: int) -> str:
    values = "   " + ", ".join(f"{name} = {value}" for name, value in step.values.items()) if step.values else ""
    return f"  {number:>3}. {spot(step.place):<{width}}  {'  ' * (step.depth - top)}{step.function}: {step.text}{values}"


def spot(place: Place) -> str:
    """A place as compilers write it: path:line:column."""
    return f"{place.path}:{place.range.start.line}:{place.range.start.column}"


def message_line(message: Message) -> str:
    """A message in one line, for standard error."""
    where = f"{message.path}:{message.line}: " if message.line else f"{message.path}: " if message.path else ""
    return f"{where}{message.severity}: {message.text}"


def summary_line(report: Report, *, known: int = 0) -> str:
    """The last line: "nothing found" and "nothing checked" never look alike (invariant I15)."""
    rules = len({rule for f in report.functions for rule in f.verdicts})
    aside = _aside(report, known)
    if not report.functions or not rules:
        return f"Nothing was checked: no function in {count(len(report.files), 'file')} could be checked against a rule{aside}."
    nowhere = len(_without_place(report))
    scope = f"{count(len(report.functions), 'function')} in {count(len(report.files), 'file')}"
    scope += f" checked against {count(rules, 'rule')}" + (f", {nowhere} of which nothing could violate" if nowhere else "")
    if report.findings:
        found = count(len(report.shown), "finding") if report.shown else "No finding is shown"
        return f"{found}{aside}: {scope}{_undecided(report)}."
    if report.verdict == "unknown" and nowhere == rules:
        return f"No finding, but nothing to prove either{aside}: {scope}."
    if report.verdict == "unknown":
        return f"No finding, but not everything is proved{aside}: {scope}{_undecided(report)}."
    apart = sum(1 for f in report.functions if any(verdict.unreached for verdict in f.verdicts.values()))
    if apart:
        others = f"{count(apart, 'function')} not reached"
        return f"No finding, every function that an entry leads to is safe{aside}: {scope}; {others}."
    entries = _proved_from(report)
    called = f" {as_called(entries)}" if entries else ""
    return f"No finding, every function is safe{called}{aside}: {scope}."


def _aside(report: Report, known: int) -> str:
    """The findings that are not shown, in parentheses; empty if there are none."""
    parts = []
    if report.held_back:
        parts.append(f"{report.held_back} held back as less likely: --show all")
    if report.suppressed:
        parts.append(f"{report.suppressed} suppressed by comments")
    if known:
        parts.append(f"{known} known from the baseline")
    if report.refuted:
        parts.append(f"{report.refuted} refuted")
    return f" ({', '.join(parts)})" if parts else ""


def _undecided(report: Report) -> str:
    """How many functions are not decided, beside how many are proved for some rule; empty if all are decided. Those of which
    nothing is known but that no prover was asked are not counted."""
    unknown, is_unasked = _unknown(report)
    present = [f for f in report.functions if not f.stale]
    proved = sum(1 for f in present if any(v.verdict == "safe" for v in f.verdicts.values()))
    kept = sum(1 for f in present if any(v.is_conditional for v in f.verdicts.values()))
    parts = [f"{count(proved, 'function')} proved for some rule"] if proved and (unknown or kept) else []
    if kept:
        parts.append(f"{count(kept, 'function')} safe for some rule if callers keep what the verdict names")
    if unknown:
        parts.append(f"{count(unknown, 'function')} not decided" + (" for some rule" if parts else ""))
    if is_unasked and not proved:
        parts.append("no prover was asked about the others" if unknown else "no prover was asked")
    return "".join(f"; {part}" for part in parts)


def _unknown(report: Report) -> tuple[int, bool]:
    """How many functions have a reason to be unknown besides that no prover was asked; and whether others have that one."""
    reasons = [[reason for reason in _reasons(f) if not reason.startswith(IF_KEPT)] for f in report.functions]
    others = [mine for mine in reasons if UNASKED.issuperset(mine)]
    return len(reasons) - len(others), any(others)


def count(number: int, noun: str) -> str:
    """A number with its noun, in the plural where it must be."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _without_place(report: Report) -> list[str]:
    """The rules that nothing in any of the functions could violate."""
    rules = {rule for function in report.functions for rule in function.verdicts}
    others = {rule for function in report.functions for rule, v in function.verdicts.items() if not v.no_place or function.stale}
    return sorted(rules - others)


def _reasons(function: FunctionReport) -> dict[str, list[str]]:
    """The reasons why verdicts are unknown, each with its rules."""
    reasons: dict[str, list[str]] = {}
    for rule, verdict in function.verdicts.items():
        if verdict.verdict == "unknown" and not verdict.no_place and not (verdict.within and verdict.within.holds):
            reasons.setdefault(verdict.reason or "no reason given", []).append(rule)
    if function.stale:
        reasons["its present text does not parse"] = []
    return reasons


def _refuted_lines(report: Report) -> Iterator[str]:
    """What the findings that went away rest on."""
    if report.refuted and report.refuted_under:
        yield f"refuted: {count(report.refuted, 'possible finding')}"
        for assumption in report.refuted_under:
            yield f"  assuming that {assumption}"
        yield ""


class _ProvedBlock(NamedTuple):
    """What one line says is proved of some functions, by number: by what, which remark there is, what it rests on, and how the
    functions are called."""

    numbers: tuple[int, ...]
    by: str
    remark: str
    assumptions: tuple[str, ...]
    called: str


def _proved_lines(report: Report) -> Iterator[str]:
    """What is proved, with where the certificate is, and what it rests on: each assumption once, though most proofs rest on the
    same ones. Rules of which the same is to be said share a line."""
    blocks = _proved_blocks(report)
    numbers = {one: number for number, one in enumerate(dict.fromkeys(one for block in blocks for one in block.assumptions), 1)}
    is_many = len(blocks) > 1
    for block, rules in blocks.items():
        under = ", ".join(str(number) for one, number in numbers.items() if one in block.assumptions)
        assumed = f", assuming {under} below" if under and is_many else ""
        functions = _all_of([report.functions[number] for number in block.numbers])
        remark = f": {block.remark}" if block.remark else ""
        yield f"proved: {functions}{block.called}: no {', '.join(rules)} ({block.by}){assumed}{remark}"
    if is_many and numbers:
        yield "these proofs assume:"
    yield from (f"  {number}. {one}" if is_many else f"  assuming that {one}" for one, number in numbers.items())
    nowhere = _without_place(report)
    if nowhere:
        yield f"nothing to prove: nothing in the program could violate {', '.join(nowhere)}"
    if blocks or nowhere:
        yield ""


def _proved_blocks(report: Report) -> dict[_ProvedBlock, list[str]]:
    """The lines about proofs, each with its rules."""
    proved: dict[tuple[str, str, tuple[str, ...], tuple[str, ...], str | None, str | None], list[int]] = {}
    for number, function in enumerate(report.functions):
        for rule, verdict in function.verdicts.items():
            if verdict.verdict == "safe" and not function.stale:
                key = rule, verdict.engine, verdict.assumptions, verdict.entries, verdict.certificate, verdict.reason
                proved.setdefault(key, []).append(number)
    blocks: dict[_ProvedBlock, list[str]] = {}
    for (rule, engine, assumptions, entries, certificate, note), numbers in sorted(proved.items(), key=lambda item: item[0][0]):
        by = f"{engine}, certificate in {certificate}" if certificate is not None else engine
        below = entries and any(report.functions[number].name not in entries for number in numbers)
        called = f", {as_called(entries)}" if below else ""
        blocks.setdefault(_ProvedBlock(tuple(numbers), by, note or "", assumptions, called), []).append(rule)
    return blocks


def _within_lines(report: Report, *, stats: bool) -> Iterator[str]:
    """What holds of the runs within a bound, of the program as a whole."""
    found: dict[tuple[Within, tuple[str, ...]], dict[str, None]] = {}
    for function in report.functions:
        for rule, verdict in function.verdicts.items():
            if verdict.within is not None and verdict.within.holds and not function.stale:
                found.setdefault((verdict.within, verdict.assumptions), {})[rule] = None
    for (within, assumptions), rules in found.items():
        others = other_runs(complete=within.complete)
        yield f"within bound {within.bound}: no run violates {', '.join(rules)} (summary, {within.level}); {others}"
        for assumption in assumptions:
            yield f"  assuming that {assumption}"
        if stats:
            yield f"  calls: {within.calls}, {within.summaries} with a summary"
    if found:
        yield ""


def _proved_from(report: Report) -> list[str]:
    """The entries that proofs of other functions are about."""
    proved = ((f.name, verdict.entries) for f in report.functions for verdict in f.verdicts.values() if verdict.verdict == "safe")
    return sorted({entry for name, entries in proved if name not in entries for entry in entries})


def _all_of(functions: Sequence[FunctionReport]) -> str:
    """The functions, each with its place, as far as a line should say."""
    named = [f"{one.name} ({spot(one.place)})" for one in functions]
    if len(named) > _MOST_NAMED:
        named[_MOST_NAMED - 1 :] = [f"{count(len(named) - _MOST_NAMED + 1, 'other function')} (--format json names them)"]
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"


def _first_of(functions: Sequence[FunctionReport]) -> str:
    more = f" and {count(len(functions) - 1, 'other function')}" if len(functions) > 1 else ""
    return f"{functions[0].name} ({spot(functions[0].place)}){more}"


def _unknown_lines(report: Report) -> Iterator[str]:
    """Why functions are not decided, the commonest reason first; and for which rules, where others are decided. `some of` these
    where a function has the reason for some of them only."""
    functions: dict[str, list[FunctionReport]] = {}
    rules: dict[str, dict[str, None]] = {}
    differ: set[str] = set()
    everything = {rule for function in report.functions for rule in function.verdicts}
    for function in report.functions:
        for reason, about in _reasons(function).items():
            functions.setdefault(reason, []).append(function)
            differ.update((reason,) if rules.get(reason, dict.fromkeys(about)).keys() != set(about) else ())
            rules.setdefault(reason, {}).update(dict.fromkeys(about))
    ordered = sorted(functions, key=lambda reason: (-len(functions[reason]), reason))
    for reason in ordered[:_MOST_REASONS]:
        some = "some of " if reason in differ else ""
        is_partial = rules[reason] and (some or rules[reason].keys() < everything)
        which = f" for {some}{', '.join(rules[reason])}" if is_partial else ""
        yield f"not decided: {_first_of(functions[reason])}{which}: {reason}"
    if len(ordered) > _MOST_REASONS:
        yield f"not decided: {count(len(ordered) - _MOST_REASONS, 'more reason')}, see --format json"
    if ordered:
        yield ""


def reuse_line(work: ProofReuse) -> str:
    """What proofs took from earlier ones."""
    return f"proofs {work.proofs}, assertions {work.valid} of {work.asserted}, lemmas {work.lemmas}"


def summaries_line(work: SummaryWork) -> str:
    """What was done to summaries."""
    return ", ".join(f"{number} {name}" for name, number in msgspec.structs.asdict(work).items())


def _stats_lines(report: Report) -> Iterator[str]:
    times = msgspec.structs.asdict(report.times)
    yield "time in ms: " + ", ".join(f"{stage} {ms:.1f}" for stage, ms in times.items())
    for name, value in msgspec.structs.asdict(report.work).items():
        if isinstance(value, SummaryWork):
            yield f"summaries: {summaries_line(value)}"
        elif isinstance(value, ProofReuse):
            yield f"reused: {reuse_line(value)}"
        elif isinstance(value, int):
            yield f"{name.replace('_', ' ')}: {value}"
        else:
            yield f"{name.replace('_', ' ')}: {value.recomputed} computed, {value.reused} reused"
