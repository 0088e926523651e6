"""Checks a program as it was at a reference, or as it would be after a fix: `python -m
analysis.worker.reference.reference_process`."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from analysis.api import Checker
from analysis.fixes.confirming import confirmed_fixes
from analysis.model.text_changes import Fix
from analysis.store.store_location import open_store
from analysis.worker.reference.edit_bisection import introducing_steps
from analysis.worker.reference.reference_check import at_reference
from analysis.worker.reference.reference_texts import text_on_disk
from analysis.worker.reference.task import (
    Answer,
    AuditTask,
    BisectionAnswer,
    BisectionTask,
    FixAnswer,
    FixTask,
    ReferenceTask,
    ReplayTask,
    Task,
    answering,
    read_task,
    write_answer,
)


def main() -> None:
    """Answers the task on standard input."""
    with answering() as stream:
        for answer in answers_to(read_task(sys.stdin.buffer)):
            write_answer(stream, answer)


def answers_to(task: Task) -> Iterator[Answer]:
    """What there is to say, one after the other: each says more than the one before."""
    folder = task.program if os.path.isdir(task.program) else os.path.dirname(task.program)
    assert not isinstance(task, AuditTask | ReplayTask)  # `running_task.command_of` says who answers these
    store = open_store(task.store, folder)
    checker = Checker(task.options, store=store)
    with contextlib.closing(checker):
        if isinstance(task, BisectionTask):
            checker.open_workspace(task.program, [path for path in task.texts if path.endswith(".c")])
            yield BisectionAnswer(introducing_steps(checker, task))
        elif isinstance(task, FixTask):
            yield FixAnswer(_fixes(checker, task))
        elif isinstance(task, ReferenceTask):
            yield from at_reference(checker, task)


def _fixes(checker: Checker, task: FixTask) -> tuple[Fix, ...]:
    checker.open_workspace(task.program, [path for path in task.texts if path.endswith(".c")])
    for path, text in task.texts.items():
        checker.change(path, text)
    edited = task.texts.get(task.path) or text_on_disk(task.path)
    return () if edited is None else confirmed_fixes(checker, task.path, edited, task.fingerprint)


if __name__ == "__main__":
    main()
