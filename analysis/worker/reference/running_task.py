"""A process that works on a task, and the thread that waits for it."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable

import msgspec

from analysis.worker.reference.task import Answer, AuditTask, ReferenceTask, ReplayTask, Task, encode_task, read_answer

_PYTHON = (sys.executable, *(("-S",) if sys.flags.no_site else ()), "-P", "-m")
_PACKAGE = "analysis.worker.reference"
_AUDITS = "analysis.worker.auditing.audit_process"


def command_of(task: Task) -> tuple[str, ...]:
    """The command of the process that answers a task."""
    if isinstance(task, AuditTask | ReplayTask):
        return (*_PYTHON, _AUDITS)
    reads = isinstance(task, ReferenceTask) and not task.checks
    return (*_PYTHON, f"{_PACKAGE}.{'reading_process' if reads else 'reference_process'}")


class RunningTask:
    """A process at work on a task. `answers` are those that came; `is_over`: no more will."""

    def __init__(self, program: str, task: Task, notify: Callable[[], None]) -> None:
        self.program, self.task = program, task
        self.answers: list[Answer] = []
        self.is_over = False
        self._notify = notify
        self._process = subprocess.Popen(command_of(task), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        threading.Thread(target=self._read, name="reference", daemon=True).start()

    def _read(self) -> None:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            task = encode_task(self.task)
            with process.stdin as stream:
                stream.write(task)
            while (answer := read_answer(process.stdout)) is not None:
                self.answers.append(answer)
                self._notify()
        except (OSError, msgspec.DecodeError, UnicodeEncodeError):
            pass  # it ended, or makes no sense, or a path is no text: there is no reference then
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()
        self.is_over = True
        self._notify()

    def end(self) -> None:
        """Ends the process."""
        self._process.kill()
