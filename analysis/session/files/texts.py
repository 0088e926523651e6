"""What every file holds now: its unsaved text where there is one, else what is on the disk.

Digests of files on the disk are cached by modification time and size. A file that was written a moment before it was looked
at could change again without either changing (git calls this racily clean), so such an entry is not trusted.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

import msgspec

from analysis.model.digest import digest_text
from analysis.model.file_reading import UnreadableError, is_regular, read_file

_RACY_NANOSECONDS = 2_000_000_000
_LARGEST = 256_000_000  # bytes; larger than any limit can be set to


class _Seen(msgspec.Struct, frozen=True):
    modified: int
    size: int
    inode: int
    trusted: bool
    digest: str


class _Unsaved(msgspec.Struct, frozen=True):
    version: int | None
    data: bytes
    digest: str


class Texts:
    """The texts of all files, by absolute path."""

    def __init__(self) -> None:
        self._unsaved: dict[str, _Unsaved] = {}
        self._seen: dict[str, _Seen] = {}
        self._now: dict[str, str | None] = {}

    def change(self, path: str, text: str | None, version: int | None) -> None:
        """Sets the unsaved text of a file; None: what is on the disk counts again."""
        key = os.path.abspath(path)
        if text is None:
            self._unsaved.pop(key, None)
            return
        data = text.encode("utf-8", "surrogatepass")
        self._unsaved[key] = _Unsaved(version, data, digest_text(data))

    def copy(self, other: Texts) -> None:
        """Takes over the unsaved texts of others."""
        self._unsaved = dict(other._unsaved)

    def begin(self) -> None:
        """Starts a revision: every file is looked at afresh, and at most once until the next call."""
        self._now.clear()

    def unsaved(self, path: str) -> bytes | None:
        """The unsaved text of the file, if it has one."""
        unsaved = self._unsaved.get(os.path.abspath(path))
        return None if unsaved is None else unsaved.data

    def version(self, path: str) -> int | None:
        """The version that came with the unsaved text, None for the text on the disk."""
        unsaved = self._unsaved.get(os.path.abspath(path))
        return None if unsaved is None else unsaved.version

    @property
    def differ(self) -> bool:
        """Whether any unsaved text is not what is on the disk now."""
        return any(self._digest_on_disk(path) != unsaved.digest for path, unsaved in self._unsaved.items())

    @property
    def new(self) -> frozenset[str]:
        """The files of which there are only unsaved texts, by absolute path."""
        return frozenset(path for path in self._unsaved if not os.path.exists(path))

    def overlay(self) -> Mapping[str, bytes]:
        """All unsaved texts by absolute path."""
        return {path: unsaved.data for path, unsaved in self._unsaved.items()}

    def digest(self, path: str) -> str | None:
        """A digest of what the file holds in this revision; None when it cannot be read."""
        return self.digest_at(os.path.abspath(path))

    def digest_at(self, key: str) -> str | None:
        """The same, for an absolute path without `..`: of a program's headers this is asked at every key."""
        unsaved = self._unsaved.get(key)
        if unsaved is not None:
            return unsaved.digest
        if key not in self._now:
            self._now[key] = self._digest_on_disk(key)
        return self._now[key]

    def read(self, path: str, limit: int) -> bytes | None:
        """The bytes of the file; None when it cannot be read, is not a regular file, or is larger than `limit` bytes."""
        key = os.path.abspath(path)
        unsaved = self._unsaved.get(key)
        if unsaved is not None:
            return unsaved.data
        try:
            return read_file(key, limit)
        except UnreadableError:
            return None

    def _digest_on_disk(self, path: str) -> str | None:
        try:
            status = os.stat(path)
            seen = self._seen.get(path)
            if seen is not None and seen.trusted:
                same = (seen.modified, seen.size, seen.inode) == (status.st_mtime_ns, status.st_size, status.st_ino)
                if same:
                    return seen.digest
            if not is_regular(path):
                return None
            if status.st_size > _LARGEST:  # nobody reads it
                return f"{status.st_size} bytes"
            trusted = time.time_ns() - status.st_mtime_ns > _RACY_NANOSECONDS
            digest = digest_text(read_file(path, _LARGEST))
        except (OSError, UnreadableError):
            self._seen.pop(path, None)
            return None
        self._seen[path] = _Seen(status.st_mtime_ns, status.st_size, status.st_ino, trusted, digest)
        return digest
