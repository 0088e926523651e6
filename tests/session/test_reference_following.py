"""When programs are checked at their references, and when what is known already is enough.

The classes: a check is made that is not needed, or again and again; or findings are compared with what is not the reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from analysis.model.options import Options
from analysis.model.places import Place, Position, Range
from analysis.model.report import Finding, FunctionReport, Report, Times, Work
from analysis.model.same_findings import known
from analysis.worker.reference import following
from analysis.worker.reference.following import References
from analysis.worker.reference.task import BisectionTask, ReferenceAnswer, ReferenceTask, Task

AT = Place("/w/a.c", Range(Position(1, 1), Position(1, 2)), None)


def report(*names: str) -> Report:
    """A report with a finding in each of these functions."""
    findings = tuple(Finding("rule", "possible", "warning", f"in {name}", AT, name, name, ()) for name in names)
    return Report("violated", (), (FunctionReport("f", AT, {}),), findings, (), Work(), Times())


class Checker:
    """What is asked of a checker."""

    def __init__(self, *names: str) -> None:
        self.options = Options()
        self.report: Report | None = report(*names)
        self.settled = self.is_current = True
        self.typing = self.unsaved = self.proving = False
        self.suspected: frozenset[str] | None = None
        self.kept = 0

    def keep_revision(self) -> bool:
        self.kept += 1
        return True

    def types(self, *names: str) -> None:
        """A text is not what is on the disk, and this is found in it."""
        self.report, self.typing = report(*names), True


class Process:
    """In place of a process: answers when the test says so."""

    started: list[Process] = []

    def __init__(self, program: str, task: Task, notify: Any) -> None:
        self.program, self.task, self.notify = program, task, notify
        self.answers: list[Any] = []
        self.is_over = False
        self.started.append(self)

    def end(self) -> None:
        self.is_over = True

    def answer(self, *answers: Any) -> None:
        self.answers += answers
        self.is_over = True


@pytest.fixture(autouse=True)
def started(monkeypatch: pytest.MonkeyPatch) -> list[Process]:
    Process.started = []
    monkeypatch.setattr(following, "RunningTask", Process)
    return Process.started


class Session:
    """A program in a folder, and its reference."""

    def __init__(self, folder: Path, setting: str, *names: str) -> None:
        self.program = str(folder)
        self.file = str(folder / "a.c")
        self.checker = Checker(*names)
        self.references = References(lambda: None)
        self.references.configure(setting, None)
        self.shown()

    def advance(self) -> None:
        self.references.advance(self.program, self.checker)
        self.references.take()

    def shown(self) -> tuple[str, tuple[str | None, ...]]:
        assert self.checker.report is not None
        return self.references.marks(self.program, self.checker, self.checker.report)

    @property
    def wants(self) -> bool:
        return self.references.wants(self.program, self.checker)


def task(process: Process) -> tuple[bool, bool]:
    """Whether it checks, and whether it proves."""
    assert isinstance(process.task, ReferenceTask)
    return process.task.checks, process.task.proves


def read(*, is_disk: bool, watched: tuple[str, ...] = ()) -> ReferenceAnswer:
    return ReferenceAnswer("HEAD", (), (), (), None, is_disk=is_disk, is_checked=False, watched=watched)


def checked(*names: str, examined: tuple[str, ...] | None = None) -> ReferenceAnswer:
    return ReferenceAnswer("HEAD", tuple(map(known, report(*names).findings)), ("f",), (), examined, is_disk=False)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    return tmp_path


def test_outside_of_a_repository_nothing_is_started(tmp_path: Path, started: list[Process]) -> None:
    session = Session(tmp_path, "HEAD", "old")
    session.advance()
    assert session.shown() == ("the start of the session", ("old",))
    session.references.edited(session.file, "first")
    session.references.edited(session.file, "second")
    session.checker.types("old", "new")
    assert session.shown() == ("the start of the session", ("old", "new"))
    assert not started
    assert not session.wants


def test_git_is_not_asked_about_a_workspace_that_is_not_trusted(repository: Path, started: list[Process]) -> None:
    session = Session(repository, "HEAD", "old")
    session.checker.options = Options(trusted=False)
    session.advance()
    assert session.shown() == ("the start of the session", ("old",))
    assert not started


def test_what_was_edited_before_the_first_check_is_checked_as_it_was(tmp_path: Path, started: list[Process]) -> None:
    session = Session(tmp_path, "HEAD", "old", "new")
    session.references.edited(session.file, "first")
    session.references.edited(session.file, "second")
    session.checker.typing = True
    session.advance()
    (process,) = started
    assert isinstance(process.task, ReferenceTask)
    assert (process.task.reference, process.task.first) == ("session", {session.file: "first"})
    assert task(process) == (True, False)


def test_a_reference_that_is_on_the_disk_is_not_checked(repository: Path, started: list[Process]) -> None:
    session = Session(repository, "HEAD", "old")
    session.advance()
    (process,) = started
    assert task(process) == (False, False)
    assert not session.wants
    process.answer(read(is_disk=True))
    session.advance()
    session.advance()
    assert session.shown() == ("HEAD", ("old",))
    assert len(started) == 1


def test_what_is_kept_of_the_commit_is_kept_for_the_next_session(repository: Path, started: list[Process]) -> None:
    session = Session(repository, "HEAD", "old")
    session.advance()
    started[0].answer(read(is_disk=True))
    session.advance()
    session.advance()
    session.checker.unsaved = True
    assert not session.wants
    session.checker.unsaved = False
    session.advance()
    assert session.checker.kept == 1
    assert not session.wants
    session.checker.report = report("old")  # as it is once an edit was taken back
    assert not session.wants
    session.checker.report = report("old", "more")  # provers have said more
    session.advance()
    assert session.checker.kept == 2
    session.checker.types("old", "new")
    assert not session.wants
    assert len(started) == 1


def test_what_was_said_of_the_disk_is_remembered_while_somebody_types(repository: Path, started: list[Process]) -> None:
    (repository / "a.c").write_text("text")
    session = Session(repository, "HEAD", "old")
    session.references.edited(session.file, "text")
    session.shown()
    session.advance()
    session.references.edited(session.file, "other text")
    session.checker.types("old", "new")
    started[0].answer(read(is_disk=True))
    session.advance()
    session.advance()
    assert session.shown() == ("HEAD", ("old", "new"))
    assert len(started) == 1


@pytest.mark.parametrize("change", ["open file", "other file"])
def test_what_was_said_of_another_disk_is_not(change: str, repository: Path, started: list[Process]) -> None:
    (repository / "a.c").write_text("text")
    session = Session(repository, "HEAD", "old")
    session.references.edited(session.file, "text")
    session.shown()
    session.advance()
    session.references.edited(session.file, "other text")
    session.checker.types("old", "new")
    if change == "open file":
        (repository / "a.c").write_text("what git has put there")
    else:
        session.references.edited(str(repository / "b.c"), None)
    started[0].answer(read(is_disk=True))
    session.advance()
    session.advance()
    assert [task(process) for process in started] == [(False, False), (True, False)]


def test_a_check_waits_until_what_it_can_use_is_kept(repository: Path, started: list[Process]) -> None:
    session = Session(repository, "HEAD", "old")
    session.advance()
    started[0].answer(read(is_disk=False))
    session.advance()
    session.checker.unsaved = True
    assert not session.wants
    session.checker.typing = True  # then it may be long
    assert session.wants
    session.checker.unsaved = session.checker.typing = False
    session.advance()
    assert task(started[1]) == (True, False)
    started[1].answer(checked("older one"))
    assert session.references.take()
    assert session.shown() == ("HEAD", ("new",))
    assert not session.wants


@pytest.mark.parametrize("dies", [False, True])
def test_provers_are_asked_about_the_reference_once_those_here_are_done(
    dies: bool, repository: Path, started: list[Process]
) -> None:
    session = Session(repository, "HEAD")
    session.advance()
    started[0].answer(read(is_disk=False))
    session.advance()
    session.advance()
    started[1].answer(checked())
    session.advance()
    (found,) = report("x").findings
    confirmed = msgspec.structs.replace(found, status="confirmed")
    session.checker.report = msgspec.structs.replace(report(), findings=(confirmed,))
    session.checker.suspected = frozenset()
    session.references.edited(AT.path, "open")
    session.checker.proving = True
    assert session.shown() == ("HEAD", (None,))
    assert not session.wants
    session.checker.proving = False
    session.advance()
    assert task(started[2]) == (True, True)
    if dies:
        started[2].answer(checked())
        session.advance()
        assert session.shown() == ("HEAD", (None,))
        assert not session.wants
        session.references.edited("/w/b.c", "open as well")
        assert session.wants
    else:
        started[2].answer(checked(), checked(examined=(AT.path,)))
        session.advance()
        assert session.shown() == ("HEAD", ("new",))
        assert not session.wants


def test_a_commit_has_the_reference_read_again(repository: Path, started: list[Process]) -> None:
    log = repository / ".git" / "HEAD"
    log.write_text("one")
    session = Session(repository, "HEAD", "old")
    session.advance()
    started[0].answer(read(is_disk=True, watched=(str(log),)))
    for _ in range(3):
        session.advance()
    session.references.look()
    assert not session.wants
    log.write_text("one more")
    session.references.look()
    assert session.wants
    assert session.shown() == ("HEAD", ("old",))


def test_a_process_that_says_nothing_is_not_started_again_and_again(repository: Path, started: list[Process]) -> None:
    session = Session(repository, "HEAD", "old")
    session.advance()
    started[0].answer()
    session.advance()
    session.references.look()
    assert not session.wants
    assert session.shown() == ("", ())


def test_what_is_saved_is_older(tmp_path: Path, started: list[Process]) -> None:
    session = Session(tmp_path, "saved", "old")
    session.advance()
    session.checker.types("old", "new")
    assert session.shown() == ("the saved texts", ("old", "new"))
    session.checker.typing = False
    session.references.saved({session.program: session.checker})
    session.advance()
    assert session.shown() == ("the saved texts", ("old", "old"))
    assert not started


def test_an_unsettled_report_is_not_taken_for_the_reference(tmp_path: Path) -> None:
    session = Session(tmp_path, "session", "old")
    session.advance()
    session.shown()
    session.checker.settled = False
    session.checker.report = report("old", "not yet gone")
    assert session.shown()[1] == ("old", "new")


def test_nothing_is_compared_where_that_is_not_wanted(repository: Path, started: list[Process]) -> None:
    session = Session(repository, "none", "old")
    assert not session.wants
    assert session.shown() == ("", ())


def test_a_bisection_is_answered_also_where_its_process_says_nothing(repository: Path, started: list[Process]) -> None:
    session = Session(repository, "none")
    session.references.bisect(7, session.program, BisectionTask(session.program, Options(), None, {}, (), ("x",)))
    assert session.wants
    session.advance()
    started[0].answer()
    session.advance()
    assert session.references.take_bisected() == [(7, {})]
    session.references.bisect(8, session.program, BisectionTask(session.program, Options(), None, {}, (), ("x",)))
    session.advance()
    session.references.configure("none", None)
    assert session.references.take_bisected() == [(8, {})]
