"""Looks for fixes of one finding at a time, in a process of its own: the checker process stays free for the next key."""

from __future__ import annotations

import os
from collections.abc import Callable

from analysis.model.text_changes import Fix
from analysis.wire import AskFixes
from analysis.worker.programs import Programs
from analysis.worker.reference.running_task import RunningTask
from analysis.worker.reference.task import FixAnswer, FixTask

Tell = Callable[[int, tuple[Fix, ...] | None], None]


class Fixing:
    """The question that is under way. `notify` is called, in another thread, when there is news for `take`; `tell` is given the
    generation of each question and its answer."""

    def __init__(self, notify: Callable[[], None], tell: Tell) -> None:
        self._notify, self._tell = notify, tell
        self._running: RunningTask | None = None
        self._generation = 0

    def ask(self, request: AskFixes, programs: Programs) -> None:
        """A question about the texts as they are; the one before it ends without an answer."""
        self.close()
        path = os.path.abspath(request.path)
        checker, self._generation = programs.checker_of(path), request.generation
        if checker is None:
            self._tell(self._generation, ())
            return
        program, texts = programs.program_of(path), programs.texts
        task = FixTask(program, checker.options, programs.chosen_store, texts, path, request.fingerprint)
        try:
            self._running = RunningTask(program, task, self._notify)
        except OSError:  # the system has nothing left to give
            self._tell(self._generation, ())

    def take(self) -> None:
        """Tells what was answered, if the process has ended."""
        if self._running is not None and self._running.is_over:
            running, self._running = self._running, None
            found = next((answer.fixes for answer in running.answers if isinstance(answer, FixAnswer)), ())
            self._tell(self._generation, found)

    def close(self) -> None:
        """Ends what is under way: the text that it is about is not the newest any more."""
        if self._running is not None:
            self._running.end()
            self._running = None
            self._tell(self._generation, None)
