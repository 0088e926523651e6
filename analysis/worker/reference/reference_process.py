"""Checks a program as it was at a reference, or as it would be after a fix: `python -m
analysis.worker.reference.reference_process`."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from analysis.api import Checker
from analysis.fixes.confirming import confirmed_fixes
from analysis.frontend.compiler.compiler_flags import find_compile_commands, load_compile_commands
from analysis.model.report import Report
from analysis.model.same_findings import known
from analysis.model.text_changes import Fix
from analysis.store.store_location import open_store
from analysis.worker.reference.edit_bisection import introducing_steps
from analysis.worker.reference.reference_texts import ReferenceTexts, missing_files, program_texts, read_reference, text_on_disk
from analysis.worker.reference.task import (
    Answer,
    AuditTask,
    BisectionAnswer,
    BisectionTask,
    FixAnswer,
    FixTask,
    ReferenceAnswer,
    ReferenceTask,
    ReplayTask,
    Task,
    answering,
    read_task,
    role_of,
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
            yield from _at_reference(checker, task)


def _fixes(checker: Checker, task: FixTask) -> tuple[Fix, ...]:
    checker.open_workspace(task.program, [path for path in task.texts if path.endswith(".c")])
    for path, text in task.texts.items():
        checker.change(path, text)
    edited = task.texts.get(task.path) or text_on_disk(task.path)
    return () if edited is None else confirmed_fixes(checker, task.path, edited, task.fingerprint)


def _at_reference(checker: Checker, task: ReferenceTask) -> Iterator[ReferenceAnswer]:
    reference = read_reference(task.program, task.reference, task.first)
    gone = list(missing_files(reference.texts, task.program, _Listed(task)))
    checker.open_workspace(task.program, gone, role_of(task.reference))
    texts = program_texts(reference, checker.files)
    for path, text in texts.items():
        checker.change(path, text)
    yield _answer(reference, checker.check(), None, is_disk=not texts)
    if task.proves and task.options.engine != "automaton":
        for path in task.opened:  # functions of files with an unsaved text are proved, as they are in the editor
            if path not in texts and (held := text_on_disk(path)) is not None:
                checker.change(path, held)
        checker.check()
        yield _answer(reference, checker.prove(), tuple(sorted({*texts, *task.opened})), is_disk=not texts)
    checker.save()


class _Listed:
    """Which files a compile_commands.json names; all, where there is none."""

    def __init__(self, task: ReferenceTask) -> None:
        found = task.options.compile_commands or find_compile_commands(task.program)
        self._commands = None if found is None else load_compile_commands(found)

    def __call__(self, path: str) -> bool:
        commands = self._commands
        return commands is None or not commands.units or commands.flags_for(path) is not None


def _answer(reference: ReferenceTexts, report: Report, examined: tuple[str, ...] | None, *, is_disk: bool) -> ReferenceAnswer:
    return ReferenceAnswer(
        reference.name,
        tuple(map(known, report.findings)),
        tuple(sorted({function.name for function in report.functions})),
        report.refuted_findings,
        examined,
        is_disk=is_disk,
        watched=reference.watched,
        problem=reference.problem,
    )


if __name__ == "__main__":
    main()
