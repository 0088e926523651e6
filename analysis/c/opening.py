"""What a file is opened for, by what the function that opens it is passed."""

from __future__ import annotations

from typing import Literal

Purpose = Literal["read", "write", "update"]
"""`update`: both, or it is not known."""
_ACCESS = 3  # O_ACCMODE, of which O_RDONLY is 0, O_WRONLY 1 and O_RDWR 2, on all systems


def purpose_of_flags(flags: int) -> Purpose:
    """What `open` with these flags opens a file for (POSIX)."""
    return ("read", "write", "update", "update")[flags & _ACCESS]


def purpose_of_mode(mode: bytes) -> Purpose:
    """What `fopen` with this mode opens a file for (C11 7.21.5.3p3)."""
    if b"+" in mode or not mode.startswith((b"r", b"w", b"a")):
        return "update"
    return "read" if mode.startswith(b"r") else "write"
