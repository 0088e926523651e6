"""What `everproof diff` prints: as text, as JSON, as annotations of a GitHub workflow, and as SARIF with `baselineState` [SARIF]
(section 3.27.24)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from analysis.cli.github_format import annotation, escaped
from analysis.cli.json_format import SCHEMA, encode_json, finding_document
from analysis.cli.sarif_format import sarif_document
from analysis.cli.text_format import count, finding_lines, spot
from analysis.engines.difference.unchanged_functions import Difference
from analysis.model.distribution import everproof_version
from analysis.model.places import Place
from analysis.model.report import Finding, Report
from analysis.model.same_findings import Compared
from analysis.rules.automaton import Rule


class Differing(msgspec.Struct, frozen=True):
    """A function of the new version."""

    name: str
    place: Place
    difference: Difference


class Removed(msgspec.Struct, frozen=True):
    """A function of the old version that the new one no longer has."""

    name: str
    place: Place


class Functions(msgspec.Struct, frozen=True):
    """The functions of two versions, compared: `now` are those of the new version, and `removed` those that it no longer has.
    `unread` are names: of functions of the new version that do not parse, and, where not all of its text could be read, of those
    that are not found in it."""

    now: tuple[Differing, ...]
    removed: tuple[Removed, ...]
    unread: tuple[str, ...]


class Comparison(msgspec.Struct, frozen=True):
    """Two versions, compared. `report` is that on the new one; `open` are findings of the old one of which it is not known
    whether they are fixed, because their functions could not be read in the new one; `functions` is None if nothing of a version
    could be read; `from_scratch`: why the new one was not checked as an edit of the old one."""

    old: str
    new: str
    report: Report
    findings: Compared
    open: tuple[Finding, ...]
    functions: Functions | None
    from_scratch: str | None
    successful: bool


def text_of(comparison: Comparison) -> str:
    """For people: what was introduced with its trace, what was fixed in a line each, and the rest in numbers."""
    return "".join(f"{line}\n" for line in _lines(comparison))


def _lines(comparison: Comparison) -> Iterator[str]:
    findings = comparison.findings
    introduced, _ = _shown(findings.introduced)
    for finding in introduced:
        yield from finding_lines(finding)
        yield ""
    fixed, _ = _shown(findings.fixed)
    for finding in fixed:
        yield f"fixed: {spot(finding.place)}: {finding.message} [{finding.rule}]"
    if fixed:
        yield ""
    yield from _numbers(comparison)


def _numbers(comparison: Comparison) -> Iterator[str]:
    findings = comparison.findings
    introduced, held = _shown(findings.introduced)
    fixed, _ = _shown(findings.fixed)
    before, held_before = _shown(findings.unchanged)
    more = f" ({held} more held back as less likely)" if held else ""
    yield f"From {comparison.old} to {comparison.new}: {count(len(introduced), 'finding')} introduced{more}, {len(fixed)} fixed."
    older = f"; {held_before} more held back as less likely" if held_before else ""
    yield f"{count(len(before), 'finding')} in both versions{older}."
    if comparison.open:
        yield f"{count(len(comparison.open), 'finding')} of OLD may be fixed or not: not all of NEW could be read."
    yield from _function_lines(comparison.functions)
    if comparison.from_scratch is not None:
        yield f"The new version was checked from scratch: {comparison.from_scratch}."


def _function_lines(functions: Functions | None) -> Iterator[str]:
    if functions is None:
        yield "The functions were not compared: a part of OLD or NEW could not be read."
        return
    compared = count(len(functions.now), "function")
    others = [function.name for function in functions.now if function.difference == "possible"]
    proved = [function.name for function in functions.now if function.difference == "proved-equivalent"]
    if others:
        yield f"{len(others)} of {compared} may behave differently than before: {_named(others)}."
    elif functions.now:
        which = "function that was compared" if functions.unread else "function"
        yield f"No {which} can behave differently than before ({compared} compared)."
    else:
        yield "No function was compared: NEW has none that could be read."
    if proved:
        yield f"Proved to do the same as before, although they or functions that they call have changed: {_named(proved)}."
    if functions.removed:
        yield f"{count(len(functions.removed), 'function')} of OLD removed in NEW: {_named(_told_apart(functions.removed))}."
    if functions.unread:
        unread = count(len(functions.unread), "function")
        yield f"{unread} not found in the part of NEW that could be read: {_named(functions.unread)}."


def _told_apart(removed: Sequence[Removed]) -> list[str]:
    """Their names, with the file where two have the same."""
    names = Counter(one.name for one in removed)
    return [one.name if names[one.name] == 1 else f"{one.name} ({one.place.path})" for one in removed]


def _named(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def _shown(findings: Sequence[Finding]) -> tuple[list[Finding], int]:
    shown = [finding for finding in findings if finding.shown]
    return shown, len(findings) - len(shown)


def github_of(comparison: Comparison) -> str:
    """For a GitHub workflow: an annotation for each finding that was introduced, and the rest in numbers."""
    introduced, _ = _shown(comparison.findings.introduced)
    return "".join(f"{line}\n" for line in (*map(annotation, introduced), *map(escaped, _numbers(comparison))))


def json_of(comparison: Comparison) -> str:
    """The comparison as one JSON object; docs/protocol.md describes its fields."""
    findings, functions = comparison.findings, comparison.functions
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "everproof": everproof_version(),
        "old": comparison.old,
        "new": comparison.new,
        "introduced": [finding_document(finding) for finding in findings.introduced],
        "fixed": [finding_document(finding) for finding in findings.fixed],
        "unchanged": [finding_document(finding) for finding in findings.unchanged],
        "open": [finding_document(finding) for finding in comparison.open],
        "functions": [
            {**_spot_document(one), "difference": one.difference} for one in (functions.now if functions is not None else ())
        ],
        "removed": None if functions is None else [_spot_document(one) for one in functions.removed],
        "unread": None if functions is None else functions.unread,
        "messages": msgspec.to_builtins(comparison.report.messages),
        "from_scratch": comparison.from_scratch,
        "work": msgspec.to_builtins(comparison.report.work),
        "time_ms": {stage: round(ms, 3) for stage, ms in msgspec.to_builtins(comparison.report.times).items()},
    }
    return encode_json(document)


def _spot_document(function: Differing | Removed) -> dict[str, Any]:
    return {"name": function.name, "path": function.place.path, "line": function.place.range.start.line}


def sarif_of(comparison: Comparison, rules: Sequence[Rule]) -> str:
    """The report on the new version; what was fixed is there as `absent`."""
    findings = comparison.findings
    states: Mapping[str, Sequence[Finding]] = {
        "new": findings.introduced,
        "unchanged": findings.unchanged,
        "absent": findings.fixed,
    }
    every = [(state, finding) for state, some in states.items() for finding in some]
    report = msgspec.structs.replace(comparison.report, findings=tuple(finding for _, finding in every), silenced=())
    document = sarif_document(report, rules, comparison.successful)
    for (state, _), result in zip(every, document["runs"][0]["results"], strict=True):
        result["baselineState"] = state
    return encode_json(document)
