"""Keeps the references of the programs up to date, and compares reports with them.

A reference is looked at again where it may be another one: a commit was made or checked out, a file was saved. What it is
compared with costs nothing where the present texts are those of the reference: then what is said of the ones is what is known of
the other. Else a process is started (`reference_process`), one at a time, while the checker process has nothing else to do; a
thread waits for it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Protocol

import msgspec

from analysis.model.options import Options
from analysis.model.report import Report
from analysis.model.settings import NO_REFERENCE, SAVED, SESSION_START
from analysis.wire import Since
from analysis.worker.reference.reference_texts import NAMES
from analysis.worker.reference.since import Reference
from analysis.worker.reference.task import (
    Answer,
    BisectionAnswer,
    BisectionTask,
    ReferenceAnswer,
    ReferenceTask,
    Task,
    encode_task,
    read_answer,
)

COMMAND = (
    sys.executable,
    *(("-S",) if sys.flags.no_site else ()),
    "-P",
    "-m",
    "analysis.worker.reference.reference_process",
)
_Signature = tuple[tuple[int, int] | None, ...]


class ComparedProgram(Protocol):
    """What comparing needs of a program's checker."""

    options: Options
    report: Report | None
    failed: bool
    settled: bool

    @property
    def typing(self) -> bool:
        """Whether a text is not what is on the disk."""

    @property
    def unsaved(self) -> bool:
        """Whether its results are still to be kept."""

    @property
    def proving(self) -> bool:
        """Whether provers are at work."""

    @property
    def suspected(self) -> frozenset[str] | None:
        """The fingerprints of findings that did not take a prover to be found."""


class _Running:
    """A process at work on a task. `answers` are those that came; `is_over`: no more will."""

    def __init__(self, program: str, task: Task, notify: Callable[[], None]) -> None:
        self.program, self.task = program, task
        self.answers: list[Answer] = []
        self.is_over = False
        self._notify = notify
        self._process = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        threading.Thread(target=self._read, name="reference", daemon=True).start()

    def _read(self) -> None:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            with process.stdin as stream:
                stream.write(encode_task(self.task))
            while (answer := read_answer(process.stdout)) is not None:
                self.answers.append(answer)
                self._notify()
        except (OSError, msgspec.DecodeError):
            pass  # it ended, or makes no sense: there is no reference then
        process.stdout.close()
        process.kill()
        process.wait()
        self.is_over = True
        self._notify()

    def end(self) -> None:
        """Ends the process."""
        self._process.kill()


class _Followed:
    """What is known of one program. `is_outdated`: the reference is to be looked at (again)."""

    def __init__(self) -> None:
        self.reference: Reference | None = None
        self.signature: _Signature = ()
        self.is_outdated = True


