"""Speaking LSP on standard input and output, with nothing else ever getting into the stream.

File descriptor 1 is made a second standard error before anything else runs, so that a `print`, here or in a library,
cannot corrupt the stream; messages go to a private copy of it. One thread writes all messages. So a client that stops
reading does not block the event loop, and messages never interleave, whatever the value of `PYTHONUNBUFFERED`.
"""

from __future__ import annotations

import asyncio
import io
import os
import queue
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import BinaryIO

from server.app import EverproofServer
from server.transport.connection import serve
from server.transport.frames import StdinReader


class ThreadedWriter:
    """A writer for pygls that returns at once. `finish` waits until all is written."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    def write(self, data: bytes) -> None:
        """Takes a whole message."""
        self._queue.put(data)

    def close(self) -> None:
        """No message comes after this."""
        self._queue.put(None)

    def finish(self) -> None:
        """Waits until all messages are written; not longer than two seconds for a client that does not read."""
        self.close()
        self._thread.join(timeout=2.0)

    def _run(self) -> None:
        try:
            while (data := self._queue.get()) is not None:
                self._stream.write(data)
                self._stream.flush()
        except (OSError, ValueError):
            pass  # the client is gone; the reader sees the end of its input


def take_standard_output() -> BinaryIO:
    """A private copy of standard output; what is written to the public one goes to standard error from now on."""
    sys.stdout.flush()
    private = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    return io.BufferedWriter(private)


def serve_stdio(server: EverproofServer) -> int:
    """Serves the client on standard input and output until it is done; the exit code."""
    stream = take_standard_output()
    writer = ThreadedWriter(stream)
    executor = ThreadPoolExecutor(1, thread_name_prefix="reader")

    async def main() -> None:
        await serve(server, StdinReader(sys.stdin.buffer, executor), writer)

    asyncio.run(main())
    writer.finish()
    executor.shutdown(wait=False)
    return 0 if server.shutdown_requested else 1
