"""Finds what is there in a program at a reference: kept of an earlier check of the same texts, or found by a check."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from analysis.api import Checker
from analysis.frontend.compiler.compiler_flags import find_compile_commands, load_compile_commands
from analysis.model.same_findings import FoundThere, found_in
from analysis.worker.reference.reference_texts import ReferenceTexts, missing_files, program_texts, read_reference, text_on_disk
from analysis.worker.reference.task import ReferenceAnswer, ReferenceTask, role_of


def at_reference(checker: Checker, task: ReferenceTask) -> Iterator[ReferenceAnswer]:
    """What there is to say, one after the other: each says more than the one before. `checker` may have another program open, or
    other texts; it is of no use for anything else from now on."""
    reference = read_reference(task.program, task.reference, task.first)
    gone = list(missing_files(reference.texts, task.program, _Listed(task)))
    checker.open_workspace(task.program, gone, role_of(task.reference))
    for path in task.opened:
        checker.change(path, None)
    texts = program_texts(reference, checker.files)
    for path, text in texts.items():
        checker.change(path, text)
    wanted = (*texts, *task.opened) if task.proves and task.options.engine != "automaton" else None
    kept = checker.known_revision()
    if kept is not None and (wanted is None or (kept.examined is not None and set(wanted) <= set(kept.examined))):
        yield _answer(reference, kept.found, kept.examined, is_disk=not texts)
        return
    yield _answer(reference, found_in(checker.check()), None, is_disk=not texts)
    examined = None if wanted is None else tuple(sorted(set(wanted)))
    if examined is not None:
        for path in task.opened:  # functions of files with an unsaved text are proved, as they are in the editor
            if path not in texts and (held := text_on_disk(path)) is not None:
                checker.change(path, held)
        checker.check()
        yield _answer(reference, found_in(checker.prove()), examined, is_disk=not texts)
    if checker.settled and not checker.failed:
        checker.keep_decisions()
        checker.keep_revision(examined if checker.has_final_answers else None)


class _Listed:
    """Which files a compile_commands.json names; all, where there is none."""

    def __init__(self, task: ReferenceTask) -> None:
        found = task.options.compile_commands or find_compile_commands(task.program)
        self._commands = None if found is None else load_compile_commands(found)

    def __call__(self, path: str) -> bool:
        commands = self._commands
        return commands is None or not commands.units or commands.flags_for(path) is not None


def _answer(reference: ReferenceTexts, found: FoundThere, examined: tuple[str, ...] | None, *, is_disk: bool) -> ReferenceAnswer:
    return ReferenceAnswer(
        reference.name,
        examined=examined,
        is_disk=is_disk,
        watched=reference.watched,
        problem=reference.problem,
        **msgspec.structs.asdict(found),
    )
