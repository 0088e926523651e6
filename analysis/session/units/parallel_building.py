"""Builds the units of a cold start in several processes."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

import msgspec

from analysis.engines.automaton.feasibility.parallel import is_stopped
from analysis.model.options import Options
from analysis.model.unit_flags import UnitFlags
from analysis.session.units.built import Built
from analysis.session.units.file_building import build

_SAFE_PATH = "PYTHONSAFEPATH"
_TURN = 0.05  # seconds between two looks whether to give up
_LOOK = 20  # turns between two looks whether a process is stopped


def build_many(
    paths: Sequence[str],
    flags: Mapping[str, UnitFlags],
    options: Options,
    overlay: Mapping[str, bytes],
    jobs: int,
    progress: Callable[[str, int, int], None] | None,
    stop: Callable[[], bool] | None,
) -> Iterator[tuple[str, Built]]:
    """Builds the files in `jobs` processes, and gives each as it is done, in no particular order.

    Leaves out what it could not build, because `stop` asked to give up or the processes died (out
    of memory) or were stopped: the caller builds the rest itself.
    """
    # Forks are ready at once; but the checker process has a thread that reads requests, and must not fork.
    context = multiprocessing.get_context("fork" if threading.active_count() == 1 and hasattr(os, "fork") else "spawn")
    pool = ProcessPoolExecutor(min(jobs, len(paths)), mp_context=context)
    try:
        with _without_modules_of_the_current_folder():  # the processes start here
            running = {pool.submit(_build, p, overlay.get(os.path.abspath(p)), flags[p], options, overlay): p for p in paths}
        left, turns = set(running), 0
        while left:
            done, left = wait(left, _TURN, FIRST_COMPLETED)
            turns = 0 if done else turns + 1
            if turns >= _LOOK:
                turns = 0
                _kill_stopped()
            for future in sorted(done, key=list(running).index):
                path = running[future]
                yield path, future.result()
                if progress is not None:
                    progress("Reading", len(paths) - len(left), len(paths))
            if stop is not None and stop():
                _kill(pool)
                return
    except BrokenProcessPool:
        return
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _without_modules_of_the_current_folder() -> Iterator[None]:
    """Python that is started anew must not look for modules in the current folder first."""
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before


def _kill(pool: ProcessPoolExecutor) -> None:
    """Ends the processes of a pool, whatever they are at: to wait for them takes as long as their files do."""
    for process in list((pool._processes or {}).values()):
        process.kill()


def _kill_stopped() -> None:
    """Kills the processes of pools that are stopped: a pool would wait for them without end, and gives up
    when they are gone."""
    for process in multiprocessing.active_children():
        if is_stopped(process.pid):
            process.kill()


def _build(path: str, text: bytes | None, flags: UnitFlags, options: Options, overlay: Mapping[str, bytes]) -> Built:
    return msgspec.structs.replace(build(path, text, flags, options, overlay), tree=None)
