"""Headers that are no regular files: to open a pipe, a compiler waits until somebody writes into it.

So the headers that a text includes, and those that they include, are looked at before the compiler runs: in the folders in which
it would look for them, without those of the system. Conditions are not evaluated: what is included nowhere may be named here.
Names that macros make are not seen; then the time that the compiler is given ends the wait.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from analysis.model.file_reading import UnreadableError, read_file

INCLUDE = re.compile(rb'^[ \t]*#[ \t]*(?:include|include_next|import)[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
_SYSTEM = ("/usr/", "/lib/", "/opt/")
_MOST = 5_000  # headers that are looked at
_LARGEST = 16_000_000  # bytes of a header; includes in a larger one are not seen


class Irregular(NamedTuple):
    """A header that is not a regular file. `kind` is a clause such as "it is a pipe". `line` is that of the
    `#include` in the text itself, 0 if a header includes it, which `by` is then."""

    name: str
    kind: str
    line: int
    by: str


def irregular_headers(source: bytes, folder: str, folders: Sequence[str], overlay: Mapping[str, bytes]) -> Iterator[Irregular]:
    """Those that a text in a folder leads to, with `folders` in which headers are looked for. `overlay` has unsaved texts."""
    seen: set[str] = set()
    waiting = [("", name, source.count(b"\n", 0, at) + 1) for name, at in _named(source)]
    while waiting and len(seen) < _MOST:
        by, name, line = waiting.pop()
        here = os.path.dirname(by) if by else folder
        for candidate in (here, *folders):
            path = os.path.normpath(os.path.join(candidate, name))
            unsaved = overlay.get(path)
            status = None if unsaved is not None else _status(path)
            if unsaved is None and (status is None or stat.S_ISDIR(status.st_mode)):
                continue
            if path in seen or path.startswith(_SYSTEM):
                break
            seen.add(path)
            if status is not None and not stat.S_ISREG(status.st_mode):
                yield Irregular(name, _kind(path), line, by)
                break
            found = _included(path, status.st_mtime_ns, status.st_size) if status is not None else _names(unsaved or b"")
            waiting += [(path, inner, 0) for inner in found]
            break


def _named(text: bytes) -> Iterator[tuple[str, int]]:
    for match in INCLUDE.finditer(text):
        yield os.fsdecode(match[1] or match[2]), match.start()


def _names(text: bytes) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name, _ in _named(text)))


@lru_cache(maxsize=4 * _MOST)
def _included(path: str, _changed: int, _size: int) -> tuple[str, ...]:
    """What a header includes, by its name, and when it was changed."""
    try:
        return _names(read_file(path, _LARGEST))
    except UnreadableError:
        return ()


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except (OSError, ValueError):
        return None


def _kind(path: str) -> str:
    """Why a file is not opened, as a clause."""
    try:
        read_file(path, 0)
    except UnreadableError as error:
        return error.reason
    return "it is not a regular file"
