"""The cyclic garbage collector, and work in which it would find nothing."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_MANY_OBJECTS = 500_000
"""New objects that only a check from nothing makes, which are all of use."""


@contextmanager
def without_collecting() -> Iterator[None]:
    """Without the cyclic garbage collector, which takes a third of the time among millions of values that all stay."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


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
