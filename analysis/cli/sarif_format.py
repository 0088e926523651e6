"""The report as SARIF 2.1.0 [SARIF], with the steps that explain findings as code flows (section 3.36)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from analysis.cli.json_format import everproof_version
from analysis.model.places import Place
from analysis.model.report import Finding, Message, Report, TraceStep
from analysis.rules.automaton import Rule

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_FINGERPRINT = "everproof/v1"


def sarif_document(report: Report, rules: Sequence[Rule], successful: bool) -> dict[str, Any]:
    """The report as one SARIF run; `successful` False: something asked for could not be done."""
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
                "results": [_result(finding, index) for finding in report.findings],
                "properties": {
                    "verdict": report.verdict,
                    "heldBack": report.held_back,
                    "suppressed": report.suppressed,
                    "proved": _proved(report),
                },
            }
        ],
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
        "partialFingerprints": {_FINGERPRINT: finding.fingerprint},
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
