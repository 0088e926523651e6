"""A checker that was stopped, or does nothing: the server notices, says so and starts another, and
whoever waits is answered. The class: a wait for a checker that will never say anything."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import FAKE_CHECKER
from lsp_editor import PATIENCE, Editor
from test_lifecycle import until_gone

from analysis.wire import Event
from server import worker_client
from server.worker_client import WorkerClient


class Waiting:
    """An owner that waits for its checker."""

    def __init__(self, waits: bool = True) -> None:
        self.looked: asyncio.Queue[None] = asyncio.Queue()
        self._waits = waits
        self.news: asyncio.Queue[str] = asyncio.Queue()

    @property
    def waits_for_checker(self) -> bool:
        self.looked.put_nowait(None)
        return self._waits

    def checker_started(self) -> None:
        self.news.put_nowait("started")

    def checker_event(self, event: Event) -> None:
        self.news.put_nowait(type(event).__name__)

    def checker_died(self, reason: str, first: bool) -> None:
        self.news.put_nowait(reason)


@pytest.fixture
def command(checker_state: Path) -> list[str]:
    return [sys.executable, str(FAKE_CHECKER), "--state", str(checker_state)]


def process_of(client: WorkerClient) -> int:
    assert client._process is not None
    return client._process.pid


def announced(file: Path) -> int:
    """The number that a process writes into a file once it has begun."""
    while not file.exists() or not file.read_text():
        os.sched_yield()
    return int(file.read_text())


async def test_a_stopped_checker_is_replaced(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_client, "_BEAT", 0.5)
    owner = Waiting()
    client = WorkerClient(command, owner)
    client.start()
    assert await asyncio.wait_for(owner.news.get(), PATIENCE) == "started"
    first = process_of(client)
    os.kill(first, signal.SIGSTOP)
    assert await asyncio.wait_for(owner.news.get(), PATIENCE) == "has given no sign of life for 3 s"
    assert await asyncio.wait_for(owner.news.get(), PATIENCE) == "started"
    await client.close()
    await asyncio.wait_for(asyncio.to_thread(until_gone, first), PATIENCE)


async def test_a_checker_that_nobody_waits_for_is_left_alone(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_client, "_BEAT", 0.01)
    owner = Waiting(waits=False)
    client = WorkerClient(command, owner)
    client.start()
    assert await asyncio.wait_for(owner.news.get(), PATIENCE) == "started"
    os.kill(process_of(client), signal.SIGSTOP)
    owner.looked = asyncio.Queue()
    for _ in range(5 * worker_client._BEATS):
        await asyncio.wait_for(owner.looked.get(), PATIENCE)
    assert owner.news.empty()
    await client.close()


async def test_signs_of_life_come_while_a_check_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Signs of life of the real checker come from its reading thread."""
    program = (
        "import io, os, sys, threading, time\n"
        "from analysis.wire import Ping, Pong, frame, decode_event\n"
        "from analysis.worker.inbox import Inbox\n"
        "r, w = os.pipe()\n"
        "heard = threading.Event()\n"
        "import signal; signal.signal(signal.SIGUSR1, signal.SIG_IGN)\n"
        "Inbox(os.fdopen(r, 'rb'), alive=lambda ping: heard.set())\n"
        "os.write(w, frame(Ping(3)))\n"
        "while not heard.is_set():\n"
        "    pass\n"  # the main thread is busy
        "print('alive')\n"
    )
    ran = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert ran.stdout == "alive\n", ran.stderr


async def test_the_server_ends_with_a_stopped_checker(editor: Editor, workspace: Path) -> None:
    """It is asked to end; nothing of it is left."""
    uri = editor.open(workspace / "a.c", "int f(int *p) { return BUG; }\n")
    await editor.diagnostics(uri, version=1)
    checker = int((editor.state / "pid").read_text())
    os.kill(checker, signal.SIGSTOP)
    await editor.finish()
    await asyncio.wait_for(asyncio.to_thread(until_gone, checker), PATIENCE)


def test_a_server_whose_editor_is_gone_ends_with_a_stopped_checker(server_command: list[str], checker_state: Path) -> None:
    editor = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    body = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{},"processId":%d}}' % editor.pid
    begun = b'{"jsonrpc":"2.0","method":"initialized","params":{}}'
    with subprocess.Popen(server_command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for message in (body, begun):
            server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(message), message))
        server.stdin.flush()
        assert server.stdout.readline().startswith(b"Content-Length")
        checker = announced(checker_state / "pid")
        os.kill(checker, signal.SIGSTOP)
        editor.communicate(timeout=PATIENCE)
        assert server.wait(timeout=PATIENCE) == 1
    until_gone(checker)
