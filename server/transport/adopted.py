"""A checker process that runs already, with the interface of asyncio's: asyncio cannot take over one that it did not start."""

from __future__ import annotations

import asyncio
import subprocess


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
