"""When the machine itself held everything up: a process for each core that does nothing but wake up (`benchmarks.typing_load`).

A virtual machine does not always have the processors that it shows. A program that waits 5 ms then wakes up 100 ms later,
whatever it does. The control processes have the beat of the server's loop (server.loop_watch), each on one core, with real-time
priority where that is permitted, so that no other process holds them up; what holds them up is the machine.

As a program of its own (`machine_waits.py CORE`): the control process; it ends at the end of its input and prints what it noted.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterable
from typing import Self

_PAUSE = 0.005  # seconds
_LATE = 0.005  # seconds; what is less is not noted
_PRIORITY = 50  # of 1 to 99

Interval = tuple[float, float]  # begin and end on the monotonic clock, in seconds


class Controls:
    """One control process for each core that this process may use, until the end of the block."""

    def __init__(self) -> None:
        self._processes: list[subprocess.Popen[bytes]] = []
        self.held_up: list[Interval] = []
        self.begun = 0.0  # on the monotonic clock, in seconds

    def __enter__(self) -> Self:
        for core in sorted(os.sched_getaffinity(0)):
            command = [sys.executable, "-I", __file__, str(core)]
            self._processes.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        for process in self._processes:
            assert process.stdout is not None
            process.stdout.readline()  # it says when it is ready
        self.begun = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        """From here on `held_up` holds when any of them was held up, without overlaps and in order."""
        noted = [json.loads(process.communicate()[0]) for process in self._processes]
        self.held_up = united((begin, end) for one in noted for begin, end in one)


def united(intervals: Iterable[Interval]) -> list[Interval]:
    """The same times without overlaps and in order."""
    found: list[Interval] = []
    for begin, end in sorted(intervals):
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((begin, end))
    return found


def shared(interval: Interval, others: Iterable[Interval]) -> float:
    """The seconds of an interval that fall into others, which do not overlap."""
    begin, end = interval
    return sum(max(0.0, min(end, other_end) - max(begin, other_begin)) for other_begin, other_end in others)


def _watch(core: int) -> list[Interval]:
    """The intervals in which this process, on one core, was held up, until its input ended. Each begins when
    it should have woken up and ends when it did."""
    os.sched_setaffinity(0, {core})
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
    gc.disable()
    print("ready", flush=True)
    found: list[Interval] = []
    last = time.monotonic()
    while not select.select([sys.stdin], [], [], _PAUSE)[0]:
        now = time.monotonic()
        if now - last > _PAUSE + _LATE:
            found.append((last + _PAUSE, now))
        last = now
    return found


if __name__ == "__main__":
    print(json.dumps(_watch(int(sys.argv[1]))))
