"""Reads a reference, and says whether it differs from what is on the disk: `python -m analysis.worker.reference.reading_process`.

A process of its own, as `reference_process`, but one that loads next to nothing: most references are what is on the disk.
"""

from __future__ import annotations

import sys

from analysis.session.files.program_files import find_workspace
from analysis.worker.reference.reference_texts import program_texts, read_reference
from analysis.worker.reference.task import ReferenceAnswer, ReferenceTask, answering, read_task, write_answer


def main() -> None:
    """Answers the task on standard input."""
    with answering() as stream:
        task = read_task(sys.stdin.buffer)
        assert isinstance(task, ReferenceTask)
        write_answer(stream, read(task))


def read(task: ReferenceTask) -> ReferenceAnswer:
    """What there is to say of a reference without a check."""
    reference = read_reference(task.program, task.reference, task.first)
    files = find_workspace(task.program, (), task.options).files
    texts = program_texts(reference, files)
    watched, problem = reference.watched, reference.problem
    return ReferenceAnswer(
        reference.name, (), (), (), None, is_disk=not texts, is_checked=False, watched=watched, problem=problem
    )


if __name__ == "__main__":
    main()
