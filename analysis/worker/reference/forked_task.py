"""A copy of the checker process that checks the program at its reference: it has the program in memory, so that it reads and
checks only what differs. Another process begins with the store: it makes the models of all functions again.

The copy shares the memory until one of both writes to it. It holds nothing else of the checker process: no pipe to the server or
to provers, and no file, so that nobody waits for it, and nothing is written where the checker writes. No prover is asked.

What another thread holds at the moment of the copy is held forever in it. The other threads of the checker process only take in
messages and answers, which the copy does not. Should it get stuck all the same, it is ended after some minutes, and says nothing.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable

import msgspec

from analysis.api import Checker
from analysis.worker.reference.reference_check import at_reference
from analysis.worker.reference.task import PATIENT, Answer, ReferenceTask, read_answer, write_answer

_OPEN_FILES = "/proc/self/fd"
_PATIENCE = 300.0  # seconds by the clock


def can_fork(checker: Checker, task: ReferenceTask) -> bool:
    """Whether a copy can answer. Only Linux tells it what it holds; elsewhere, a copy of a process with threads may not work."""
    is_check = task.checks and not task.proves
    return is_check and sys.platform == "linux" and checker.in_memory and os.path.isdir(_OPEN_FILES)


class ForkedTask:
    """A copy at work on a task. The attributes are those of `running_task.RunningTask`; `has_answered`: there was an answer."""

    def __init__(self, program: str, task: ReferenceTask, notify: Callable[[], None], checker: Checker) -> None:
        """Raises OSError if the system has nothing left to give."""
        self.program, self.task = program, task
        self.answers: list[Answer] = []
        self.has_answered = self.is_over = False
        self._notify = notify
        reading, writing = os.pipe()
        self._process = multiprocessing.get_context("fork").Process(target=_answer, args=(checker, task, writing))
        try:
            self._process.start()
        except OSError:
            os.close(reading)
            raise
        finally:
            os.close(writing)
        threading.Thread(target=self._read, args=(reading,), name="reference", daemon=True).start()

    def _read(self, reading: int) -> None:
        try:
            with os.fdopen(reading, "rb") as stream:
                while (answer := read_answer(stream)) is not None:
                    self.has_answered = True
                    self.answers.append(answer)
                    self._notify()
        except (OSError, msgspec.DecodeError):
            pass  # it ended: there is no reference then
        self._process.join()
        self.is_over = True
        self._notify()

    def end(self) -> None:
        """Ends the copy."""
        self._process.kill()


def _answer(checker: Checker, task: ReferenceTask, writing: int) -> None:
    """Runs in the copy."""
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)  # it means the checker process
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, _PATIENCE)
    _let_go_of_files(writing)
    os.nice(PATIENT)
    with os.fdopen(writing, "wb") as stream:
        for answer in at_reference(checker, task):
            write_answer(stream, answer)


def _let_go_of_files(kept: int) -> None:
    """Closes what the checker process has open. The numbers stay taken: objects that use them are still there."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for name in os.listdir(_OPEN_FILES):
        number = int(name)
        if number > 2 and number not in (kept, nothing):
            try:
                os.fstat(number)
            except OSError:
                continue  # that of the folder, which was read
            os.dup2(nothing, number, inheritable=False)
