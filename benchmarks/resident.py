"""The memory and the processor time of a language server and the processes below it, as the system counts them."""

from __future__ import annotations

import os
from pathlib import Path

Memory = dict[str, int]


def memory_of(server: int) -> Memory:
    """The resident bytes of the server, of its child, the checker, and of all below that."""
    parents = _parents()
    checkers = [process for process, parent in parents.items() if parent == server]
    below = [process for process in parents if any(_is_below(process, checker, parents) for checker in checkers)]
    return {"server": resident(server), "checker": sum(map(resident, checkers)), "provers": sum(map(resident, below))}


def spent_by(server: int) -> tuple[float, float]:
    """The milliseconds of the processor that the server and its child, the checker, have spent; with ended processes they waited
    for, such as compilers."""
    checkers = [process for process, parent in _parents().items() if parent == server]
    return _spent(server), sum(map(_spent, checkers))


def spent_below(server: int) -> dict[int, float]:
    """The milliseconds of the processor that the server and each process below it has spent, in steps of a clock tick."""
    parents = _parents()
    return {process: _spent(process) for process in parents if process == server or _is_below(process, server, parents)}


def _spent(process: int) -> float:
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return 1000 * sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _parents() -> dict[int, int]:
    parents: dict[int, int] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                parents[int(entry)] = int(Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
    return parents


def _is_below(process: int, ancestor: int, parents: dict[int, int]) -> bool:
    while (process := parents.get(process, 0)) > 1:
        if process == ancestor:
            return True
    return False


def resident(process: int) -> int:
    """The resident bytes of one process. 0 if there is none."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def peak(process: int) -> int:
    """The most resident bytes that one process has had. `ru_maxrss` counts also what the process held that started it."""
    status = Path(f"/proc/{process}/status").read_text()
    return next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmHWM:"))
