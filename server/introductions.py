"""Which edit of this session has introduced a finding: blame for edits.

A finding that a check reports, and that the check before did not, was introduced by what was edited in between. Where that was
one edit, it is known at once. Else the checker is asked, while it has nothing else to do: it bisects. So it is with a finding
that provers report, which may have been there for some time. A finding that the first check reports was there before the session,
if nothing was edited until then."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from analysis.model.report import Finding
from analysis.model.same_findings import EarlierFindings, is_another, known
from server.results import FileState
from server.session_edits import SessionEdit, SessionEdits, Steps

BEFORE = 0
"""In place of the number of an edit: the finding was there before the session."""


class Asked(NamedTuple):
    """Findings, by fingerprint, that one of some edits has introduced, and the texts between them."""

    path: str
    fingerprints: tuple[str, ...]
    edits: tuple[SessionEdit, ...]
    steps: Steps


class _Origin:
    """Where a finding comes from: a change later than `after`, and not later than `up_to`; or, if it was there after `after`, the
    edit `otherwise`. `number`: that of the edit, once it is known. `is_asked`: a bisection was asked for."""

    def __init__(self, after: int, up_to: int, otherwise: int | None = None) -> None:
        self.after, self.up_to, self.otherwise = after, up_to, otherwise
        self.number: int | None = None
        self.is_asked = False


class _Left(NamedTuple):
    """The edit that had introduced a finding which is gone, and how many changes there had been when it was there last. Provers
    may find it again, so that it was there all the time."""

    number: int
    seen: int


class Introductions:
    """Where the findings come from that are reported."""

    def __init__(self, edits: SessionEdits) -> None:
        self._edits = edits
        self._sent: list[tuple[int, int]] = []  # generations of checks, and how many changes they know
        self._checked: tuple[int, int] | None = None  # the same of the last check that was complete
        self._origins: dict[str, _Origin] = {}
        self._left: dict[str, _Left] = {}

    def check_started(self, generation: int) -> None:
        """A check of all texts as they are was asked for."""
        self._sent.append((generation, self._edits.changes))

    def file_checked(self, state: FileState, before: Sequence[Finding], generation: int) -> None:
        """There is news of a file, of which `before` was known before."""
        gone: list[Finding] | None = None
        earlier = {finding.fingerprint: finding for finding in before}
        for finding in state.findings:
            was = earlier.get(finding.fingerprint)
            if finding.fingerprint in self._origins and was is not None and was.at[:1] != finding.at[:1]:
                self._origins[finding.fingerprint] = self._origin_elsewhere(was, finding, generation)
            if finding.fingerprint in self._origins:
                continue
            if gone is None:
                present = {one.fingerprint for one in state.findings}
                gone = [one for one in before if one.fingerprint not in present and one.fingerprint in self._origins]
            self._origins[finding.fingerprint] = self._same_as(gone, finding) or self._new_origin(finding, generation)

    def _same_as(self, gone: Sequence[Finding], finding: Finding) -> _Origin | None:
        """The origin of what a finding was until now, if only its statement is another."""
        earlier = EarlierFindings(tuple(map(known, gone)))
        same = earlier.matched((finding,), lambda: (frozenset(), frozenset())) if gone else {}
        return self._origins[gone[same[0]].fingerprint] if same else None

    def _origin_elsewhere(self, was: Finding, finding: Finding, generation: int) -> _Origin:
        """The origin of a finding that is at another statement now. It may have been there, unreported, before that."""
        origin = self._new_origin(finding, generation)
        return origin if is_another(was, finding) else _Origin(0, origin.up_to, BEFORE)

    def _new_origin(self, finding: Finding, generation: int) -> _Origin:
        up_to = next((changes for sent, changes in reversed(self._sent) if sent <= generation), 0)
        is_in_check = self._checked is None or generation > self._checked[0]
        if self._checked is None or not is_in_check or finding.status == "confirmed":
            last = self._left.get(finding.fingerprint, _Left(BEFORE, 0))
            origin = _Origin(last.seen, up_to, last.number)
            origin.number = last.number if up_to <= last.seen else None
            return origin
        origin = _Origin(self._checked[1], up_to)
        edits = self._edits.between(origin.after, origin.up_to)
        if len(edits) == 1:
            origin.number = edits[0].number
        return origin

    def check_finished(self, generation: int, states: Iterable[FileState]) -> None:
        """A check is complete: what is not reported any more can be introduced anew."""
        present = {finding.fingerprint for state in states for finding in state.findings}
        if len(present) < len(self._origins):
            seen = 0 if self._checked is None else self._checked[1]
            gone = {one: origin for one, origin in self._origins.items() if one not in present}
            self._left |= {one: _Left(origin.number, seen) for one, origin in gone.items() if origin.number is not None}
            self._origins = {one: origin for one, origin in self._origins.items() if one in present}
        self._sent = [one for one in self._sent if one[0] >= generation]
        changes = self._sent[0][1] if self._sent and self._sent[0][0] == generation else self._edits.changes
        self._checked = generation, changes
        self._sent = self._sent or [self._checked]

    def number(self, fingerprint: str) -> int | None:
        """The number of the edit that has introduced a finding, or `BEFORE`; None if it is not known (yet)."""
        origin = self._origins.get(fingerprint)
        return None if origin is None else origin.number

    def to_ask(self, states: Iterable[FileState]) -> list[Asked]:
        """What has to be bisected of the findings that are new since the reference; each is asked about once."""
        found: dict[tuple[str, int, int], list[str]] = {}
        for state in states:
            for finding in state.findings:
                origin = self._origins.get(finding.fingerprint)
                if (
                    origin is None
                    or origin.number is not None
                    or origin.is_asked
                    or state.since.get(finding.fingerprint) != "new"
                ):
                    continue
                origin.is_asked = True
                found.setdefault((state.path, origin.after, origin.up_to), []).append(finding.fingerprint)
        return [asked for key, names in found.items() if (asked := self._asked(*key, names)) is not None]

    def _asked(self, path: str, after: int, up_to: int, fingerprints: Sequence[str]) -> Asked | None:
        edits = self._edits.between(after, up_to)
        steps = self._edits.versions(edits, up_to) if edits else None
        return None if steps is None else Asked(path, tuple(fingerprints), tuple(edits), steps)

    def answered(self, asked: Asked, introduced: dict[str, int]) -> bool:
        """Takes in what a bisection has found; whether anything is known now that was not."""
        for fingerprint, step in introduced.items():
            origin = self._origins.get(fingerprint)
            if origin is not None and 0 < step <= len(asked.edits):
                origin.number = asked.edits[step - 1].number
            elif origin is not None and step == 0 and asked.edits[0].first <= origin.after + 1:
                origin.number = origin.otherwise
        return any(self.number(fingerprint) is not None for fingerprint in asked.fingerprints)
