"""The searches for ways to errors, dealt to several processes: each error's search depends on nothing but the graph.

The processes are forks, which have the graph without being sent it. A process with threads must not fork (what another thread
holds would be held forever in the copy), so there the caller searches by itself.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

_FEW = 16  # searches; for fewer, starting processes costs more than it saves

Found = TypeVar("Found")
_search: Callable[[int], Any] | None = None


def can_fork() -> bool:
    """Whether this process may fork: the system has it, and no other thread runs."""
    return hasattr(os, "fork") and threading.active_count() == 1


def search_all(search: Callable[[int], Found], count: int, jobs: int) -> Sequence[Found] | None:
    """`search(0)` to `search(count - 1)`, in `jobs` processes; None if that is not possible here or not worth while.

    `search` must leave nothing behind that the caller needs, and give what can be sent between processes.
    """
    global _search
    if jobs < 2 or count < _FEW or not can_fork():
        return None
    _search = search
    try:
        with multiprocessing.get_context("fork").Pool(jobs, _be_quiet) as pool:
            return pool.map(_run, range(count), chunksize=1)
    finally:
        _search = None


def _be_quiet() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the user means the process that waits for this one


def _run(number: int) -> Any:
    assert _search is not None
    return _search(number)
