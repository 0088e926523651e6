"""How files are read: the one function for what is in a folder of the user's, whoever wrote it.

A folder may hold anything under any name. Opening a pipe waits until somebody writes into it. `/dev/zero`
never ends. Opening some devices has effects. So only regular files are opened, which a link may lead to; what
was opened is looked at again, because the name may mean something else by then; and no more is read than was
asked for, also of a file that grows.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

_CHUNK = 1 << 20
_KINDS = (
    (stat.S_ISDIR, "it is a folder"),
    (stat.S_ISFIFO, "it is a pipe"),
    (stat.S_ISSOCK, "it is a socket"),
    (stat.S_ISCHR, "it is a device"),
    (stat.S_ISBLK, "it is a device"),
)
# without waiting for a pipe's other end, and without a terminal becoming ours
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


class UnreadableError(Exception):
    """A file cannot be read. `reason` is a clause in lower case without a full stop, such as "it is a pipe"; `missing`: there
    is no file of that name."""

    def __init__(self, reason: str, *, missing: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.missing = missing


def read_file(path: str | Path, most: int) -> bytes:
    """The bytes of a regular file of at most `most` bytes. Raises UnreadableError for anything else."""
    data = _read(path, most, most + 1)
    if len(data) > most:
        raise UnreadableError(_too_large(most))
    return data


def read_start(path: str | Path, count: int) -> bytes:
    """The first bytes of a regular file of any size, at most so many. Raises UnreadableError for anything else."""
    return _read(path, None, count)


def _read(path: str | Path, largest: int | None, count: int) -> bytes:
    try:
        _demand_regular(os.stat(path), largest)
        with open(os.open(path, _FLAGS), "rb", buffering=0) as file:
            _demand_regular(os.fstat(file.fileno()), largest)
            data = bytearray()
            while len(data) < count and (chunk := file.read(min(_CHUNK, count - len(data)))):
                data += chunk
    except (OSError, ValueError) as error:  # ValueError: a NUL byte in the path
        reason = getattr(error, "strerror", None) or str(error)
        missing = isinstance(error, FileNotFoundError | NotADirectoryError)
        raise UnreadableError(reason[:1].lower() + reason[1:], missing=missing) from error
    return bytes(data)


def is_regular(path: str | Path) -> bool:
    """Whether `read_file` has something to open: a regular file, or a link that leads to one."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _demand_regular(status: os.stat_result, largest: int | None) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableError(next((words for is_kind, words in _KINDS if is_kind(status.st_mode)), "it is not a regular file"))
    if largest is not None and status.st_size > largest:
        raise UnreadableError(_too_large(largest))


def _too_large(most: int) -> str:
    return f"it is larger than {most:,} bytes"
