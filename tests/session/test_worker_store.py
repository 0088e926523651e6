"""When the checker process writes to the store, and what a new one takes out of it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest

from analysis.model.options import Options
from analysis.session.provers.processes.prover_pool import Pool
from analysis.session.provers.processes.task_outcome import Budget
from analysis.store.database import Store
from analysis.wire import Check, CheckDone, ClearStore, Configure, ContractChanges, Edit, Event, FileResult
from analysis.worker import service, told_contracts
from analysis.worker.service import FOLLOWS, PAUSE, SHOWING, Service

BAD = "int f(void)\n{\n    int *p = 0;\n    return *p;\n}\n"
GOOD = "int f(void)\n{\n    int x = 1, *p = &x;\n    return *p;\n}\n"


class Process:
    """A checker process without its loop: what it is asked, and what it says."""

    def __init__(
        self,
        folder: Path,
        store: Path,
        interrupted: Callable[[], bool] = lambda: False,
        engine: Literal["auto", "automaton"] = "automaton",
    ) -> None:
        self.events: list[Event] = []
        self.clock = 0.0
        self.service = Service(self.events.append, interrupted, now=lambda: self.clock)
        self.file = folder / "a.c"
        self._generation = 0
        self.reported: FileResult | None = None
        self.service.accept(Configure(self._next(), Options(engine=engine), (str(folder),), str(store)))

    def _next(self) -> int:
        self._generation += 1
        return self._generation

    def edit(self, text: str | None) -> None:
        self.service.accept(Edit(self._next(), str(self.file), self._generation, text))

    def clear_store(self) -> None:
        self.service.accept(ClearStore(self._next()))

    def patience(self) -> float | None:
        """As the loop has it: before it rests it looks."""
        if not self.service.looked:
            self.service.look()
        return self.service.patience

    def check(self) -> tuple[FileResult, CheckDone]:
        self.service.accept(Check(self._next(), (str(self.file),)))
        self.events.clear()
        self.service.work()
        (self.reported,) = [event for event in self.events if isinstance(event, FileResult)] or [
            self.reported
        ]  # none: it still holds
        (done,) = (event for event in self.events if isinstance(event, CheckDone))
        assert self.reported is not None
        return self.reported, done


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    folder.mkdir()
    (folder / "a.c").write_text(BAD)
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "kept.everproof"


def programs(store: Path) -> int:
    return len(Store(str(store)).groups()) if store.exists() else 0


def test_what_is_on_the_disk_is_kept_at_once_and_answers_the_next_process(folder: Path, store: Path) -> None:
    first = Process(folder, store)
    result, done = first.check()
    assert programs(store) == 0  # the answer comes first
    assert first.patience() == 0
    first.service.rest()
    assert programs(store) == 1
    assert first.patience() == FOLLOWS, "there are functions to follow"
    first.clock += FOLLOWS
    first.service.rest()
    assert first.patience() is None
    again, after = Process(folder, store).check()
    assert (again.findings, again.functions) == (result.findings, result.functions)
    assert after.work.configurations.recomputed == 0
    assert after.work.configurations.reused == done.work.configurations.recomputed
    assert after.rechecked == ()


def test_garbage_is_collected_after_a_second_without_a_request(
    folder: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never between two keys: that takes as long as an answer. Once for each check."""
    collected: list[float] = []
    process = Process(folder, store)
    monkeypatch.setattr(service, "collect_what_is_new", lambda: collected.append(process.clock))
    for text in (GOOD, BAD):
        process.edit(text)
        process.check()
        process.clock += PAUSE
        process.patience()
        process.service.rest()
    assert collected == []
    process.clock += FOLLOWS
    for _ in range(3):
        process.service.rest()
    assert collected == [2 * PAUSE + FOLLOWS]


def test_what_is_being_typed_is_kept_when_it_is_quiet(folder: Path, store: Path) -> None:
    process = Process(folder, store)
    process.edit(GOOD)
    process.check()
    process.service.prepare()
    assert process.patience() == FOLLOWS, "there are functions to follow"
    process.clock += FOLLOWS
    process.service.rest()
    assert programs(store) == 0
    patience = process.patience()
    assert patience is not None
    assert patience > 0
    process.service.rest()
    assert programs(store) == 1
    other = Process(folder, store)
    other.edit(GOOD)
    result, done = other.check()
    assert not result.findings
    assert done.work.configurations.recomputed == 0


