"""The memory that a process and those that it started hold, as Linux says it in /proc (proc(5))."""

from __future__ import annotations

import os

_MOST = 200  # processes that are asked about


def resident_bytes(pid: int) -> int | None:
    """The bytes of a process and of all below it; pages that several share count for each. None where there is no such
    process, or the system does not say."""
    total = _resident(pid)
    if total is None:
        return None
    waiting, seen = _children(pid), 0
    while waiting and seen < _MOST:
        child = waiting.pop()
        seen += 1
        total += _resident(child) or 0
        waiting += _children(child)
    return total


def _resident(pid: int) -> int | None:
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return None


def _children(pid: int) -> list[int]:
    """What the threads of a process have started; nothing where the kernel does not list that."""
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found += map(int, file.read().split())
    except (OSError, ValueError):
        pass  # it has ended
    return found
