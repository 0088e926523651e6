"""Takes `safe` back where it rests on an assumption that a confirmed finding shows to be wrong.

A proof may list an assumption that another rule checks (`model.assumptions`: the `rules` of a row). A run that violates that
rule in a function breaks the assumption for it and for all functions that can call it: what happens then is not known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec

from analysis.cfa.callgraph import callers
from analysis.cfa.graph import Program
from analysis.model.assumptions import TABLE
from analysis.model.report import Finding, FunctionReport, RuleVerdict

_CHECKED_BY: Mapping[str, tuple[str, ...]] = {row.sentence: row.rules for row in TABLE if row.kind == "listed" and row.rules}
_CHECKING = frozenset(rule for rules in _CHECKED_BY.values() for rule in rules)


def without_broken(
    functions: Sequence[FunctionReport], reports: Mapping[str, FunctionReport], program: Program, confirmed: Collection[Finding]
) -> tuple[FunctionReport, ...]:
    """The functions, with `unknown` for what is proved under an assumption that one of the confirmed findings breaks.

    `reports` has the functions by linkage name."""
    breaking = [finding for finding in confirmed if finding.rule in _CHECKING]
    if not breaking:
        return tuple(functions)
    names = {(report.place.path, report.name): name for name, report in reports.items()}
    above: dict[tuple[str, str], list[Finding]] = {}
    for finding in breaking:
        for name in _with_callers(program, names.get((finding.place.path, finding.function))):
            if name in reports:
                above.setdefault((reports[name].place.path, reports[name].name), []).append(finding)
    return tuple(_one(function, above.get((function.place.path, function.name), ())) for function in functions)


def _with_callers(program: Program, name: str | None) -> Iterator[str]:
    """A function and all that can call it, directly or not."""
    calling, seen, ahead = callers(program), {name}, [name]
    while ahead:
        now = ahead.pop()
        if now is None:
            continue
        yield now
        found = [caller for caller in calling.get(now, ()) if caller not in seen]
        seen.update(found)
        ahead.extend(found)


def _one(function: FunctionReport, breaking: Collection[Finding]) -> FunctionReport:
    changed = {
        rule: RuleVerdict("unknown", reason, (), verdict.engine, ms=verdict.ms)
        for rule, verdict in function.verdicts.items()
        if verdict.verdict == "safe" and (reason := _reason(verdict, breaking)) is not None
    }
    return msgspec.structs.replace(function, verdicts={**function.verdicts, **changed}) if changed else function


def _reason(verdict: RuleVerdict, breaking: Collection[Finding]) -> str | None:
    """Which assumption of a verdict is broken, and where."""
    for sentence in verdict.assumptions:
        for finding in breaking:
            if finding.rule in _CHECKED_BY.get(sentence, ()):
                where = f"{finding.function}() violates {finding.rule} in line {finding.place.range.start.line}"
                return f"not proved: {where}, and a proof needs that {sentence}"
    return None