def test_what_is_typed_is_kept_though_not_all_functions_are_followed(
    folder: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(told_contracts, "MOMENT", -1.0)
    process = Process(folder, store)
    process.edit(GOOD)
    process.check()
    assert process.patience() == FOLLOWS, "there are functions to follow"
    process.clock += FOLLOWS
    process.service.rest()
    assert process.patience() == 0, "they were not followed to the end"
    assert programs(store) == 0
    process.clock += 4
    process.service.rest()
    assert process.patience() == 0
    assert programs(store) == 1


def test_contracts_are_compared_before_it_is_quiet(folder: Path, store: Path) -> None:
    process = Process(folder, store)
    process.edit(GOOD)
    process.check()
    process.service.prepare()
    process.edit(GOOD.replace("int f(void)", "int kept;\nint f(void)").replace("return", "kept = 1; return"))
    process.check()
    process.service.prepare()
    assert process.patience() == 0
    process.service.rest()
    (news,) = (event for event in process.events if isinstance(event, ContractChanges))
    assert [change.text for change in news.changes] == ["contract changed: now writes `kept`; now sets `kept` to `1`"]
    assert programs(store) == 0, "the text is not quiet yet"
    assert process.patience()
    process.service.rest()
    assert programs(store) == 1


def test_saving_a_file_ends_the_waiting(folder: Path, store: Path) -> None:
    process = Process(folder, store)
    process.edit(GOOD)
    process.check()
    process.service.prepare()
    assert process.patience() == FOLLOWS, "there are functions to follow"
    process.clock += FOLLOWS
    process.service.rest()
    assert process.patience() != 0
    process.file.write_text(GOOD)
    assert process.patience() == 0


def test_a_request_that_waits_comes_first(folder: Path, store: Path) -> None:
    waiting = [False]
    process = Process(folder, store, lambda: waiting[0])
    process.check()
    waiting[0] = True
    process.service.rest()
    assert programs(store) == 0
    waiting[0] = False
    process.service.rest()
    assert programs(store) == 1


def test_with_a_file_open_the_process_makes_ready_for_an_edit(folder: Path, store: Path) -> None:
    first = Process(folder, store)
    first.check()
    first.service.rest()
    process = Process(folder, store)
    process.edit(BAD)
    process.check()
    assert process.patience() == 0
    process.service.rest()
    assert process.patience() == FOLLOWS, "there are functions to follow"
    process.clock += FOLLOWS
    process.service.rest()
    assert process.patience() is None
    process.edit(BAD.replace("return *p", "return 1"))
    result, done = process.check()
    assert not result.findings
    assert done.work.functions.recomputed == 1
    assert done.work.configurations.reused > 0


def test_a_second_process_with_a_file_open_asks_provers_and_comes_to_rest(
    folder: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    submit = Pool.submit

    def noted(pool: Pool, task: object, budget: Budget, rank: int = 0) -> int:
        asked.append(task)
        return submit(pool, task, budget, rank)

    first = Process(folder, store, engine="auto")
    with contextlib.closing(first.service):
        first.check()
        first.service.rest()
    process = Process(folder, store, engine="auto")
    with contextlib.closing(process.service):
        process.edit(BAD)
        _, done = process.check()
        assert done.work.configurations.recomputed == 0
        assert process.patience() == 0  # there are functions to prove, though the findings came out of the store
        monkeypatch.setattr(Pool, "submit", noted)
        for _ in range(3):
            process.service.rest()
        assert asked
        assert process.patience() != 0


def test_what_was_opened_is_shown_before_anything_else_is_done(folder: Path, store: Path) -> None:
    process = Process(folder, store)
    process.check()
    assert process.service.patience == 0
    process.edit(GOOD)
    process.check()
    assert process.service.patience == SHOWING
    process.edit(BAD)
    process.check()
    assert process.service.patience == PAUSE


def test_a_cleared_store_is_empty_and_nothing_of_it_is_remembered(folder: Path, store: Path) -> None:
    process = Process(folder, store)
    _, before = process.check()
    process.service.rest()
    process.clear_store()
    assert programs(store) == 0
    _, after = process.check()
    assert after.work == before.work
    process.service.rest()
    assert programs(store) == 1


def test_what_is_wrong_with_the_store_is_said_once(folder: Path, store: Path) -> None:
    store.write_text("int a_source_file;\n" * 10)
    process = Process(folder, store)
    result, done = process.check()
    assert len(result.findings) == 1
    assert ["not a store" in message.text for message in done.messages] == [True]
    process.service.rest()
    _, done = process.check()
    assert done.messages == ()
    assert store.read_text() == "int a_source_file;\n" * 10


def test_without_a_store_nothing_is_written(folder: Path, tmp_path: Path) -> None:
    process = Process(folder, Path("none"))
    process.check()
    assert process.patience() == FOLLOWS, "there are functions to follow"
    process.clock += FOLLOWS
    process.service.rest()
    assert process.patience() is None
    assert not list(tmp_path.glob("*.everproof*"))
    assert not Path("none").exists()


def test_a_file_that_was_opened_is_ready_for_a_key_when_its_check_is_done_if_it_is_in_memory(folder: Path, store: Path) -> None:
    first = Process(folder, store)
    first.check()
    first.edit(BAD)
    first.check()
    assert not any(checker.resting for checker in first.service.programs.checkers.values())
    first.service.rest()
    again = Process(folder, store)
    again.edit(BAD)
    again.check()
    assert all(checker.resting for checker in again.service.programs.checkers.values())  # that takes longer, and comes after
