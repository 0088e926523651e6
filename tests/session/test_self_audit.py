"""The audit in idle time: what is shown is compared with what is found from nothing, and a fault is found, repaired and reported.

The faults are put in by the tests: a finding is lost when a program is checked after an edit."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any
from weakref import WeakSet

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.api import Checker
from analysis.model.options import Options
from analysis.model.report import Report
from analysis.model.report_differences import contradictions
from analysis.wire import AuditDone, Check, Configure, Edit, Event, FileResult, Saved
from analysis.worker.auditing import audit_process, edit_replay, self_audit
from analysis.worker.auditing.journal import Journal
from analysis.worker.auditing.self_audit import IDLE
from analysis.worker.reference import running_task
from analysis.worker.reference.task import Answer, AuditAnswer, AuditTask, ReplayAnswer, ReplayTask, encode_task, read_task
from analysis.worker.service import FOLLOWS, Service

GOOD = "int f(void) { int a = 1, *p = &a; return *p; }\nint g(int *p) { return f(); }\n"
BAD = GOOD.replace("*p = &a", "*p = 0")


class Process:
    """A process that answers at once, in this one."""

    started: list[str]

    def __init__(self, program: str, task: AuditTask | ReplayTask, notify: Callable[[], None]) -> None:
        self.program, self.is_over, self._task = program, True, task
        Process.started.append(type(task).__name__)

    @property
    def answers(self) -> list[Answer]:
        if isinstance(self._task, ReplayTask):
            return [ReplayAnswer(edit_replay.needed_edits(self._task))]
        return [AuditAnswer(audit_process.report_from_nothing(self._task))]

    def end(self) -> None:
        Process.started.append("ended")


class Desk:
    """The checker process with a file that is open, and a clock that stands still."""

    def __init__(self, folder: Path, text: str = BAD, *, is_wanted: bool = True) -> None:
        self.path = str(folder / "a.c")
        Path(self.path).write_text(text)
        self.events: list[Event] = []
        self.now = 0.0
        self.service = Service(self.events.append, lambda: False, now=lambda: self.now)
        self.audit = self.service.audit = self_audit.SelfAudit(lambda: None, lambda: self.now, seed=0)
        self.generation = 0
        self.service.accept(
            Configure(self.next(), Options(engine="automaton"), (str(folder),), str(folder / "kept"), self_audit=is_wanted)
        )
        self.type(text)

    def next(self) -> int:
        self.generation += 1
        return self.generation

    def type(self, text: str) -> None:
        """An edit, and its check."""
        self.service.accept(Edit(self.next(), self.path, self.generation, text))
        self.service.accept(Check(self.next(), (self.path,)))
        self.work()

    def work(self) -> None:
        """All that there is to do at once."""
        self.service.work()
        for _ in range(8):
            if self.service.looked:
                self.service.rest()
            else:
                self.service.look()

    def follow(self) -> None:
        """Functions that nobody has asked about are followed."""
        assert self.service.patience == FOLLOWS
        self.now += FOLLOWS
        self.service.rest()

    def wait(self) -> list[AuditDone]:
        """Nothing is asked until an audit is due; what it says."""
        self.events.clear()
        self.now += IDLE
        self.service.rest()
        self.service.take_answers()
        self.work()
        return [event for event in self.events if isinstance(event, AuditDone)]

    def shown(self) -> int:
        """How many findings were reported since the last audit began."""
        reported = [event for event in self.events if isinstance(event, FileResult) and event.path == self.path]
        return len(reported[-1].findings)


@pytest.fixture(autouse=True)
def processes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    Process.started = []
    monkeypatch.setattr(self_audit, "RunningTask", Process)
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda *_args, **_kwargs: str(tmp_path / "cache"))
    return Process.started


@pytest.fixture
def lost(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A fault: a checker loses its findings with the first edit of `f`, until it begins anew."""
    seen: list[int] = []
    faulty = WeakSet[Checker]()

    def reporting(name: str) -> None:
        right = getattr(Checker, name)

        def wrong(self: Checker, *given: Any, **named: Any) -> Report | None:
            report: Report | None = right(self, *given, **named)
            if report is not None and any(one.function == "f" and one.reason != "scratch" for one in report.rechecked):
                faulty.add(self)
            if report is None or self not in faulty:
                return report
            seen.append(len(report.findings))
            self.report = msgspec.structs.replace(report, findings=())
            return self.report

        monkeypatch.setattr(Checker, name, wrong)

    reporting("check")
    reporting("check_unless")
    return seen


