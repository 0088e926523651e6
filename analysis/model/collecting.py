"""The cyclic garbage collector, and work in which it would find nothing; memory that goes back to the system."""

from __future__ import annotations

import ctypes
import gc
import mmap
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_MUCH = 16 << 20  # bytes
_MANY_OBJECTS = 500_000
"""New objects that only a check from nothing makes, which are all of use."""


@contextmanager
def without_collecting() -> Iterator[None]:
    """Runs work without the cyclic garbage collector. Where millions of values all stay alive, it would take a third of
    the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class Trimmer:
    """Gives memory that was freed back to the system, where the C library (glibc) keeps it for itself else."""

    def __init__(self) -> None:
        self._trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
        self._left = 0  # resident bytes after the last time

    def trim(self) -> None:
        """For when nothing else is to be done. Takes some milliseconds, where the process has become much larger, and next to
        nothing else."""
        if self._trim is not None and _resident() > self._left + _MUCH:
            self._trim(0)
            self._left = _resident()


def _resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * mmap.PAGESIZE


def collect_what_is_new() -> None:
    """Frees what was left in cycles since it was last asked, in a process in which the collector is off: for when nothing else
    is to be done. What a check from nothing made is of use, and to look through its millions of objects takes seconds: that is
    never done. What edits make is looked through again and again, until there is much of it.

    Edits themselves leave no cycles (tests/session/test_no_cycles.py); a traceback or a library may.
    """
    if gc.get_count()[0] > _MANY_OBJECTS:
        gc.freeze()
        return
    gc.collect()
    if sum(map(len, map(gc.get_objects, range(3)))) > _MANY_OBJECTS // 2:
        gc.freeze()
