"""The report as text for people: one block a finding, then one line that says what was checked and what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from analysis.model.places import Place
from analysis.model.report import Finding, FunctionReport, Message, Report, TraceStep

_MOST_REASONS = 4


def text_report(report: Report, *, stats: bool = False, known: int = 0) -> str:
    """The whole report; `known` is the number of findings that a baseline withheld."""
    lines: list[str] = []
    for finding in report.findings:
        lines.extend(finding_lines(finding))
        lines.append("")
    if stats or not report.findings:
        lines.extend(_unknown_lines(report))
    if stats:
        lines.extend(_stats_lines(report))
    lines.append(summary_line(report, known=known))
    return "\n".join(lines) + "\n"


def finding_lines(finding: Finding) -> Iterator[str]:
    """A finding and its trace, a step a line."""
    certain = "" if finding.status == "confirmed" else "possible: "
    yield f"{spot(finding.place)}: {finding.severity}: {certain}{finding.message} [{finding.rule}]"
    if finding.reason:
        yield f"  not decided: {finding.reason}"
    for assumption in finding.assumptions:
        yield f"  assuming that {assumption}"
    width = max((len(spot(step.place)) for step in finding.trace), default=0)
    for number, step in enumerate(finding.trace, 1):
        yield _step_line(number, step, width)


def _step_line(number: int, step: TraceStep, width: int) -> str:
    values = "   " + ", ".join(f"{name} = {value}" for name, value in step.values.items()) if step.values else ""
    return f"  {number:>3}. {spot(step.place):<{width}}  {'  ' * step.depth}{step.function}: {step.text}{values}"


def spot(place: Place) -> str:
    """A place as compilers write it: path:line:column."""
    return f"{place.path}:{place.range.start.line}:{place.range.start.column}"


def message_line(message: Message) -> str:
    """A message in one line, for standard error."""
    where = f"{message.path}:{message.line}: " if message.line else f"{message.path}: " if message.path else ""
    return f"{where}{message.severity}: {message.text}"


def summary_line(report: Report, *, known: int = 0) -> str:
    """The last line: it never looks alike for nothing found and nothing checked (DESIGN.md, invariant 10)."""
    functions, rules = len(report.functions), len({rule for f in report.functions for rule in f.verdicts})
    aside = ", ".join(
        part
        for part in (
            f"{report.suppressed} suppressed by comments" if report.suppressed else "",
            f"{known} known from the baseline" if known else "",
            f"{report.refuted} refuted" if report.refuted else "",
        )
        if part
    )
    aside = f" ({aside})" if aside else ""
    if not functions or not rules:
        return f"Nothing was checked: no function in {count(len(report.files), 'file')} could be checked against a rule{aside}."
    scope = f"{count(functions, 'function')} in {count(len(report.files), 'file')} checked against {count(rules, 'rule')}"
    unknown = sum(1 for f in report.functions if _reasons(f))
    rest = f"; {count(unknown, 'function')} not decided" if unknown else ""
    if report.findings:
        return f"{count(len(report.findings), 'finding')}{aside}: {scope}{rest}."
    if report.verdict == "unknown":
        return f"No finding, but not everything is proved{aside}: {scope}{rest}."
    return f"No finding, every function is safe{aside}: {scope}."


def count(number: int, noun: str) -> str:
    """A number with its noun, in the plural where it must be."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _reasons(function: FunctionReport) -> list[str]:
    reasons = [v.reason or "no reason given" for v in function.verdicts.values() if v.verdict == "unknown"]
    return [*reasons, "its present text does not parse"] if function.stale else reasons


def _unknown_lines(report: Report) -> Iterator[str]:
    """Why functions are not decided, the commonest reason first."""
    reasons: Counter[str] = Counter()
    example: dict[str, FunctionReport] = {}
    for function in report.functions:
        for reason in dict.fromkeys(_reasons(function)):
            reasons[reason] += 1
            example.setdefault(reason, function)
    ordered = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    for reason, number in ordered[:_MOST_REASONS]:
        first = example[reason]
        more = f" and {count(number - 1, 'other function')}" if number > 1 else ""
        yield f"not decided: {first.name} ({spot(first.place)}){more}: {reason}"
    if len(ordered) > _MOST_REASONS:
        yield f"not decided: {count(len(ordered) - _MOST_REASONS, 'more reason')}, see --format json"
    if ordered:
        yield ""


def _stats_lines(report: Report) -> Iterator[str]:
    times = msgspec.structs.asdict(report.times)
    yield "time in ms: " + ", ".join(f"{stage} {ms:.1f}" for stage, ms in times.items())
    for name, value in msgspec.structs.asdict(report.work).items():
        if isinstance(value, int):
            yield f"{name.replace('_', ' ')}: {value}"
        else:
            yield f"{name.replace('_', ' ')}: {value.recomputed} computed, {value.reused} reused"
