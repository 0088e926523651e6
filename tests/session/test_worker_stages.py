"""The checker process in stages: the open file by itself, progress with counts, and a cancellation that keeps what is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.engines.automaton.engine import Engine
from analysis.model.options import Options
from analysis.wire import Cancel, Cancelled, Check, CheckDone, Configure, Edit, Event, FileResult, Progress
from analysis.worker.service import Service

FILES = 8
BUG = "int bug{0}(void)\n{{\n    int *p = 0;\n    return *p;\n}}\n\nint call{0}(void)\n{{\n    return bug{1}();\n}}\n"


class Desk:
    """A checker on a folder of several files, of which the third one is open. `stop_at`: a request arrives when so many events
    were sent."""

    def __init__(self, folder: Path) -> None:
        for number in range(FILES):
            (folder / f"{number}.c").write_text(BUG.format(number, (number + 1) % FILES))
        self.open = str(folder / "2.c")
        self.events: list[Event] = []
        self.stop_at: int | None = None
        self.generation = 0
        self.service = Service(self.events.append, self._interrupted)
        self.service.accept(Configure(self.next(), Options(engine="automaton"), (str(folder),), "none"))
        self.text = (folder / "2.c").read_text()
        self.type(self.text, 1)

    def next(self) -> int:
        self.generation += 1
        return self.generation

    def _interrupted(self) -> bool:
        return self.stop_at is not None and len(self.events) >= self.stop_at

    def type(self, text: str, version: int) -> None:
        self.service.accept(Edit(self.next(), self.open, version, text))
        self.service.accept(Check(self.next(), (self.open,)))

    def work(self) -> list[Event]:
        """What is said of the check that was asked for."""
        self.events.clear()
        self.service.work()
        return list(self.events)

    def full(self) -> None:
        self.service.accept(Check(self.next(), (self.open,), full=True))

    def cancel(self) -> None:
        self.stop_at = None
        self.service.accept(Cancel(self.next()))
        assert self.events[-1] == Cancelled(self.generation)


def done(events: list[Event]) -> CheckDone:
    assert isinstance(events[-1], CheckDone)
    return events[-1]


def test_the_open_file_comes_first_by_itself_and_then_with_the_program(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    events = desk.work()
    results = [event for event in events if isinstance(event, FileResult)]
    first = events[0]
    assert isinstance(first, FileResult)
    assert (first.path, first.version, first.alone) == (desk.open, 1, True)
    assert [finding.function for finding in first.findings] == ["bug2"]
    assert not any(result.alone for result in results[1:])
    assert sum(result.path == desk.open for result in results) == 2
    done(events)
    desk.type(desk.text + "\n", 2)
    assert not any(isinstance(event, FileResult) and event.alone for event in desk.work()), "the program is known"


def test_progress_has_counts_and_no_paths(tmp_path: Path) -> None:
    said = [event for event in Desk(tmp_path).work() if isinstance(event, Progress)]
    counted = [event for event in said if event.percentage is not None]
    assert counted
    assert all(event.text.startswith("Reading ") and event.text.endswith(f" of {FILES} files") for event in counted)
    assert [event.percentage for event in counted] == sorted(event.percentage or 0 for event in counted)
    assert not any(str(tmp_path) in event.text for event in said)


def test_a_full_check_that_is_cancelled_leaves_what_was_known(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    done(desk.work())
    desk.full()
    desk.stop_at = 2
    assert not any(isinstance(event, CheckDone) for event in desk.work())
    desk.cancel()
    desk.type(desk.text.replace("int *p = 0", "int q = 0, *p = &q"), 2)
    events = desk.work()
    assert done(events).work.functions.recomputed == 1
    assert done(events).work.functions.reused == 2 * FILES - 1
    [result] = [event for event in events if isinstance(event, FileResult) and event.path == desk.open]
    assert result.findings == ()


def test_what_is_typed_during_a_full_check_counts_when_that_is_cancelled(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    done(desk.work())
    desk.full()
    desk.stop_at = 2
    desk.work()
    desk.service.accept(Edit(desk.next(), desk.open, 2, desk.text.replace("int *p = 0", "int q = 0, *p = &q")))
    desk.cancel()
    desk.service.accept(Check(desk.next(), (desk.open,)))
    events = desk.work()
    assert done(events).work.functions.recomputed == 1
    assert [event.findings for event in events if isinstance(event, FileResult) and event.path == desk.open] == [()]


def test_a_first_check_that_is_cancelled_goes_on_with_what_was_read(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.stop_at = 3
    assert not any(isinstance(event, CheckDone) for event in desk.work())
    desk.cancel()
    desk.type(desk.text + "\n", 2)
    events = desk.work()
    assert done(events).rechecked
    assert {event.path for event in events if isinstance(event, FileResult)} >= {desk.open}


def test_a_key_after_the_first_check_was_cancelled_is_answered_by_the_open_file_before_the_rest_is_read(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.stop_at = 2
    desk.work()
    desk.cancel()
    desk.type(desk.text.replace("int *p = 0", "int q = 0, *p = &q"), 2)
    events = desk.work()
    first = events[0]
    assert isinstance(first, FileResult)
    assert (first.path, first.version, first.alone, first.findings) == (desk.open, 2, True, ())
    assert any(isinstance(event, Progress) for event in events)
    done(events)


def test_the_file_that_is_looked_at_by_itself_is_not_read_anew_for_its_next_text(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    checker = Checker(Options(engine="automaton"))
    checker.open_workspace(str(tmp_path))
    before, again = checker.alone(desk.open, lambda: False), checker.alone(desk.open, lambda: False)
    assert before is not None
    assert again is not None
    assert before[0] is again[0]
    checker.change(desk.open, desk.text.replace("return *p", "return p == 0"), 2)
    told = checker.alone(desk.open, lambda: False)
    assert told is not None
    assert (told[0] is before[0], told[1].findings) == (True, ())
    assert [done.function for done in told[1].rechecked] == ["bug2"]


def test_a_full_check_of_what_is_known_does_not_show_the_open_file_by_itself(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    done(desk.work())
    desk.full()
    desk.stop_at = 4  # files have been read
    assert {type(event) for event in desk.work()} == {Progress}
    desk.cancel()
    desk.full()
    assert not any(isinstance(event, FileResult) and event.alone for event in desk.work())


def test_a_key_that_comes_while_the_open_file_is_read_keeps_it_from_being_checked_by_itself(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    checker = Checker(Options(engine="automaton"))
    checker.open_workspace(str(tmp_path))
    assert checker.alone(desk.open, lambda: False) is not None
    checker.forget()
    answers = iter([False])  # when the file is begun
    assert checker.alone(desk.open, lambda: next(answers, True)) is None


def test_a_key_that_comes_while_files_are_linked_ends_the_check_before_its_longest_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(tmp_path)
    checker = Checker(Options(engine="automaton"))
    checker.open_workspace(str(tmp_path))
    answers = iter([False] * FILES)  # before each file
    with monkeypatch.context() as patch:
        patch.setattr(Engine, "check", None)
        assert checker.check_unless(lambda: next(answers, True)) is None
    report = checker.check()
    assert (report.work.functions.recomputed, len(report.findings)) == (0, FILES)
    assert desk.open in {finding.place.path for finding in report.findings}


def test_a_full_check_says_the_same_as_the_one_before(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    first = {event.path: event.findings for event in desk.work() if isinstance(event, FileResult)}
    desk.full()
    again = desk.work()
    assert done(again).work.functions.recomputed == 2 * FILES
    desk.type(desk.text + "\n", 2)
    done(desk.work())
    assert len(first) == FILES
