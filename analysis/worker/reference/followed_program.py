"""What is known of one program and its reference."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple, Protocol

from analysis.model.options import Options
from analysis.model.report import Report
from analysis.model.same_findings import FoundThere, found_in
from analysis.worker.reference.reference_texts import text_on_disk
from analysis.worker.reference.since import Reference
from analysis.worker.reference.task import ReferenceAnswer

Signature = tuple[tuple[int, int] | None, ...]


class ComparedProgram(Protocol):
    """What comparing needs of a program's checker."""

    options: Options
    report: Report | None
    settled: bool

    @property
    def is_current(self) -> bool:
        """Whether the last report is of the texts as they are."""

    @property
    def typing(self) -> bool:
        """Whether a text is not what is on the disk."""

    @property
    def unsaved(self) -> bool:
        """Whether its results are still to be kept."""

    @property
    def proving(self) -> bool:
        """Whether provers are at work."""

    @property
    def suspected(self) -> frozenset[str] | None:
        """The fingerprints of findings that did not take a prover to be found."""

    def keep_revision(self) -> bool:
        """Keeps what was found in the present texts."""


class OnDisk(NamedTuple):
    """A report on the texts that were on the disk, and what the open files held then."""

    report: Report
    opened: dict[str, str]

    @property
    def is_still_there(self) -> bool:
        """Whether the open files hold on the disk what they held."""
        return all(text_on_disk(path) == text for path, text in self.opened.items())


class FollowedProgram:
    """What is known of one program. `is_outdated`: the reference is to be looked at (again). `read`: it was, and is to be
    checked. `on_disk` is the last report on what is on the disk, if it still is; `seen` that which the reference was taken
    from."""

    def __init__(self) -> None:
        self.reference: Reference | None = None
        self.read: ReferenceAnswer | None = None
        self.on_disk: OnDisk | None = None
        self.seen: Report | None = None
        self.kept: Report | None = None
        self._kept_found: tuple[Reference, FoundThere] | None = None
        self.signature: Signature = ()
        self.asked_about: frozenset[str] | None = None
        self.is_outdated = True

    def keep(self, reference: Reference, report: Report) -> None:
        """Notes that what a report has found at a reference is kept."""
        self.kept, self._kept_found = report, (reference, found_in(report))

    def is_kept(self, reference: Reference, report: Report | None) -> bool:
        """Whether what a report has found at a reference is kept: where an edit is taken back, that is known."""
        if report is None or self.kept is report:
            return True
        known = self._kept_found
        if known is None or known[0] is not reference or known[1] != found_in(report):
            return False
        self.kept = report
        return True

    def wants_provers(self, opened: Iterable[str]) -> bool:
        """Whether provers are to be asked about the reference: not again and again, should they have died."""
        is_asked = self.asked_about is not None and self.asked_about.issuperset(opened)
        return self.reference is not None and self.reference.wants_provers and not is_asked


def signature_of(paths: tuple[str, ...]) -> Signature:
    """What files are like now: their times and sizes, None for those that are not there."""
    return tuple(map(_written, paths))


def _written(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
