"""Frames of the base protocol (LSP 3.17, "Base Protocol"), from a stream that may hold anything.

What is no frame is left out up to the next Content-Length, and said once. A line or a frame that is
longer than anything we take is no frame, so that nobody can make the server read without end or
fill the memory.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable
from concurrent.futures import Executor
from typing import BinaryIO, Protocol

_LONGEST_LINE = 8192  # bytes
_LONGEST_HEADER = 64  # bytes of a Content-Length
_LONGEST = 1 << 26  # bytes of a frame
_HEADER = re.compile(rb"[A-Za-z0-9-]+:[^\r\n]*\r?\n")
_LENGTH = re.compile(rb"content-length:[ \t]*(\d{1,12})[ \t]*\r?\n\Z", re.IGNORECASE)


class NotAFrame(Exception):  # noqa: N818  it is what was found, and reading goes on
    """What was left out. The text is a sentence for the client's log."""


class MessageReader(Protocol):
    """What frames are read from: `asyncio.StreamReader` is one."""

    def readline(self) -> Awaitable[bytes]:
        """The next line, empty at the end."""

    def readexactly(self, n: int, /) -> Awaitable[bytes]:
        """So many bytes."""


class StdinReader:
    """Reads a blocking stream in a thread."""

    def __init__(self, stream: BinaryIO, executor: Executor) -> None:
        self._stream = stream
        self._executor = executor

    def readline(self) -> Awaitable[bytes]:
        """The next line, or as much of it as we take at once."""
        return asyncio.get_running_loop().run_in_executor(self._executor, self._stream.readline, _LONGEST_LINE)

    def readexactly(self, n: int) -> Awaitable[bytes]:
        """So many bytes, fewer at the end of the stream."""
        return asyncio.get_running_loop().run_in_executor(self._executor, self._stream.read, n)


class Frames:
    """The bodies of the frames in a stream, one after the other."""

    def __init__(self, reader: MessageReader) -> None:
        self._reader = reader
        self._length: int | None = None  # of the frame whose headers have begun
        self._tail = b""  # of a line that was too long: a header may begin in it

    async def next(self) -> bytes | None:
        """The next body; None at the end. Raises NotAFrame for something else, after which the next
        call goes on."""
        is_garbage = False
        while True:
            line = await self._line()
            if not line:
                return None
            found = _LENGTH.search(line)
            if found is not None and int(found.group(1)) <= _LONGEST:
                is_garbage = is_garbage or found.start() > 0
                self._length = int(found.group(1))
                if is_garbage:
                    raise NotAFrame("Input that is not a message was ignored.")
            elif not line.strip() and self._length is not None:
                length, self._length = self._length, None
                body = await self._reader.readexactly(length) if length else b""
                return body if len(body) == length else None
            elif not line.strip() or not _HEADER.fullmatch(line) or found is not None:
                is_garbage = is_garbage or bool(line.strip())
                self._length = None

    async def _line(self) -> bytes:
        try:
            found = await self._reader.readline()
        except ValueError:  # an asyncio stream has no line that long
            found = b"-"
        line = self._tail + found if found else b""
        self._tail = b"" if line.endswith(b"\n") else line[-_LONGEST_HEADER:]
        return line
