"""Baselines: files of findings that are known and not to be reported again.

A finding is known by its fingerprint, which holds no line numbers. Two findings with one fingerprint need two entries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from analysis.cli.failure import Failure
from analysis.cli.json_format import encode_json
from analysis.model.distribution import everproof_version
from analysis.model.file_reading import UnreadableError, read_file
from analysis.model.limits import BASELINE_BYTES
from analysis.model.report import Finding, Report
from analysis.session.withheld import overall, settle

_SCHEMA = 1


class Entry(msgspec.Struct, frozen=True):
    """A finding as a baseline has it."""

    fingerprint: str
    rule: str
    path: str
    function: str
    message: str


class _Baseline(msgspec.Struct, frozen=True):
    schema: int
    everproof: str
    findings: tuple[Entry, ...]


class Known(msgspec.Struct, frozen=True):
    """What a baseline says of a report: `withheld` are the findings that it knows, `gone` those that are not there any more."""

    withheld: tuple[Finding, ...] = ()
    gone: tuple[Entry, ...] = ()


def baseline_text(findings: Sequence[Finding]) -> str:
    """The contents of a baseline file that holds these findings."""
    entries = sorted((Entry(f.fingerprint, f.rule, f.place.path, f.function, f.message) for f in findings), key=_order)
    return encode_json(_Baseline(_SCHEMA, everproof_version(), tuple(entries)))


def _order(entry: Entry) -> tuple[str, ...]:
    return (entry.path, entry.rule, entry.function, entry.fingerprint)


def read_baseline(path: str) -> tuple[Entry, ...]:
    """The findings of a baseline; raises Failure when the file cannot be used."""
    try:
        baseline = msgspec.json.decode(read_file(path, BASELINE_BYTES), type=_Baseline)
    except UnreadableError as error:
        raise Failure(f"The baseline {path} cannot be read: {error.reason}; write one with --write-baseline.") from None
    except msgspec.DecodeError as error:
        raise Failure(f"The baseline {path} is not a baseline file ({error}): write it again with --write-baseline.") from None
    if baseline.schema != _SCHEMA:
        raise Failure(f"The baseline {path} has schema {baseline.schema}, not {_SCHEMA}: write it again with --write-baseline.")
    return baseline.findings


def without_known(report: Report, baseline: Sequence[Entry]) -> tuple[Report, Known]:
    """The report without the findings of the baseline, and what became of these."""
    left = Counter(entry.fingerprint for entry in baseline)
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
    rest = msgspec.structs.replace(report, verdict=verdict, functions=functions, findings=tuple(kept))
    return rest, Known(tuple(finding for finding, _ in withheld), _gone(report, baseline))


def _gone(report: Report, baseline: Sequence[Entry]) -> tuple[Entry, ...]:
    """The entries of a baseline that no finding of the report is; of equal ones, the last."""
    found = Counter(finding.fingerprint for finding in report.findings)
    gone: list[Entry] = []
    for entry in baseline:
        found[entry.fingerprint] -= 1
        if found[entry.fingerprint] < 0:
            gone.append(entry)
    return tuple(gone)
