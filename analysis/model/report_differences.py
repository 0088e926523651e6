"""What two reports on the same texts say that is not the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import msgspec

from analysis.model.report import Finding, Report, Verdict


class Difference(msgspec.Struct, frozen=True):
    """Something that only one of two reports says so often: the kept one, or the one from nothing."""

    only: str
    what: str


def compared(kept: Report, fresh: Report) -> Iterator[Difference]:
    """What two reports say that is not the same, each as a line."""
    one, other = Counter(_said(kept)), Counter(_said(fresh))
    yield from (Difference("kept", what) for what in sorted((one - other).elements()))
    yield from (Difference("from scratch", what) for what in sorted((other - one).elements()))


def contradictions(kept: Report, fresh: Report) -> Iterator[Difference]:
    """What two reports cannot both be right about. What only one of them has decided is none: a proof that is reused can reach
    further than one from nothing within the same budget."""
    one, other = _verdicts(kept), _verdicts(fresh)
    for key in sorted(one.keys() & other.keys()):
        if {one[key], other[key]} == {"safe", "violated"}:
            yield Difference("kept", f"function {key[0]} ({key[1]}): {key[2]}: {one[key]}")
            yield Difference("from scratch", f"function {key[0]} ({key[1]}): {key[2]}: {other[key]}")
    yield from (Difference("kept", line) for line in _missing(kept, fresh))
    yield from (Difference("from scratch", line) for line in _missing(fresh, kept))


def rechecked(report: Report) -> int:
    """How many functions and findings a report is about."""
    return len(report.functions) + len(report.findings) + len(report.silenced) + len(report.refuted_findings)


def _missing(one: Report, other: Report) -> Iterator[str]:
    """The findings of one report that the other one refutes though they are confirmed, or does not have, though both have refuted
    the same: else one of the same cause can be reported in its place. What a prover's run alone has found is not missed."""
    found, elsewhere = _findings(one), _findings(other)
    refuted = frozenset(other.refuted_findings)
    comparable = refuted == frozenset(one.refuted_findings)
    for fingerprint, finding in sorted(found.items()):
        if finding.status == "confirmed":
            if fingerprint in refuted:
                yield f"finding {_spelled(finding)}"
        elif comparable and fingerprint not in elsewhere:
            yield f"finding {_spelled(finding)}"


def _findings(report: Report) -> Mapping[str, Finding]:
    return {finding.fingerprint: finding for finding in (*report.findings, *(one.finding for one in report.silenced))}


def _verdicts(report: Report) -> Mapping[tuple[str, str, str], Verdict]:
    return {
        (function.name, function.place.path, rule): verdict.verdict
        for function in report.functions
        for rule, verdict in function.verdicts.items()
    }


def _said(report: Report) -> Iterator[str]:
    yield f"verdict {report.verdict}"
    yield from (f"finding {_spelled(finding)}" for finding in report.findings)
    yield from (f"suppressed {_spelled(one.finding)}" for one in report.silenced)
    yield from (f"refuted {fingerprint}" for fingerprint in report.refuted_findings)
    for (name, path, rule), verdict in _verdicts(report).items():
        yield f"function {name} ({path}): {rule}: {verdict}"


def _spelled(finding: Finding) -> str:
    place = finding.place
    return f"{place.path}:{place.range.start.line} {finding.function}: {finding.rule}, {finding.status}, {finding.fingerprint}"
