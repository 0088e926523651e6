"""Keeps the references of the programs up to date, and compares reports with them.

A reference is looked at again where it may be another one: a commit was made or checked out, a file was saved. What it is
compared with costs nothing where the present texts are those of the reference, or were when something was said of them last. Else
a process checks it, one at a time, while the checker process has nothing else to do (`running_task`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

import msgspec

from analysis.model.options import Options
from analysis.model.report import Report
from analysis.model.same_findings import found_in
from analysis.model.settings import NO_REFERENCE, REFERENCE_NAMES, SAVED, SESSION_START, is_session
from analysis.wire import Since
from analysis.worker.reference.bisections import Bisections
from analysis.worker.reference.followed_program import ComparedProgram, FollowedProgram, OnDisk, signature_of
from analysis.worker.reference.running_task import RunningTask
from analysis.worker.reference.session_texts import SessionTexts
from analysis.worker.reference.since import Reference
from analysis.worker.reference.task import (
    Answer,
    BisectionAnswer,
    BisectionTask,
    ReferenceAnswer,
    ReferenceTask,
    Task,
)


class References:
    """The references of all programs, by the names of the programs. `notify` is called, in another thread, when there is news."""

    def __init__(self, notify: Callable[[], None]) -> None:
        self._notify = notify
        self._setting = NO_REFERENCE
        self._store: str | None = None
        self._texts = SessionTexts()
        self._followed: dict[str, FollowedProgram] = {}
        self._running: RunningTask | None = None
        self._bisections = Bisections()
        self._problems: dict[str, None] = {}
        self._is_news = False

    def setting_of(self, program: str, options: Options) -> str:
        """What the findings of a program are compared with, as the setting of that name says it. Git is not asked about a
        workspace that is not trusted."""
        asks_git = self._setting not in (*REFERENCE_NAMES, NO_REFERENCE)
        return SESSION_START if asks_git and not (options.trusted and _is_in_repository(program)) else self._setting

    @property
    def first_texts(self) -> Mapping[str, str]:
        """The texts that files had when they were opened first, by absolute path."""
        return self._texts.first

    def configure(self, setting: str, store: str | None) -> None:
        """Other settings: everything is looked at again."""
        self._setting, self._store = SESSION_START if is_session(setting) else setting, store
        self._followed.clear()
        self.close()

    def edited(self, path: str, text: str | None, first: str | None = None) -> None:
        """A file has another text: see `SessionTexts.edited`."""
        if self._texts.edited(path, text, first):
            for followed in self._followed.values():
                followed.on_disk = None
                is_disk = followed.reference is not None and followed.reference.answer.is_disk
                followed.is_outdated = followed.is_outdated or is_disk

    def saved(self, checkers: Mapping[str, ComparedProgram]) -> None:
        """A file was saved. What the checkers have said of the present texts is said of those on the disk, if these are the
        same."""
        for program, followed in self._followed.items():
            followed.on_disk = None
            checker = checkers.get(program)
            if checker is not None and checker.is_current:
                self._remember(followed, checker, checker.report)
            followed.is_outdated = followed.is_outdated or self._setting == SAVED

    def look(self) -> None:
        """Looks whether references may be others by now."""
        for followed in self._followed.values():
            reference = followed.reference
            if reference is not None and signature_of(reference.answer.watched) != followed.signature:
                followed.is_outdated = True

    def wants(self, program: str, checker: ComparedProgram) -> bool:
        """Whether `advance` has something to do for a program."""
        if self._running is not None or checker.report is None:
            return False
        if self._bisections.waits(program):
            return True
        if self._setting == NO_REFERENCE:
            return False
        followed = self._followed.get(program)
        if followed is None or followed.is_outdated:
            return True
        if checker.unsaved and not checker.typing:
            return False  # what is kept will be of use
        asks = followed.wants_provers(self._texts.opened) and not checker.proving
        return followed.read is not None or asks or self._is_to_keep(followed, checker)

    def _is_to_keep(self, followed: FollowedProgram, checker: ComparedProgram) -> bool:
        """Whether what is kept of the present texts is of use for the next session, in which they may be others."""
        reference = followed.reference
        if reference is None or checker.unsaved or not checker.is_current:
            return False
        is_commit = self._setting not in REFERENCE_NAMES and reference.answer.name == self._setting
        return is_commit and self._is_at(reference.answer, checker) and not followed.is_kept(reference, checker.report)

    def advance(self, program: str, checker: ComparedProgram) -> None:
        """Does the next step for a program, or starts it."""
        if not self.wants(program, checker):
            return
        bisection = self._bisections.start(program)
        followed = self._followed.setdefault(program, FollowedProgram())
        setting = self.setting_of(program, checker.options)
        if bisection is not None:
            self._start(program, bisection)
        elif followed.is_outdated and setting not in REFERENCE_NAMES:
            followed.is_outdated, followed.read, followed.asked_about = False, None, None
            self._start(program, self._task(program, setting, checker, checks=False))
        elif followed.is_outdated or followed.read is not None:
            if followed.is_outdated:
                followed.is_outdated, followed.signature, followed.asked_about = False, (), None
                followed.read = ReferenceAnswer(
                    REFERENCE_NAMES[setting], (), (), (), None, is_disk=setting == SAVED, is_checked=False
                )
            self._find(program, followed, setting, checker)
        elif self._is_to_keep(followed, checker):
            checker.keep_revision()
            if followed.reference is not None and checker.report is not None:
                followed.keep(followed.reference, checker.report)
        elif followed.reference is not None:
            followed.reference.wants_provers, followed.asked_about = False, frozenset(self._texts.opened)
            self._start(program, self._task(program, setting, checker, proves=True))

    def _find(self, program: str, followed: FollowedProgram, setting: str, checker: ComparedProgram) -> None:
        """Finds what was there at a reference that was read: it is known, or is checked."""
        read, known = followed.read, self._known(followed, checker)
        followed.read = None
        if read is None or known is None:
            self._start(program, self._task(program, setting, checker))
            return
        answer = msgspec.structs.replace(read, is_checked=True, **msgspec.structs.asdict(found_in(known)))
        followed.reference, followed.seen, self._is_news = Reference(answer), known, True
        self._notify()

    def _known(self, followed: FollowedProgram, checker: ComparedProgram) -> Report | None:
        """A report on the texts of a reference that was read, if there is one."""
        read = followed.read
        if read is None:
            return None
        if self._is_at(read, checker):
            return checker.report if checker.is_current and checker.settled else None
        on_disk = followed.on_disk if read.is_disk and read.name != REFERENCE_NAMES[SESSION_START] else None
        return on_disk.report if on_disk is not None and on_disk.is_still_there else None

    def _task(
        self, program: str, setting: str, checker: ComparedProgram, *, checks: bool = True, proves: bool = False
    ) -> ReferenceTask:
        first, opened = dict(self._texts.first), tuple(self._texts.opened)
        return ReferenceTask(program, setting, checker.options, self._store, first, opened, checks, proves)

    def _start(self, program: str, task: Task) -> None:
        try:
            self._running = RunningTask(program, task, self._notify)
        except OSError:  # the system has nothing left to give: it is tried again when something changes
            self._running = None

    def bisect(self, generation: int, program: str, task: BisectionTask) -> None:
        """Asks which edit has introduced findings; `take_bisected` has the answer."""
        self._bisections.ask(generation, program, msgspec.structs.replace(task, store=self._store))

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
            self._bisections.end()  # if that was it, it has no answer
        return is_news or bool(answers)

    def _take(self, running: RunningTask, answer: Answer) -> None:
        if isinstance(answer, BisectionAnswer):
            self._bisections.end(answer.introduced)
        if not isinstance(answer, ReferenceAnswer):
            return
        followed = self._followed.setdefault(running.program, FollowedProgram())
        followed.signature = signature_of(answer.watched)
        if answer.is_checked:
            followed.reference, followed.seen = Reference(answer), None
        else:
            followed.read = answer
        if answer.problem:
            self._problems.setdefault(answer.problem)

    def take_bisected(self) -> list[tuple[int, dict[str, int]]]:
        """The answers to questions of generations, as `task.BisectionAnswer` has them; empty where nothing is known."""
        return self._bisections.take()

    def take_problems(self) -> tuple[str, ...]:
        """Why references are not those that were asked for, once."""
        taken, self._problems = tuple(self._problems), {}
        return taken

    def marks(self, program: str, checker: ComparedProgram, report: Report) -> tuple[str, tuple[Since | None, ...]]:
        """What a report is compared with, as people are told, and what each of its findings is; empty if that is not known."""
        if self._setting == NO_REFERENCE:
            return "", ()
        followed = self._followed.setdefault(program, FollowedProgram())
        self._remember(followed, checker, report)
        reference = followed.reference
        if reference is None:
            return "", ()
        if checker.settled and followed.seen is not report and self._is_at(reference.answer, checker):
            reference.follow(found_in(report))
            followed.seen = report
        return reference.answer.name, reference.marks(report, lambda: checker.suspected, self._texts.opened)

    def _remember(self, followed: FollowedProgram, checker: ComparedProgram, report: Report | None) -> None:
        if report is not None and checker.settled and not checker.typing:
            followed.on_disk = OnDisk(report, dict(self._texts.opened))

    def _is_at(self, answer: ReferenceAnswer, checker: ComparedProgram) -> bool:
        """Whether the present texts are those of the reference."""
        if answer.name == REFERENCE_NAMES[SESSION_START]:
            return self._texts.are_first
        return answer.is_disk and not checker.typing

    def close(self) -> None:
        """Ends what is under way."""
        if self._running is not None:
            self._running.end()
            self._running = None
        self._bisections.end()


def _is_in_repository(program: str) -> bool:
    """Whether it may be worth while to ask git about the folder of a program."""
    here = os.path.realpath(program)
    while not os.path.lexists(os.path.join(here, ".git")):
        above = os.path.dirname(here)
        if above == here:
            return False
        here = above
    return True