class References:
    """The references of all programs, by the names of the programs. `notify` is called, in another thread, when there is news."""

    def __init__(self, notify: Callable[[], None]) -> None:
        self._notify = notify
        self._setting = NO_REFERENCE
        self._store: str | None = None
        self._first: dict[str, str] = {}
        self._now: dict[str, str] = {}
        self._followed: dict[str, _Followed] = {}
        self._running: _Running | None = None
        self._bisections: list[tuple[int, str, BisectionTask]] = []
        self._bisecting = 0  # the generation of the question that a process is at work on
        self._bisected: list[tuple[int, dict[str, int]]] = []
        self._problems: dict[str, None] = {}
        self._is_news = False
        self._is_changed_outside = False  # a file that was not open

    @property
    def setting(self) -> str:
        """The setting that says what findings are compared with."""
        return self._setting

    @property
    def first_texts(self) -> Mapping[str, str]:
        """The texts that files had when they were opened first, by absolute path."""
        return self._first

    def configure(self, setting: str, store: str | None) -> None:
        """Other settings: everything is looked at again."""
        self._setting, self._store = setting, store
        self._followed.clear()
        self.close()

    def edited(self, path: str, text: str | None, first: str | None = None) -> None:
        """A file has a new unsaved text; None: it was closed, or changed on the disk. `first` is what it was when it was opened
        first, where that is not the first text that comes here."""
        if first is not None:
            self._first.setdefault(path, first)
        if text is not None:
            self._first.setdefault(path, text)
            self._now[path] = text
        elif self._now.pop(path, None) is None:
            self._is_changed_outside = True
            self._outdate(lambda reference: reference.answer.is_disk)

    def saved(self) -> None:
        """A file was saved."""
        if self._setting == SAVED:
            self._outdate(lambda _: True)

    def look(self) -> None:
        """Looks whether references may be others by now."""
        for followed in self._followed.values():
            reference = followed.reference
            if reference is not None and _signature(reference.answer.watched) != followed.signature:
                followed.is_outdated = True

    def _outdate(self, concerned: Callable[[Reference], bool]) -> None:
        for followed in self._followed.values():
            if followed.reference is not None and concerned(followed.reference):
                followed.is_outdated = True

    def wants(self, program: str, checker: ComparedProgram) -> bool:
        """Whether `advance` has something to do for a program."""
        if self._running is not None or checker.report is None:
            return False
        if any(name == program for _, name, _ in self._bisections):
            return True
        if self._setting == NO_REFERENCE or (checker.unsaved and not checker.typing):
            return False  # what is kept will be of use
        followed = self._followed.get(program)
        if followed is None or followed.is_outdated:
            return True
        return followed.reference is not None and followed.reference.wants_provers and not checker.proving

    def advance(self, program: str, checker: ComparedProgram) -> None:
        """Starts what is to be done for a program, if it is anything."""
        if not self.wants(program, checker):
            return
        bisection = next((one for one in self._bisections if one[1] == program), None)
        if bisection is not None:
            self._bisections.remove(bisection)
            self._bisecting = bisection[0]
            self._start(program, bisection[2])
            return
        followed = self._followed.setdefault(program, _Followed())
        proves = not followed.is_outdated
        followed.is_outdated = False
        if followed.reference is not None:
            followed.reference.wants_provers = False
        setting = self._setting if self._setting in NAMES or _is_in_repository(program) else SESSION_START
        if setting in NAMES and self._is_at_reference(setting, checker):
            answer = ReferenceAnswer(NAMES[setting], (), (), (), None, is_disk=setting == SAVED)
            followed.reference, followed.signature, self._is_news = Reference(answer), (), True
            self._notify()
            return
        self._start(
            program, ReferenceTask(program, setting, checker.options, self._store, dict(self._first), tuple(self._now), proves)
        )

    def _start(self, program: str, task: Task) -> None:
        try:
            self._running = _Running(program, task, self._notify)
        except OSError:  # the system has nothing left to give: it is tried again when something changes
            self._running = None

    def bisect(self, generation: int, program: str, task: BisectionTask) -> None:
        """Asks which edit has introduced findings; `take_bisected` has the answer."""
        self._bisections.append((generation, program, msgspec.structs.replace(task, store=self._store)))

    def take(self) -> bool:
        """Takes what processes have answered; whether reports are to be compared again."""
        is_news, self._is_news = self._is_news, False
        running = self._running
        if running is None:
            return is_news
        is_over = running.is_over  # before the last answer is taken
        answers, running.answers = running.answers, []
        for answer in answers:
            self._take(running, answer)
        if is_over:
            self._running = None
            if isinstance(running.task, BisectionTask) and self._bisecting:
                self._bisected.append((self._bisecting, {}))  # it ended without an answer
                self._bisecting = 0
        return is_news or bool(answers)

    def _take(self, running: _Running, answer: Answer) -> None:
        if isinstance(answer, BisectionAnswer):
            self._bisected.append((self._bisecting, answer.introduced))
            self._bisecting = 0
            return
        followed = self._followed.setdefault(running.program, _Followed())
        followed.reference = Reference(answer)
        followed.signature = _signature(answer.watched)
        if answer.problem:
            self._problems.setdefault(answer.problem)

    def take_bisected(self) -> list[tuple[int, dict[str, int]]]:
        """The answers to questions of generations, as `task.BisectionAnswer` has them; empty where nothing is known."""
        taken, self._bisected = self._bisected, []
        return taken

    def take_problems(self) -> tuple[str, ...]:
        """Why references are not those that were asked for, once."""
        taken, self._problems = tuple(self._problems), {}
        return taken

    def marks(self, program: str, checker: ComparedProgram, report: Report) -> tuple[str, tuple[Since | None, ...]]:
        """What a report is compared with, as people are told, and what each of its findings is; empty if that is not known."""
        followed = self._followed.get(program)
        reference = None if followed is None else followed.reference
        if reference is None:
            return "", ()
        if checker.settled and not checker.failed and self._is_as_answered(reference, checker):
            reference.follow(report)
        return reference.answer.name, reference.marks(report, lambda: checker.suspected, self._now)

    def _is_as_answered(self, reference: Reference, checker: ComparedProgram) -> bool:
        """Whether the present texts are those of the reference."""
        if reference.answer.name == NAMES[SESSION_START]:
            return self._is_at_reference(SESSION_START, checker)
        return reference.answer.is_disk and not checker.typing

    def _is_at_reference(self, setting: str, checker: ComparedProgram) -> bool:
        """Whether the present texts are the saved ones, or those of the start of the session."""
        if setting == SAVED:
            return not checker.typing
        return not self._is_changed_outside and all(self._now.get(path) == text for path, text in self._first.items())

    def close(self) -> None:
        """Ends what is under way."""
        if self._running is not None:
            self._running.end()
            self._running = None


def _signature(paths: tuple[str, ...]) -> _Signature:
    return tuple(map(_written, paths))


def _written(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _is_in_repository(program: str) -> bool:
    """Whether it may be worth while to ask git about the folder of a program."""
    here = os.path.realpath(program)
    while not os.path.lexists(os.path.join(here, ".git")):
        above = os.path.dirname(here)
        if above == here:
            return False
        here = above
    return True
