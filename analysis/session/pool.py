"""Builds the units of a cold start in several processes."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool

import msgspec

from analysis.frontend.compiler_flags import UnitFlags
from analysis.model.options import Options
from analysis.session.building import Built, build


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

    Leaves out what it could not build, because `stop` asked to give up or the processes died (out of memory): the caller
    builds the rest itself.
    """
    # Forks are ready at once; but the checker process has a thread that reads requests, and must not fork.
    context = multiprocessing.get_context("fork" if threading.active_count() == 1 and hasattr(os, "fork") else "spawn")
    pool = ProcessPoolExecutor(min(jobs, len(paths)), mp_context=context)
    try:
        running = {pool.submit(_build, p, overlay.get(os.path.abspath(p)), flags[p], options, overlay): p for p in paths}
        for number, future in enumerate(as_completed(running)):
            path = running[future]
            yield path, future.result()
            if progress is not None:
                progress(f"Read {path}", number + 1, len(paths))
            if stop is not None and stop():
                return
    except BrokenProcessPool:
        return
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _build(path: str, text: bytes | None, flags: UnitFlags, options: Options, overlay: Mapping[str, bytes]) -> Built:
    return msgspec.structs.replace(build(path, text, flags, options, overlay), tree=None)
