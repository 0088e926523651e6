"""The report as SARIF 2.1.0 [SARIF], with the steps that explain findings as code flows (section 3.36)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from analysis.cli.baseline import Entry, Known
from analysis.model.distribution import everproof_version
from analysis.model.places import Place
from analysis.model.report import FINGERPRINT_NAME, Finding, Message, Report, TraceStep
from analysis.rules.automaton import Rule

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif_document(report: Report, rules: Sequence[Rule], successful: bool, known: Known | None = None) -> dict[str, Any]:
    """The report as one SARIF run; `successful` False: something asked for could not be done. `known`: what a baseline says of
    it, if one was given."""
    index = {rule.name: number for number, rule in enumerate(rules)}
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "everproof",
                        "version": everproof_version(),
                        "semanticVersion": everproof_version(),
                        "rules": [_rule(rule) for rule in rules],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "artifacts": [{"location": _artifact(file.path)} for file in report.files],
                "invocations": [
                    {
                        "executionSuccessful": successful,
                        "toolExecutionNotifications": [_notification(message) for message in report.messages],
                    }
                ],
                "results": _results(report, index, known),
                "properties": {
                    "verdict": report.verdict,
                    "heldBack": report.held_back,
                    "suppressed": report.suppressed,
                    "proved": _proved(report),
                },
            }
        ],
    }


def _results(report: Report, index: dict[str, int], known: Known | None) -> list[dict[str, Any]]:
    """All findings: those that are reported; those that comments suppress; and those that a baseline knows, or that were there
    when it was written."""
    state = {} if known is None else {"baselineState": "new"}
    found = [_result(finding, index) | state for finding in report.findings]
    found += [_result(one.finding, index) | state | _suppressed("inSource", one.reason) for one in report.silenced]
    if known is not None:
        unchanged = {"baselineState": "unchanged", **_suppressed("external", "It is in the baseline.")}
        found += [_result(finding, index) | unchanged for finding in known.withheld]
        found += [_absent(entry, index) for entry in known.gone]
    return found


def _suppressed(kind: str, reason: str) -> dict[str, Any]:
    return {"suppressions": [{"kind": kind, "status": "accepted", "justification": reason}]}


def _absent(entry: Entry, index: dict[str, int]) -> dict[str, Any]:
    """What a baseline has, and is not found any more; it does not say in which line that was."""
    place = {"physicalLocation": {"artifactLocation": _artifact(entry.path)}, "logicalLocations": [_logical(entry.function)]}
    return {
        "ruleId": entry.rule,
        **({"ruleIndex": index[entry.rule]} if entry.rule in index else {}),
        "level": "note",
        "message": {"text": entry.message},
        "locations": [place],
        "partialFingerprints": {FINGERPRINT_NAME: entry.fingerprint},
        "baselineState": "absent",
    }


def _proved(report: Report) -> list[dict[str, Any]]:
    """What is safe, by function: no results, since a result is what most readers of SARIF take for a defect."""
    return [
        {
            **_location(function.place),
            "function": function.name,
            "ruleId": rule,
            "engine": verdict.engine,
            "certified": verdict.certified,
            "certificate": verdict.certificate,
            "assumptions": list(verdict.assumptions),
            "entries": list(verdict.entries),
        }
        for function in report.functions
        if not function.stale
        for rule, verdict in function.verdicts.items()
        if verdict.verdict == "safe"
    ]


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.name,
        "shortDescription": {"text": rule.summary},
        "help": {"text": rule.markdown(), "markdown": rule.markdown()},
        "defaultConfiguration": {"level": rule.severity},
        "properties": {"tags": [] if rule.cwe is None else ["security", f"external/cwe/cwe-{rule.cwe}"]},
    }


def _result(finding: Finding, index: dict[str, int]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "level": finding.severity if finding.shown else "note",  # what is held back is there, below what is shown
        "rank": float(finding.score),
        "message": {"text": finding.said},
        "locations": [{**_location(finding.place), "logicalLocations": [_logical(finding.function)]}],
        "partialFingerprints": {FINGERPRINT_NAME: finding.fingerprint},
        "properties": {"status": finding.status, "shown": finding.shown, "reasons": list(finding.reasons)},
    }
    if finding.rule in index:
        result["ruleIndex"] = index[finding.rule]
    if finding.trace:
        steps = [_flow_location(number, step) for number, step in enumerate(finding.explanation, 1)]
        result["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
    return result


def _flow_location(number: int, step: TraceStep) -> dict[str, Any]:
    location: dict[str, Any] = {
        "executionOrder": number,
        "nestingLevel": step.depth,
        "importance": "essential" if step.kind == "error" else "important",
        "kinds": [step.kind],
        "location": {
            **_location(step.place),
            "logicalLocations": [_logical(step.function)],
            "message": {"text": step.text},
        },
    }
    if step.values:
        location["state"] = {name: {"text": value} for name, value in step.values.items()}
    return location


def _logical(function: str) -> dict[str, str]:
    return {"name": function, "kind": "function"}


def _location(place: Place) -> dict[str, Any]:
    start, end = place.range.start, place.range.end
    region = {"startLine": start.line, "startColumn": start.column, "endLine": end.line, "endColumn": end.column}
    return {"physicalLocation": {"artifactLocation": _artifact(place.path), "region": region}}


def _artifact(path: str) -> dict[str, str]:
    if os.path.isabs(path):
        return {"uri": Path(path).as_uri()}
    return {"uri": quote(os.fsencode(path.replace(os.sep, "/")))}


def _notification(message: Message) -> dict[str, Any]:
    found: dict[str, Any] = {"level": message.severity, "message": {"text": message.text}}
    if message.path:
        place: dict[str, Any] = {"artifactLocation": _artifact(message.path)}
        if message.line:
            place["region"] = {"startLine": message.line}
        found["locations"] = [{"physicalLocation": place}]
    return found
