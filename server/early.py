"""The first checker process, started before the server itself is imported: both take about a second, and now the same second.

Imports nothing of ours and little else. asyncio cannot take over a process that it did not start, so `Adopted` does.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Sequence

# -P: the folder that the editor starts us in is not searched for modules
CHECKER = (sys.executable, "-P", "-m", "analysis.worker")


def start(command: Sequence[str]) -> subprocess.Popen[bytes] | None:
    """Starts the process, the leader of a process group of its own; None if that fails, which a later try will say better."""
    try:
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0)
    except OSError:
        return None


def end(process: subprocess.Popen[bytes] | None) -> None:
    """Ends a process that nobody has adopted."""
    if process is not None and process.poll() is None:
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        process.wait()


class Adopted:
    """A running process with the interface of asyncio's, as far as server.worker_client needs it."""

    def __init__(
        self, process: subprocess.Popen[bytes], stdin: asyncio.StreamWriter | None, stdout: asyncio.StreamReader | None
    ) -> None:
        self._process = process
        self.pid = process.pid
        self.stdin = stdin
        self.stdout = stdout

    @classmethod
    async def take_over(cls, process: subprocess.Popen[bytes]) -> Adopted:
        """Takes over both pipes; nobody else may use them any more."""
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), process.stdout)
        # of what stream protocols there are, this one knows when its stream is closed; it reads nothing
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), process.stdin
        )
        return cls(process, asyncio.StreamWriter(transport, protocol, None, loop), reader)

    @property
    def returncode(self) -> int | None:
        """The exit code, None while it runs."""
        return self._process.poll()

    async def wait(self) -> int:
        """Waits for the end; the exit code."""
        return await asyncio.to_thread(self._process.wait)

    def kill(self) -> None:
        """Ends the process at once."""
        self._process.kill()
