"""Which findings of a report are new since a reference.

A finding that the reference has as well is older (`model.same_findings`). Any other is new, but where that is not sure yet, so
that no old finding is ever called new:

- it was refuted at the reference, and here provers have not said anything of it yet;
- provers have found it, and nobody has asked them about the reference.

Such a finding stays without a mark until that is known.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Set

import msgspec

from analysis.model.report import Finding, Report
from analysis.model.same_findings import EarlierFindings, FoundThere
from analysis.wire import Since
from analysis.worker.reference.task import ReferenceAnswer


class Reference:
    """The findings of a program at a reference. `watched`: what the answer's files were like. `wants_provers`: a finding waits
    for what provers say of the reference."""

    def __init__(self, answer: ReferenceAnswer) -> None:
        self.wants_provers = False
        self._new: frozenset[str] = frozenset()
        self._take(answer)

    def _take(self, answer: ReferenceAnswer) -> None:
        self.answer = answer
        self._earlier = EarlierFindings(answer.findings)
        self._refuted = frozenset(answer.refuted)
        self._functions = frozenset(answer.functions)

    def marks(
        self, report: Report, suspected: Callable[[], Collection[str] | None], opened: Collection[str]
    ) -> tuple[Since | None, ...]:
        """What each finding of a report is. `suspected` gives the fingerprints of those that did not take a prover to be found,
        None if that is not known; `opened` are the open files, whose functions provers look at."""
        matched = self._earlier.matched(report.findings, lambda: self._renamed(report))
        marks = tuple(
            "old" if number in matched else self._mark(finding, suspected, opened)
            for number, finding in enumerate(report.findings)
        )
        self._new = frozenset(one.fingerprint for one, mark in zip(report.findings, marks, strict=True) if mark == "new")
        return marks

    def follow(self, found: FoundThere) -> None:
        """Takes what was found in the texts of the reference for what is known of it."""
        if found != FoundThere(self.answer.findings, self.answer.functions, self.answer.refuted):
            self._take(msgspec.structs.replace(self.answer, is_checked=True, **msgspec.structs.asdict(found)))

    def _mark(self, finding: Finding, suspected: Callable[[], Collection[str] | None], opened: Collection[str]) -> Since | None:
        is_confirmed = finding.status == "confirmed"
        if finding.fingerprint in self._refuted:
            return "new" if is_confirmed or finding.reason is not None else None
        if not is_confirmed or finding.fingerprint in self._new:
            return "new"
        found_by_engine = suspected()
        if found_by_engine is not None and finding.fingerprint in found_by_engine:
            return "new"
        examined = self.answer.examined
        if examined is not None and (finding.place.path in examined or finding.place.path not in opened):
            return "new"
        self.wants_provers = True
        return None

    def _renamed(self, report: Report) -> tuple[Set[str], Set[str]]:
        names = frozenset(function.name for function in report.functions)
        return self._functions - names, names - self._functions
