"""The searches for error paths, dealt to several processes: each error's search depends on
nothing but the graph.

The processes are forks, which have the graph without being sent it. A process with threads must not
fork (what another thread holds would be held forever in the copy), so there the caller searches by
itself.

Own code: `multiprocessing.Pool` waits for ever for a process that was killed, and
`concurrent.futures` cannot be left while a process works. Here a process that has ended or is
stopped is noticed within a second, all are killed, and the caller searches by itself; it has the
time that the user gives, and not what a dead process would take.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import Any, NamedTuple, TypeVar

_FEW = 16  # searches; for fewer, starting processes costs more than it saves
_LOOK = 1.0  # seconds between two looks whether a process is stopped

Found = TypeVar("Found")


class _Worker(NamedTuple):
    process: ForkProcess
    line: Connection


class _LostError(Exception):
    """A process is not there any more, or does nothing."""


def can_fork() -> bool:
    """Whether this process may fork: the system has it, and no other thread runs."""
    return hasattr(os, "fork") and threading.active_count() == 1


def search_all(search: Callable[[int], Found], count: int, jobs: int) -> Sequence[Found] | None:
    """`search(0)` to `search(count - 1)`, in `jobs` processes; None if that is not possible here,
    not worth while, or if a process was lost on the way.

    `search` must leave nothing behind that the caller needs, and give what can be sent between
    processes. What it raises is raised here.
    """
    if jobs < 2 or count < _FEW or not can_fork():
        return None
    workers: list[_Worker] = []
    try:
        for _ in range(jobs):
            workers.append(_worker(search))
        return _collect(workers, count)
    except (_LostError, EOFError, OSError):
        return None
    finally:
        for worker in workers:
            worker.line.close()
            worker.process.kill()
            worker.process.join()


def _worker(search: Callable[[int], Any]) -> _Worker:
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(search, there), daemon=True)
    process.start()
    there.close()  # before the next fork: nobody else has this end, so its closing tells of the end of the process
    return _Worker(process, here)


def _serve(search: Callable[[int], Any], line: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the user means the process that waits for this one
    try:
        while True:
            number = line.recv()
            try:
                found: Any = search(number)
            except Exception as error:
                line.send((number, None, error))
            else:
                line.send((number, found, None))
    except (EOFError, OSError):
        pass  # nobody wants more


def _collect(workers: Sequence[_Worker], count: int) -> list[Any]:
    found: list[Any] = [None] * count
    numbers = iter(range(count))
    by_line = {worker.line: worker for worker in workers}
    at_work = {worker.line for worker in workers if _send_next(worker, numbers)}
    while at_work:
        ready = wait([*at_work], _LOOK)
        if not ready and any(is_stopped(by_line[line].process.pid) for line in at_work):
            raise _LostError
        for line in [line for line in at_work if line in ready]:
            number, value, error = line.recv()
            if error is not None:
                raise error
            found[number] = value
            if not _send_next(by_line[line], numbers):
                at_work.discard(line)
    return found


def _send_next(worker: _Worker, numbers: Iterator[int]) -> bool:
    number = next(numbers, None)
    if number is not None:
        worker.line.send(number)
    return number is not None


def is_stopped(pid: int | None) -> bool:
    """Whether a child process is stopped, by a signal or its terminal. Takes no notice of its end, which others ask for."""
    try:
        return pid is not None and os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return False
