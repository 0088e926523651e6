"""The JSON report, schema 1: `analysis.model.report.Report` as plain data (docs/protocol.md has its fields)."""

from __future__ import annotations

from typing import Any

import msgspec

from analysis.model.distribution import everproof_version
from analysis.model.places import Place, Range
from analysis.model.report import Finding, FunctionReport, Report, RuleVerdict, TraceStep

SCHEMA = 1


def encode_json(document: object) -> str:
    """A document as indented JSON with a final newline."""
    try:
        data = msgspec.json.encode(document)
    except UnicodeEncodeError:  # a file name with bytes that are no UTF-8
        data = msgspec.json.encode(_printable(msgspec.to_builtins(document)))
    return msgspec.json.format(data, indent=2).decode() + "\n"


def _printable(value: Any) -> Any:
    """A document without lone surrogates, which stand for bytes that are no text and cannot be written as UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_printable(key): _printable(entry) for key, entry in value.items()}
    return [_printable(entry) for entry in value] if isinstance(value, list | tuple) else value


def report_document(report: Report) -> dict[str, Any]:
    """A report as plain data. docs/protocol.md describes its fields."""
    return {
        "schema": SCHEMA,
        "everproof": everproof_version(),
        "verdict": report.verdict,
        "files": msgspec.to_builtins(report.files),
        "functions": [_function(function) for function in report.functions],
        "findings": [finding_document(finding) for finding in report.findings],
        "messages": msgspec.to_builtins(report.messages),
        "held_back": report.held_back,
        "suppressed": report.suppressed,
        "refuted": report.refuted,
        "refuted_under": list(report.refuted_under),
        "work": msgspec.to_builtins(report.work),
        "time_ms": {stage: round(ms, 3) for stage, ms in msgspec.to_builtins(report.times).items()},
    }


def finding_document(finding: Finding) -> dict[str, Any]:
    """A finding as plain data."""
    return {
        "rule": finding.rule,
        "status": finding.status,
        "severity": finding.severity,
        "message": finding.message,
        "since": finding.since,
        **_place(finding.place),
        "function": finding.function,
        "fingerprint": finding.fingerprint,
        "reason": finding.reason,
        "assumptions": list(finding.assumptions),
        "score": finding.score,
        "reasons": list(finding.reasons),
        "evidence": list(finding.evidence),
        "shown": finding.shown,
        "trace": [_step(step) for step in finding.trace],
        "explaining": list(finding.explaining or range(len(finding.trace))),
    }


def _step(step: TraceStep) -> dict[str, Any]:
    return {
        **_place(step.place),
        "function": step.function,
        "depth": step.depth,
        "kind": step.kind,
        "text": step.text,
        "values": dict(step.values),
    }


def _function(function: FunctionReport) -> dict[str, Any]:
    return {
        "name": function.name,
        "path": function.place.path,
        "line": function.place.range.start.line,
        "stale": function.stale,
        "verdicts": {rule: _verdict(verdict) for rule, verdict in function.verdicts.items()},
    }


def _verdict(verdict: RuleVerdict) -> dict[str, Any]:
    return {
        "verdict": verdict.verdict,
        "reason": verdict.reason,
        "assumptions": list(verdict.assumptions),
        "engine": verdict.engine,
        "certified": verdict.certified,
        "certificate": verdict.certificate,
        "unreached": verdict.unreached,
        "no_place": verdict.no_place,
        "entries": list(verdict.entries),
        "within": msgspec.to_builtins(verdict.within),
        "ms": round(verdict.ms, 3),
    }


def _place(place: Place) -> dict[str, Any]:
    found: dict[str, Any] = {"path": place.path, "range": _range(place.range)}
    if place.macro is not None:
        found["macro"] = place.macro
    return found


def _range(span: Range) -> dict[str, Any]:
    return {
        "start": {"line": span.start.line, "column": span.start.column},
        "end": {"line": span.end.line, "column": span.end.column},
    }
