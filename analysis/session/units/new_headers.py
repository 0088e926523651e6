"""Notices in a session that files came to be, or went, where compilers look for headers: what is read is another then, though no
file that was read changed (`lookups`).

Each folder is listed again only when its time of change is another. A folder that was changed a moment before it was listed may
change again without that (`texts`), so it is listed each time for a while.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import NamedTuple

from analysis.model.limits import Limits
from analysis.model.unit_flags import UnitFlags
from analysis.session.files.texts import Texts
from analysis.session.units.lookups import Asked, Lookups, asked_by

_RACY_NANOSECONDS = 2_000_000_000


class _Folder(NamedTuple):
    """What a folder had when it was listed. `mark` tells whether it can have changed since; None: it can."""

    mark: tuple[int, int] | None
    names: frozenset[str]


class NewHeaders:
    """The places where the units of a session look for headers, and what was there."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._asked: dict[str, tuple[str | None, Asked]] = {}
        self.forget()

    def forget(self) -> None:
        """Forgets everything but what texts look for."""
        self._known: dict[str, tuple[UnitFlags, tuple[str, ...], str | None]] = {}
        self._open: set[str] = set()
        self._roots: set[str] = set()  # folders of headers
        self._names: dict[str, set[str]] = {}  # what is looked for in them, by the folder that its name begins with
        self._beside: dict[str, set[str]] = {}  # what is looked for elsewhere, by folder
        self._folders: dict[str, _Folder] = {}
        self._unsaved = self._texts.new

    def add(self, path: str, flags: UnitFlags, headers: tuple[str, ...]) -> None:
        """Takes in a unit, and the headers that it was made from: another object where it was preprocessed as a whole again."""
        known, digest = self._known.get(path), None if headers else self._texts.digest(path)
        if known is not None and known[0] == flags and known[1] is headers and known[2] == digest:
            return
        self._known[path] = flags, headers, digest
        lookups = Lookups()
        lookups.add_flags(flags)
        for file in map(os.path.abspath, (path, *headers)):
            lookups.add_file(file, self._asked_by(file))
            lookups.add_header(file)
        self._open.discard(path)
        self._open.update((path,) if lookups.is_open else ())
        roots, parts = set(self._roots), set(self._names)
        self._roots.update(map(os.path.normpath, lookups.folders))
        for name in lookups.names():
            folder, _, last = name.rpartition("/")
            self._names.setdefault(folder.rstrip("/"), set()).add(last)
        for place in lookups.beside():
            folder, name = os.path.split(os.path.normpath(place))
            self._beside.setdefault(folder, set()).add(name)
            self._list(folder)
        for root in self._roots:
            for part in self._names if root not in roots else self._names.keys() - parts:
                self._list(_joined(root, part))

    def _list(self, folder: str) -> None:
        if folder not in self._folders:
            self._folders[folder] = _listed(folder)

    def is_open(self, path: str) -> bool:
        """Whether a unit may look for files of which nothing is known here."""
        return path in self._open

    def differ(self) -> bool:
        """Whether a file that is looked for came to be, or went, since the last call, on the disk or as an unsaved text."""
        changed: dict[str, frozenset[str]] = {}
        for folder, before in self._folders.items():
            if before.mark is None or before.mark != _mark(folder):
                now = _listed(folder)
                self._folders[folder], changed[folder] = now, now.names ^ before.names
        unsaved = self._texts.new
        for path in unsaved ^ self._unsaved:
            folder, name = os.path.split(path)
            changed[folder] = changed.get(folder, frozenset()) | {name}
        self._unsaved = unsaved
        return any(changed.values()) and any(not wanted.isdisjoint(changed.get(folder, ())) for folder, wanted in self._places())

    def _places(self) -> Iterator[tuple[str, set[str]]]:
        """The folders with what is looked for there; a folder may come more than once."""
        for root in self._roots:
            for folder, names in self._names.items():
                yield _joined(root, folder), names
        yield from self._beside.items()

    def _asked_by(self, path: str) -> Asked:
        digest, known = self._texts.digest(path), self._asked.get(path)
        if known is None or known[0] != digest:
            text = self._texts.read(path, Limits().source_bytes)
            known = self._asked[path] = digest, asked_by(text or b"")
        return known[1]


def _joined(root: str, folder: str) -> str:
    return os.path.normpath(os.path.join(root, folder))


def _mark(folder: str) -> tuple[int, int] | None:
    try:
        status = os.stat(folder)
    except (OSError, ValueError):
        return 0, 0
    return None if time.time_ns() - status.st_mtime_ns < _RACY_NANOSECONDS else (status.st_mtime_ns, status.st_ino)


def _listed(folder: str) -> _Folder:
    mark = _mark(folder)
    try:
        return _Folder(mark, frozenset(os.listdir(folder)))
    except (OSError, ValueError):
        return _Folder(mark, frozenset())