def test_an_audit_without_a_difference_is_counted(tmp_path: Path, processes: list[str]) -> None:
    desk = Desk(tmp_path)
    desk.type(BAD.replace("int a = 1", "int a = 2"))
    [said] = desk.wait()
    assert (said.is_news, processes) == (False, ["AuditTask"])
    assert said.sentence.startswith("self-audit: 3 functions and findings re-checked since ")
    assert said.sentence.endswith(", 0 differences")
    assert desk.wait() == [], "nothing was reused since"
    desk.type(GOOD)
    [said] = desk.wait()
    assert said.sentence.startswith("self-audit: 5 functions and findings")


def test_nothing_is_audited_that_is_not_wanted(tmp_path: Path, processes: list[str]) -> None:
    desk = Desk(tmp_path, is_wanted=False)
    desk.type(GOOD)
    assert (desk.wait(), processes) == ([], [])
    assert desk.service.patience is None


def test_an_edit_puts_an_audit_off(tmp_path: Path, processes: list[str]) -> None:
    desk = Desk(tmp_path)
    desk.type(GOOD)
    desk.follow()
    assert desk.service.patience == IDLE - FOLLOWS
    desk.now += IDLE - FOLLOWS
    desk.service.rest()
    assert processes == ["AuditTask"]
    assert desk.service.patience is None
    desk.service.accept(Saved(desk.next(), desk.path, 2))
    assert processes == ["AuditTask"], "a file that is saved is no work"
    desk.type(BAD)
    assert processes == ["AuditTask", "ended"]
    desk.service.take_answers()
    assert not any(isinstance(event, AuditDone) for event in desk.events)
    desk.follow()
    assert desk.service.patience == IDLE - FOLLOWS


def test_a_fault_is_found_in_the_second_round_and_repaired(tmp_path: Path, lost: list[int], processes: list[str]) -> None:
    desk = Desk(tmp_path, GOOD)
    others = GOOD.replace("int a = 1", "int a = 3")
    desk.type(others)
    desk.type(others := others.replace("return f()", "return f() + 1"))
    desk.type(bad := others.replace("*p = &a", "*p = 0"))
    assert (lost[-1], desk.shown()) == (1, 0), "the fault is in"
    [said] = desk.wait()
    assert (said.is_news, lost[-1]) == (False, 1)
    assert "looked at again" in said.sentence
    [said, *more] = desk.wait()
    assert said.is_news
    assert "1 difference; a difference is a defect of Everproof, repaired by a check from scratch" in said.sentence
    assert desk.shown() == 1, "it is repaired"
    written = tmp_path / "cache" / next(path.name for path in (tmp_path / "cache").glob("self-audit-*.json"))
    assert str(written) in said.sentence
    [difference] = json.loads(written.read_text())["differences"]
    assert difference["only"] == "from scratch"
    assert "null-dereference" in difference["what"]
    assert more == []
    desk.service.take_answers()
    [found] = [event for event in desk.events if isinstance(event, AuditDone) and "which now holds" in event.sentence]
    assert found.is_news
    replayed = json.loads(written.read_text())["reproduced_by"]
    assert [text for _, text in replayed["edits"]] == [bad], "the other edits are not needed"
    assert processes == ["AuditTask", "AuditTask", "ReplayTask"]


