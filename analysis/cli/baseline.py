"""Baselines: files of findings that are known and not to be reported again.

A finding is known by its fingerprint, which holds no line numbers. Two findings with one fingerprint need two entries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from analysis.cli.failure import Failure
from analysis.cli.json_format import encode_json, everproof_version
from analysis.model.file_reading import UnreadableError, read_file
from analysis.model.limits import BASELINE_BYTES
from analysis.model.report import Finding, Report
from analysis.session.withheld import overall, settle

_SCHEMA = 1


class _Entry(msgspec.Struct, frozen=True):
    fingerprint: str
    rule: str
    path: str
    function: str
    message: str


class _Baseline(msgspec.Struct, frozen=True):
    schema: int
    everproof: str
    findings: tuple[_Entry, ...]


def baseline_text(findings: Sequence[Finding]) -> str:
    """The contents of a baseline file that holds these findings."""
    entries = sorted((_Entry(f.fingerprint, f.rule, f.place.path, f.function, f.message) for f in findings), key=_order)
    return encode_json(_Baseline(_SCHEMA, everproof_version(), tuple(entries)))


def _order(entry: _Entry) -> tuple[str, ...]:
    return (entry.path, entry.rule, entry.function, entry.fingerprint)


def read_baseline(path: str) -> Counter[str]:
    """How often each fingerprint is in the baseline; raises Failure when the file cannot be used."""
    try:
        baseline = msgspec.json.decode(read_file(path, BASELINE_BYTES), type=_Baseline)
    except UnreadableError as error:
        raise Failure(f"The baseline {path} cannot be read: {error.reason}; write one with --write-baseline.") from None
    except msgspec.DecodeError as error:
        raise Failure(f"The baseline {path} is not a baseline file ({error}): write it again with --write-baseline.") from None
    if baseline.schema != _SCHEMA:
        raise Failure(f"The baseline {path} has schema {baseline.schema}, not {_SCHEMA}: write it again with --write-baseline.")
    return Counter(entry.fingerprint for entry in baseline.findings)


def without_known(report: Report, known: Counter[str]) -> tuple[Report, int]:
    """The report without the findings of the baseline, and how many those were."""
    left = Counter(known)
    kept: list[Finding] = []
    withheld: list[tuple[Finding, str]] = []
    for finding in report.findings:
        if left[finding.fingerprint] > 0:
            left[finding.fingerprint] -= 1
            withheld.append((finding, "its finding is in the baseline"))
        else:
            kept.append(finding)
    functions = settle(report.functions, kept, withheld)
    complete = all(file.parse_errors == 0 for file in report.files) and not any(m.severity == "error" for m in report.messages)
    verdict = overall(functions, kept, complete)
    return msgspec.structs.replace(report, verdict=verdict, functions=functions, findings=tuple(kept)), len(withheld)
