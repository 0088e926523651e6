"""Builds the units of a cold start in several processes.

Each process has a line of its own. With one queue for all, as `concurrent.futures` has it, a process that is killed while it
sends, because something newer has arrived, leaves half a message behind, for whose rest the reader waits without end.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from typing import NamedTuple

import msgspec

from analysis.engines.automaton.feasibility.parallel import is_stopped
from analysis.model.options import Options
from analysis.model.unit_flags import UnitFlags
from analysis.session.units.built import Built
from analysis.session.units.file_building import build

_SAFE_PATH = "PYTHONSAFEPATH"
_TURN = 0.01  # seconds between two looks whether to give up: a key waits for it
_LOOK = 100  # turns between two looks whether a process is stopped
_AHEAD = 2  # files that a process is given at once, so that it does not wait while the caller takes what others have built

_Outcome = tuple[str, Built | Exception]


class _Builder(NamedTuple):
    process: BaseProcess
    line: Connection


class _LostError(Exception):
    """A process is not there any more, or does nothing."""


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

    Leaves out what it could not build, because `stop` asked to give up or a process died (out of memory) or was stopped: the
    caller builds the rest itself. The processes are killed then, as to wait for them takes as long as their files do, and the
    caller does not wait for their end, as a key waits for the caller: the next process that is started, or the end of this one,
    sees to what is left of them.
    """
    builders: list[_Builder] = []
    try:
        with _without_modules_of_the_current_folder():
            for _ in range(min(jobs, len(paths))):
                builders.append(_started(options, overlay))
        for number, (path, built) in enumerate(_outcomes(builders, paths, flags, stop), 1):
            if isinstance(built, Exception):
                raise built
            yield path, built
            if progress is not None:
                progress("Reading", number, len(paths))
    except _LostError:
        return
    finally:
        for builder in builders:
            builder.line.close()
            builder.process.kill()


def _started(options: Options, overlay: Mapping[str, bytes]) -> _Builder:
    # Forks are ready at once; but the checker process has a thread that reads requests, and must not fork.
    forks = threading.active_count() == 1 and hasattr(os, "fork")
    context = multiprocessing.get_context("fork") if forks else multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, options, overlay), daemon=True)
    process.start()
    there.close()  # before the next fork: nobody else has this end, so its closing tells of the end of the process
    return _Builder(process, here)


def _outcomes(
    builders: Sequence[_Builder], paths: Sequence[str], flags: Mapping[str, UnitFlags], stop: Callable[[], bool] | None
) -> Iterator[_Outcome]:
    """What became of each file. Ends early when `stop` asks for it. Raises _LostError."""
    waiting = iter(paths)

    def deal(builder: _Builder) -> None:
        path = next(waiting, None)
        if path is not None:
            _send(builder, path, flags[path])

    for _ in range(_AHEAD):
        for builder in builders:
            deal(builder)
    by_line, turns, left = {builder.line: builder for builder in builders}, 0, len(paths)
    while left:
        ready = wait(list(by_line), _TURN)
        turns = 0 if ready else turns + 1
        if turns % _LOOK == _LOOK - 1 and any(is_stopped(builder.process.pid) for builder in builders):
            raise _LostError
        for builder in [builder for line, builder in by_line.items() if line in ready]:
            outcome = _received(builder)
            left -= 1
            deal(builder)  # before the caller looks at this one
            yield outcome
        if stop is not None and stop():
            return


def _send(builder: _Builder, path: str, flags: UnitFlags) -> None:
    try:
        builder.line.send((path, flags))
    except OSError:
        raise _LostError from None


def _received(builder: _Builder) -> _Outcome:
    try:
        outcome: _Outcome = builder.line.recv()
    except (EOFError, OSError):
        raise _LostError from None
    return outcome


def _serve(line: Connection, options: Options, overlay: Mapping[str, bytes]) -> None:
    """Builds the files that come, in a process of its own, until no more can come. A thread takes in what comes: the caller, who
    sends long flags while a long result is on its way to it, would else wait for this process, and this one for the caller."""
    coming = SimpleQueue[tuple[str, UnitFlags] | None]()
    threading.Thread(target=_take_in, args=(line, coming), daemon=True).start()
    try:
        while (asked := coming.get()) is not None:
            path, flags = asked
            line.send((path, _built(path, overlay.get(os.path.abspath(path)), flags, options, overlay)))
    except (EOFError, OSError):
        pass  # nobody wants more


def _take_in(line: Connection, coming: SimpleQueue[tuple[str, UnitFlags] | None]) -> None:
    try:
        while True:
            coming.put(line.recv())
    except (EOFError, OSError):
        coming.put(None)


def _built(path: str, text: bytes | None, flags: UnitFlags, options: Options, overlay: Mapping[str, bytes]) -> Built | Exception:
    try:
        return msgspec.structs.replace(build(path, text, flags, options, overlay), tree=None)
    except Exception as error:  # the caller's, who raises it
        return error


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