def test_a_difference_is_looked_at_twice_in_the_same_texts(tmp_path: Path, lost: list[int], processes: list[str]) -> None:
    desk = Desk(tmp_path, GOOD)
    desk.type(GOOD.replace("*p = &a", "*p = 0"))
    assert [said.is_news for said in desk.wait()] == [False]
    desk.type(GOOD.replace("*p = &a", "*p = 0") + "\n")
    [said] = desk.wait()
    assert (said.is_news, lost[-1]) == (False, 1)
    assert "looked at again" in said.sentence
    assert "ReplayTask" not in processes
    assert [said.is_news for said in desk.wait()] == [True]


def test_a_file_that_changed_on_the_disk_is_no_difference(tmp_path: Path) -> None:
    other = tmp_path / "b.c"
    other.write_text("int h(void) { return 1; }\n")
    desk = Desk(tmp_path)
    desk.type(BAD.replace("int a = 1", "int a = 2"))
    other.write_text("int h(void) { int *p = 0; return *p; }\n")
    [said] = desk.wait()
    assert "looked at again" in said.sentence
    [said] = desk.wait()
    assert said.sentence.endswith(", 0 differences")


def test_the_real_process_answers(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(GOOD)
    task = AuditTask(str(tmp_path), Options(engine="automaton"), {str(tmp_path / "a.c"): BAD})
    over = threading.Event()
    running = running_task.RunningTask(str(tmp_path), task, over.set)
    over.wait()
    [answer] = running.answers
    assert isinstance(answer, AuditAnswer)
    assert [finding.rule for finding in answer.report.findings] == ["null-dereference"]
    running.end()


@pytest.mark.parametrize(
    ("kept", "fresh", "differences"),
    [("safe", "violated", 2), ("violated", "safe", 2), ("safe", "unknown", 0), ("unknown", "violated", 0), ("safe", "safe", 0)],
)
def test_only_what_both_have_decided_can_contradict(tmp_path: Path, kept: str, fresh: str, differences: int) -> None:
    (tmp_path / "a.c").write_text(GOOD)
    checker = Checker(Options(engine="automaton"), jobs=1)
    checker.open([str(tmp_path / "a.c")])
    report = checker.check()

    def saying(word: str) -> Report:
        first, *others = report.functions
        verdicts = {rule: msgspec.structs.replace(verdict, verdict=word) for rule, verdict in [*first.verdicts.items()][:1]}
        return msgspec.structs.replace(report, functions=(msgspec.structs.replace(first, verdicts=verdicts), *others))

    assert len([*contradictions(saying(kept), saying(fresh))]) == differences


@given(st.sets(st.integers(0, 30), min_size=1, max_size=4), st.integers(31, 40))
def test_what_is_needed_is_left(needed: set[int], size: int) -> None:
    def shows(part: Sequence[int]) -> bool:
        return needed.issubset(part)

    assert edit_replay.smallest(range(size), shows, 10_000) == tuple(sorted(needed))
    assert edit_replay.smallest([*range(size)][31:], shows, 10_000) is None
    few = edit_replay.smallest(range(size), shows, 3)
    assert few is not None
    assert needed.issubset(few)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.one_of(st.none(), st.text(max_size=3))), max_size=300))
def test_a_journal_ends_with_the_last_texts(edits: list[tuple[str, str | None]]) -> None:
    journal = Journal()
    journal.begin({"a": "first"})
    for path, text in edits:
        journal.edited(path, text)
    assert {**journal.base, **dict(journal.steps)} == {"a": "first", **dict(edits)}
    assert len(journal.steps) <= 200


def test_a_folder_whose_name_is_no_text_ends_the_process_of_an_audit() -> None:
    over = threading.Event()
    running = running_task.RunningTask("/folder\udcff", AuditTask("/folder\udcff", Options(), {}), over.set)
    assert over.wait(60)
    assert (running.is_over, running.answers) == (True, [])


@pytest.mark.parametrize("cut", [0, 1, -1])
def test_a_task_that_is_cut_off_ends_the_process_without_a_traceback(tmp_path: Path, cut: int) -> None:
    whole = encode_task(AuditTask(str(tmp_path), Options(), {}))
    with pytest.raises(SystemExit):
        read_task(BytesIO(whole[:cut]))
    assert read_task(BytesIO(whole)) == AuditTask(str(tmp_path), Options(), {})
