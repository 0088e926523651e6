"""The findings of a CI, beside those of the checker: which of them are found here, and where to show the others.

They are the same if their fingerprints are. One that is not found here is shown as a hint at its place in the CI's text, moved
with the edits since it was opened.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Sequence
from urllib.parse import unquote, urlsplit

import msgspec

from analysis.model.places import Place, Position, Range
from server.client_lines import Edit, moved_place
from server.documents import OpenDocuments
from server.results import Results
from server.sarif_reading import CiFinding

_MOST_SHOWN = 200  # hints in one file


class PlacedFinding(msgspec.Struct, frozen=True):
    """A finding of the CI in a file of the workspace."""

    finding: CiFinding
    place: Place


class Tally(msgspec.Struct, frozen=True):
    """How many findings the CI has; how many of them are found here, and are not; how many are in no file of the workspace."""

    findings: int
    found: int
    missing: int
    elsewhere: int


class CiFindings:
    """What was opened last; nothing at first."""

    def __init__(self, documents: OpenDocuments, results: Results) -> None:
        self._documents = documents
        self._results = results
        self._fingerprints: frozenset[str] | None = None
        self._placed: dict[str, tuple[PlacedFinding, ...]] = {}

    @property
    def paths(self) -> tuple[str, ...]:
        """The files of the workspace that the CI has findings in."""
        return tuple(self._placed)

    def open(self, findings: Sequence[CiFinding]) -> Tally:
        """Takes the findings in, in the place of others."""
        self._fingerprints = frozenset(finding.fingerprint for finding in findings)
        placed: dict[str, list[PlacedFinding]] = {}
        paths = {uri: self._path(uri) for uri in dict.fromkeys(finding.uri for finding in findings)}
        for finding in findings:
            path = paths[finding.uri]
            if path is not None:
                range_ = Range(Position(*finding.start), Position(*finding.end))
                placed.setdefault(path, []).append(PlacedFinding(finding, Place(path, range_)))
        self._placed = {path: tuple(some) for path, some in sorted(placed.items())}
        inside = sum(map(len, placed.values()))
        live = self._live()
        found = sum(finding.fingerprint in live for finding in findings)
        missing = sum(one.finding.fingerprint not in live for some in self._placed.values() for one in some)
        return Tally(len(findings), found, missing, len(findings) - inside)

    def close(self) -> None:
        """Forgets them."""
        self._fingerprints, self._placed = None, {}

    def has(self, fingerprint: str) -> bool | None:
        """Whether the CI has a finding; None if nothing is opened."""
        return None if self._fingerprints is None else fingerprint in self._fingerprints

    def missing(self, path: str) -> list[PlacedFinding]:
        """The findings of the CI in a file that are not found here, held back or not; the first of them, if there are many."""
        placed = self._placed.get(path)
        if not placed:
            return []
        live = self._live()
        missing = (one for one in placed if one.finding.fingerprint not in live and not one.place.gone)
        return list(itertools.islice(missing, _MOST_SHOWN))

    def edited(self, path: str, edits: Iterable[Edit]) -> None:
        """Moves what lies in a file through edits of it."""
        placed = self._placed.get(path)
        if placed:
            moves = list(edits)
            self._placed[path] = tuple(PlacedFinding(one.finding, moved_place(one.place, path, moves)) for one in placed)

    def _live(self) -> frozenset[str]:
        return frozenset(finding.fingerprint for state in self._results.states() for finding in state.findings)

    def _path(self, uri: str) -> str | None:
        """The file of the workspace that a URI means, None if it means none. A relative one is looked for in each folder of the
        workspace; an absolute one names a file of the CI's machine, unless it lies in one of them."""
        try:
            parts = urlsplit(uri)
        except ValueError:
            return None
        name = unquote(parts.path, errors="surrogateescape")
        if parts.scheme not in ("", "file") or parts.netloc or not name or "\0" in name:
            return None
        for folder in self._documents.folder_paths():
            path = os.path.normpath(os.path.join(folder, name))
            if self._documents.contains(path) and (self._documents.at_path(path) is not None or os.path.isfile(path)):
                return path
        return None
