"""Checks a program from nothing, to compare: `python -m analysis.worker.auditing.audit_process`."""

from __future__ import annotations

import contextlib
import sys

from analysis.api import Checker
from analysis.model.report import Report
from analysis.worker.auditing.edit_replay import needed_edits
from analysis.worker.reference.task import AuditAnswer, AuditTask, ReplayAnswer, ReplayTask, answering, read_task, write_answer


def main() -> None:
    """Answers the task on standard input."""
    with answering() as stream:
        task = read_task(sys.stdin.buffer)
        if isinstance(task, ReplayTask):
            write_answer(stream, ReplayAnswer(needed_edits(task)))
        elif isinstance(task, AuditTask):
            write_answer(stream, AuditAnswer(report_from_nothing(task)))


def report_from_nothing(task: AuditTask) -> Report:
    """What is said of the program where nothing is known of it."""
    checker = Checker(task.options, jobs=1)
    with contextlib.closing(checker):
        checker.open_workspace(task.program, [path for path in task.texts if path.endswith(".c")])
        for path, text in task.texts.items():
            checker.change(path, text)
        checker.check()
        return checker.prove()


if __name__ == "__main__":
    main()
