"""What is reported to the client of the progress of a check, whenever the check ends."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest
from lsprotocol import types
from pygls.lsp.server import LanguageServer

from server import work_progress


class Client:
    """As pygls' progress: notes what is said, and answers what is asked when it is let to."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.tokens: dict[str, asyncio.Future[None]] = {}
        self.asked, self.answers = asyncio.Event(), asyncio.Event()

    @property
    def work_done_progress(self) -> Client:
        return self

    async def create_async(self, token: str) -> None:
        self.said.append("create")
        self.asked.set()
        await self.answers.wait()
        self.tokens[token] = asyncio.get_running_loop().create_future()

    def begin(self, token: str, value: types.WorkDoneProgressBegin) -> None:
        assert token in self.tokens
        self.said.append("begin")

    def end(self, token: str, value: types.WorkDoneProgressEnd) -> None:
        assert token in self.tokens
        self.said.append("end")


def show(client: Client) -> work_progress.CheckProgress:
    return work_progress.CheckProgress(cast("LanguageServer", client), lambda: None)


async def test_a_check_that_ends_early_shows_nothing() -> None:
    client = Client()
    check = show(client)
    check.end()
    await check.shown
    assert client.said == []


@pytest.mark.parametrize("answered_first", [True, False])
async def test_what_was_created_begins_and_ends(monkeypatch: pytest.MonkeyPatch, answered_first: bool) -> None:
    monkeypatch.setattr(work_progress, "DELAY", 0)
    client = Client()
    check = show(client)
    await client.asked.wait()
    for act in (client.answers.set, check.end) if answered_first else (check.end, client.answers.set):
        act()
    await check.shown
    assert client.said == ["create", "begin", "end"]
    assert not client.tokens
