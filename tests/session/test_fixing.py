"""One question about fixes is under way; a newer one, or an edit, ends it, and each question is answered once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from analysis.model.options import Options
from analysis.model.text_changes import Fix
from analysis.wire import AskFixes, Configure, Edit, ToldFixes
from analysis.worker import fixing
from analysis.worker.reference.task import FixAnswer, FixTask
from analysis.worker.service import Service

FIX = Fix("free it", "/w/a.c", ())


class Running:
    """A process that answers when the test says so."""

    started: list[Running] = []

    def __init__(self, program: str, task: FixTask, notify: Callable[[], None]) -> None:
        self.program, self.task = program, task
        self.answers: list[FixAnswer] = []
        self.is_over = self.is_ended = False
        self.started.append(self)

    def answer(self) -> None:
        self.answers.append(FixAnswer((FIX,)))
        self.is_over = True

    def end(self) -> None:
        self.is_ended = True


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    monkeypatch.setattr(fixing, "RunningTask", Running)
    Running.started = []
    return []


@pytest.fixture
def service(told: list[Any]) -> Service:
    service = Service(told.append, interrupted=lambda: False)
    service.accept(Configure(1, Options(compiler="none", engine="automaton"), ("/w",), "none"))
    service.accept(Edit(2, "/w/a.c", 1, "int f(void) { return 0; }\n"))
    service.programs.bring_up_to_date()
    return service


def test_the_answer_is_told_once(service: Service, told: list[Any]) -> None:
    service.accept(AskFixes(3, "/w/a.c", "1"))
    (running,) = Running.started
    assert (running.program, running.task.texts) == ("/w", {"/w/a.c": "int f(void) { return 0; }\n"})
    service.take_answers()
    assert told == []
    running.answer()
    service.take_answers()
    service.take_answers()
    assert told == [ToldFixes(3, (FIX,))]


def test_an_edit_ends_the_question_and_so_does_a_newer_one(service: Service, told: list[Any]) -> None:
    service.accept(AskFixes(3, "/w/a.c", "1"))
    service.accept(AskFixes(4, "/w/a.c", "2"))
    service.accept(Edit(5, "/w/a.c", 2, "int f(void) { return 1; }\n"))
    assert told == [ToldFixes(3, None), ToldFixes(4, None)]
    assert [one.is_ended for one in Running.started] == [True, True]


def test_of_a_program_that_is_not_known_there_are_none(service: Service, told: list[Any]) -> None:
    service.accept(AskFixes(3, "/elsewhere/b.c", "1"))
    assert told == [ToldFixes(3, ())]
