"""The checker process as the server sees it: started, spoken to in frames, killed, and started
again when it dies.

The event loop never waits for the checker: requests go into the pipe's buffer, events come from a
reading task. A checker that ends, sends what is no event, stops reading, or gives no sign of life
while somebody waits for it, is replaced; the owner then sends everything to the new one again. So
each request to the checker gets an answer, or is notified that there is none.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from analysis.wire import Event, Ping, Pong, Request, Shutdown, decode_event, frame, frame_length
from server.process_memory import resident_bytes
from server.transport.adopted import Adopted
from server.transport.early import end

logger = logging.getLogger(__name__)

_Process = asyncio.subprocess.Process | Adopted
_HEADER = 4
_LARGEST_FRAME = 1 << 28  # bytes; more is garbage that looks like a length
_LARGEST_BACKLOG = 1 << 26  # bytes that a checker may leave unread before it counts as hung
_DELAYS = (0.0, 0.25, 1.0, 4.0, 15.0, 30.0)  # seconds before the first, second, ... start after a crash
_BEAT = 5.0  # seconds from one question for a sign of life to the next
_BEATS = 6  # without an answer, until a checker counts as hung
_FAREWELL = 1.0  # seconds that the checker has to end by itself


class Owner(Protocol):
    """The listener: it is notified of what happens to the checker."""

    def checker_started(self) -> None:
        """A new process is there, which knows nothing."""

    def checker_event(self, event: Event) -> None:
        """It sent something."""

    @property
    def waits_for_checker(self) -> bool:
        """Whether anything is expected of it."""

    def checker_died(self, reason: str, first: bool) -> None:
        """It ended by itself. `first`: of a series without a complete check in between."""


class WorkerClient:
    """Keeps one checker process running until `close`."""

    def __init__(self, command: Sequence[str], owner: Owner, started: subprocess.Popen[bytes] | None = None) -> None:
        self._command = tuple(command)
        self._owner = owner
        self._early = started
        self._process: _Process | None = None
        self._task: asyncio.Task[None] | None = None
        self._wake: Callable[[], None] = lambda: None
        self._crashes = 0
        self._killed = False
        self._closing = False
        self._has_spoken = True
        self._is_hung = False

    def start(self) -> None:
        """Starts the process, once."""
        if self._task is None:
            self._task = asyncio.create_task(self._keep_running(), name="checker process")

    @property
    def running(self) -> bool:
        """Whether there is a process to send to. What is sent to none is lost: `checker_started`
        says when to send it again."""
        return self._process is not None and not self._killed

    def resident_bytes(self) -> int | None:
        """How much of the machine's memory the process and those that it started hold; None where there is none, or the
        system does not say."""
        return None if self._process is None else resident_bytes(self._process.pid)

    def send(self, request: Request) -> None:
        """Sends a request, without waiting."""
        if not self.running or self._process is None or self._process.stdin is None or self._process.stdin.is_closing():
            return
        self._process.stdin.write(frame(request))
        if self._process.stdin.transport.get_write_buffer_size() > _LARGEST_BACKLOG:
            logger.warning("The checker does not read its input; it is started again.")
            self.kill()

    def check_done(self) -> None:
        """The checker works: the next crash is the first of a new series."""
        self._crashes = 0

    def kill(self) -> None:
        """Ends the process and what it started, at once; a new one is started."""
        if self._process is not None:
            self._killed = True
            _kill_group(self._process)

    def kill_for_good(self) -> None:
        """Ends the process when the server itself is about to end without its event loop; may be
        called from any thread."""
        self._closing = True
        end(self._early)
        if self._process is not None:
            _kill_group(self._process)

    async def close(self) -> None:
        """Asks the process to end, and ends it when it does not."""
        self._closing = True
        self._wake()
        if self._task is None:
            end(self._early)
        process = self._process
        if process is not None and process.stdin is not None and not process.stdin.is_closing():
            process.stdin.write(frame(Shutdown(0)))
            process.stdin.close()
        if self._task is None:
            return
        try:
            await asyncio.wait_for(asyncio.shield(self._task), _FAREWELL)
        except TimeoutError:
            if self._process is not None:
                _kill_group(self._process)
            await self._task

    async def _keep_running(self) -> None:
        while not self._closing:
            reason = await self._run_once()
            if self._is_closing():
                break
            if self._killed:
                self._killed = False
                continue
            self._crashes += 1
            self._owner.checker_died(reason, first=self._crashes == 1)
            await self._pause(_DELAYS[min(self._crashes, len(_DELAYS)) - 1])

    def _is_closing(self) -> bool:
        """What `close` may have set while something was awaited."""
        return self._closing

    async def _pause(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        woken = loop.create_future()

        def wake() -> None:
            if not woken.done():
                woken.set_result(None)

        self._wake = wake
        timer = loop.call_later(seconds, wake)
        try:
            await woken
        finally:
            timer.cancel()

    async def _run_once(self) -> str:
        """Runs a process to its end; answers why it ended, in words that complete a sentence."""
        try:
            process = await self._begin()
        except OSError as error:
            return f"could not be started: {error.strerror or error}"
        self._process = process
        watch = asyncio.create_task(self._watch(process), name="signs of life")
        try:
            self._owner.checker_started()
            reason = await self._read_events(process)
            if reason is not None:
                _kill_group(process)
            elif self._is_hung:
                reason = f"has given no sign of life for {_BEATS * _BEAT:g} s"
        finally:
            self._process = None
            watch.cancel()
            await _reap(process)
        return reason or f"ended with exit code {process.returncode}"

    async def _watch(self, process: _Process) -> None:
        """Kills a process that says nothing while something is expected of it. Counts questions,
        not time: the server may have been stopped, too."""
        missed, self._is_hung = 0, False
        while missed < _BEATS:
            waits = self._owner.waits_for_checker
            self._has_spoken = not waits
            if waits:
                self.send(Ping(0))
            await asyncio.sleep(_BEAT)  # the time that an answer may take, not a wait for one
            missed = 0 if self._has_spoken else missed + 1
        self._is_hung = True
        _kill_group(process)

    async def _begin(self) -> _Process:
        """The first time, the process that was started early; after that, a new one."""
        early, self._early = self._early, None
        if early is not None:
            return await Adopted.take_over(early)
        return await asyncio.create_subprocess_exec(
            *self._command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, start_new_session=True
        )

    def _hand_on(self, event: Event) -> None:
        """Tells the owner. Nothing of a process that is being killed counts; a bug in the owner
        must not end the reading."""
        self._has_spoken = True
        if self._killed or isinstance(event, Pong):
            return
        try:
            self._owner.checker_event(event)
        except Exception:
            logger.exception("An event of the checker could not be handled.")

    async def _read_events(self, process: _Process) -> str | None:
        """Hands on events until the stream ends (None) or makes no sense (why)."""
        assert process.stdout is not None
        try:
            while True:
                length = frame_length(await process.stdout.readexactly(_HEADER))
                if length > _LARGEST_FRAME:
                    return "sent something that is not a message"
                event = decode_event(await process.stdout.readexactly(length))
                self._hand_on(event)
                await asyncio.sleep(0)  # more may have been read already: the editor's turn comes between two events
        except asyncio.IncompleteReadError:
            return None
        except msgspec.MsgspecError:
            return "sent something that is not a message"


def _kill_group(process: _Process) -> None:
    """Kills a process and those it started: it leads a process group of its own."""
    if process.returncode is not None:
        return
    try:
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except (ProcessLookupError, PermissionError):
        pass  # it ended meanwhile


async def _reap(process: _Process) -> None:
    """Makes sure that nothing of a process is left: neither running, nor a zombie, nor an open
    pipe."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        await asyncio.wait_for(process.wait(), _FAREWELL)
    except TimeoutError:
        _kill_group(process)
        await process.wait()
    if process.stdin is not None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it ended with requests unread
            await process.stdin.wait_closed()
