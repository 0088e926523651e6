"""When requests are sent, seen at the pipe to the checker, without a process and without waiting."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from lsprotocol import types

from analysis.model.report import Times, Work
from analysis.model.settings import Settings
from analysis.wire import Cancel, Cancelled, Check, CheckDone, ClearStore, Configure, Edit, Failed, Request
from server.documents import OpenDocuments
from server.scheduler import ATTEMPTS, Scheduler


class Pipe:
    """Stands for server.worker_client.WorkerClient."""

    running = True

    def __init__(self) -> None:
        self.sent: list[Request] = []
        self.kills = 0

    def send(self, request: Request) -> None:
        self.sent.append(request)

    def kill(self) -> None:
        self.kills += 1

    def check_done(self) -> None:
        pass

    def take(self) -> list[str]:
        """What was sent since the last time, in words."""
        words = []
        for request in self.sent:
            match request:
                case Configure():
                    words.append("configure")
                case ClearStore():
                    words.append("clear store")
                case Cancel():
                    words.append("cancel")
                case Edit():
                    words.append(f"edit {request.version}")
                case Check():
                    words.append("full check" if request.full else "check")
        self.sent.clear()
        return words


class Silence:
    """Stands for whoever shows things: remembers what it was sent."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *_: self.events.append(name)


class Desk:
    """A scheduler between one open document and a pipe."""

    def __init__(self) -> None:
        self.documents = OpenDocuments("file:///w")
        self.documents.put_text_document(types.TextDocumentItem("file:///w/a.c", "c", 1, "int x;\n"))
        self.audience = Silence()
        self.scheduler = Scheduler(self.documents, Settings(), (), self.audience)
        self.pipe = Pipe()
        self.scheduler._worker = self.pipe  # type: ignore[assignment]
        self.scheduler.checker_started()
        assert self.pipe.take() == ["configure"]

    def edit(self, version: int) -> None:
        identifier = types.VersionedTextDocumentIdentifier(version, "file:///w/a.c")
        self.documents.update_text_document(identifier, types.TextDocumentContentChangeWholeDocument("int y;\n"))
        self.scheduler.text_changed("/w/a.c", check=True)

    def generation(self) -> int:
        check = self.scheduler.running_check
        assert check is not None
        return check.generation

    def done(self, generation: int) -> None:
        self.scheduler.checker_event(CheckDone(generation, Work(), Times(), ()))


@pytest.fixture
async def desk() -> Desk:
    return Desk()


async def test_an_edit_is_sent_at_once_when_nothing_is_under_way(desk: Desk) -> None:
    desk.edit(2)
    desk.scheduler._flush()
    assert desk.pipe.take() == ["edit 2", "check"]


async def test_edits_made_during_a_check_are_sent_as_one_when_it_ends(desk: Desk) -> None:
    desk.edit(2)
    desk.scheduler._flush()
    desk.pipe.take()
    desk.edit(3)
    desk.edit(4)
    assert desk.pipe.take() == []
    desk.done(desk.generation())
    desk.scheduler._flush()
    assert desk.pipe.take() == ["edit 4", "check"]


async def test_a_check_that_takes_long_is_overtaken_and_its_end_does_not_count(desk: Desk) -> None:
    desk.edit(2)
    desk.scheduler._flush()
    first = desk.generation()
    desk.edit(3)
    desk.scheduler._flush()  # what the timer does
    desk.done(first)
    assert desk.scheduler.running_check is not None
    assert "check_finished" not in desk.audience.events
    desk.done(desk.generation())
    assert desk.scheduler.running_check is None
    assert desk.audience.events.count("check_finished") == 1


async def test_a_full_check_is_not_interrupted_by_edits(desk: Desk) -> None:
    full = asyncio.ensure_future(desk.scheduler.full_check())
    await asyncio.wait([full], timeout=0)
    assert desk.pipe.take() == ["edit 1", "full check"]
    desk.edit(2)
    desk.scheduler._flush()
    assert desk.pipe.take() == []
    desk.done(desk.generation())
    assert await full is None
    desk.scheduler._flush()
    assert desk.pipe.take() == ["edit 2", "check"]


async def cancelled(desk: Desk) -> None:
    full = asyncio.ensure_future(desk.scheduler.full_check())
    await asyncio.wait([full], timeout=0)
    full.cancel()
    with pytest.raises(asyncio.CancelledError):
        await full
    assert desk.pipe.take()[-1] == "cancel"
    assert desk.audience.events[-1] == "check_failed"


async def test_cancelling_a_check_asks_for_nothing_and_lets_the_checker_live(desk: Desk) -> None:
    await cancelled(desk)
    desk.scheduler.checker_event(Cancelled(desk.scheduler._generation))
    assert desk.scheduler._grace is None
    desk.scheduler._flush()
    assert desk.pipe.take() == []
    desk.edit(2)
    desk.scheduler._flush()
    assert desk.pipe.take() == ["edit 2", "check"]
    assert desk.pipe.kills == 0


async def test_what_was_edited_during_a_full_check_that_is_cancelled_is_checked(desk: Desk) -> None:
    full = asyncio.ensure_future(desk.scheduler.full_check())
    await asyncio.wait([full], timeout=0)
    desk.edit(2)
    full.cancel()
    await asyncio.wait([full])
    desk.scheduler._flush()
    assert desk.pipe.take() == ["edit 1", "full check", "cancel", "edit 2", "check"]


