"""Where a header that was not found is, for the message about it: in a folder near the file, which no flag names.

Nothing is read, and nothing depends on it but the message. Only a few folders are looked into, because that happens at each
keystroke of a file whose headers are missing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from analysis.model.settings import TOPS

_UPWARD = 4
_MOST_FOLDERS = 60  # of one folder


def folder_with(name: str, path: str) -> str | None:
    """The folder with which on the search path the header would be found, the nearest to the file at the absolute `path`; None if
    there is none. It is relative to the current folder if it is in that. It is the file's own folder, one above it in the same
    project, or one that is in one of these. A project without a version control ends at the current folder."""
    if os.path.isabs(name) or ".." in name.split("/"):
        return None
    here = os.getcwd()
    for folder in _near(os.path.dirname(path), here):
        if os.path.isfile(os.path.join(folder, name)):
            return os.path.relpath(folder, here) if _is_in(folder, here) else folder
    return None


def _near(folder: str, here: str) -> Iterator[str]:
    """The folder, those above it in the project, and those in these."""
    above = [folder]
    while len(above) <= _UPWARD and above[-1] not in (here, os.path.dirname(above[-1])) and not _is_top(above[-1]):
        above.append(os.path.dirname(above[-1]))
    if not (_is_top(above[-1]) or above[-1] == here):
        above = [folder]
    for one in above:
        yield one
        yield from _within(one)


def _is_top(folder: str) -> bool:
    return any(os.path.exists(os.path.join(folder, name)) for name in TOPS)


def _is_in(folder: str, other: str) -> bool:
    return os.path.commonpath((folder, other)) == other


def _within(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            names = sorted(
                entry.name for entry in entries if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
            )
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names[:_MOST_FOLDERS]]