async def test_a_check_that_a_hung_checker_was_asked_for_after_a_cancellation_is_repeated(desk: Desk) -> None:
    await cancelled(desk)
    desk.edit(2)
    desk.scheduler._flush()
    assert desk.pipe.take() == ["edit 2", "check"]
    desk.scheduler._not_cancelled()
    assert desk.pipe.kills == 1
    desk.scheduler.checker_started()
    desk.scheduler._flush()
    assert desk.pipe.take() == ["configure", "edit 2", "check"]


async def test_a_checker_that_does_not_hear_the_cancellation_is_killed(desk: Desk) -> None:
    await cancelled(desk)
    desk.scheduler._not_cancelled()
    assert desk.pipe.kills == 1
    desk.pipe.take()
    desk.scheduler.checker_started()
    desk.scheduler._flush()
    assert desk.pipe.take() == ["configure"]
    desk.edit(2)
    desk.scheduler._flush()
    assert desk.pipe.take() == ["edit 2", "check"]


async def test_a_check_that_failed_ends_and_says_why(desk: Desk) -> None:
    full = asyncio.ensure_future(desk.scheduler.full_check())
    await asyncio.wait([full], timeout=0)
    desk.scheduler.checker_event(Failed(desk.generation(), "No."))
    assert await full == "No."
    assert desk.audience.events[-2:] == ["check_refused", "check_failed"]


async def test_the_check_of_a_checker_that_died_is_repeated(desk: Desk) -> None:
    desk.edit(2)
    desk.scheduler._flush()
    desk.pipe.take()
    desk.scheduler.checker_died("ended with exit code 3", True)
    desk.scheduler.checker_started()
    desk.scheduler._flush()
    assert desk.pipe.take() == ["configure", "edit 2", "check"]


async def test_a_checker_that_dies_at_rest_finds_out_again_what_it_knew_but_not_for_ever(desk: Desk) -> None:
    desk.edit(2)
    desk.scheduler._flush()
    desk.done(desk.generation())
    for _ in range(ATTEMPTS - 1):
        assert die(desk) == ["configure", "edit 2", "check"]
        desk.done(desk.generation())
    assert die(desk) == ["configure"]
    desk.edit(3)
    desk.scheduler._flush()
    assert desk.pipe.take() == ["edit 3", "check"]
    desk.done(desk.generation())
    assert die(desk) == ["configure", "edit 3", "check"]


def die(desk: Desk) -> list[str]:
    """The checker ends during a check and is started again; what is sent to the new one."""
    desk.pipe.take()
    desk.scheduler.checker_died("ended with exit code 3", False)
    desk.scheduler.checker_started()
    desk.scheduler._flush()
    return desk.pipe.take()


async def test_a_check_that_the_checker_never_survives_is_given_up(desk: Desk) -> None:
    desk.edit(2)
    desk.scheduler._flush()
    for _ in range(ATTEMPTS - 1):
        assert die(desk) == ["configure", "edit 2", "check"]
    assert "check_given_up" not in desk.audience.events
    assert die(desk) == ["configure"]
    assert desk.audience.events.count("check_given_up") == 1
    assert desk.scheduler.running_check is None
    await desk.scheduler.caught_up("/w/a.c")


async def test_what_was_given_up_is_checked_once_after_each_edit_until_a_check_is_complete(desk: Desk) -> None:
    desk.edit(2)
    desk.scheduler._flush()
    for _ in range(ATTEMPTS):
        die(desk)
    desk.edit(3)
    desk.scheduler._flush()
    assert desk.pipe.take() == ["edit 3", "check"]
    assert die(desk) == ["configure"]
    desk.edit(4)
    desk.scheduler._flush()
    desk.done(desk.generation())
    desk.edit(5)
    desk.scheduler._flush()
    assert die(desk) == ["configure", "edit 5", "check"]


async def test_an_edit_during_a_check_that_the_checker_does_not_survive_is_checked(desk: Desk) -> None:
    desk.edit(2)
    desk.scheduler._flush()
    for _ in range(ATTEMPTS - 1):
        die(desk)
    desk.edit(3)
    assert die(desk) == ["configure", "edit 3", "check"]
    assert die(desk) == ["configure"]


async def test_a_checker_that_dies_without_a_check_does_not_count_against_the_next_check(desk: Desk) -> None:
    for attempt in range(ATTEMPTS):
        desk.scheduler._wanted = False
        assert die(desk)[:1] == ["configure"], attempt
        desk.scheduler._check = None
    desk.edit(2)
    desk.scheduler._flush()
    assert die(desk) == ["configure", "edit 2", "check"]


async def test_settings_that_change_nothing_ask_for_nothing(desk: Desk) -> None:
    desk.edit(2)
    desk.scheduler._flush()
    desk.done(desk.generation())
    desk.pipe.take()
    desk.scheduler.configure(Settings())
    desk.scheduler._flush()
    assert desk.pipe.take() == []
    desk.scheduler.configure(Settings(rules=("double-free",)))
    desk.scheduler._flush()
    assert desk.pipe.take() == ["configure", "check"]


async def test_clearing_the_store_is_followed_by_a_check(desk: Desk) -> None:
    desk.scheduler.clear_store()
    desk.scheduler._flush()
    assert desk.pipe.take() == ["clear store", "edit 1", "check"]
    assert desk.pipe.kills == 0
