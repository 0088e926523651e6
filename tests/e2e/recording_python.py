#!/usr/bin/env python3
"""A Python that records what a language server says: name it where a Python is asked for.

It runs the real one, which may say a line first, what Python it is, and then goes on as the server. What it and the editor say is
passed on and noted, one JSON object a line: the time in seconds, who spoke (`client` or `server`), and the message. The log is
the file named by EVERPROOF_SESSION_LOG.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from typing import IO, BinaryIO

_lock = threading.Lock()


def main() -> int:
    """Runs Python; its exit code."""
    with open(os.environ["EVERPROOF_SESSION_LOG"], "a", encoding="utf-8") as log:
        server = subprocess.Popen([sys.executable, *sys.argv[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert server.stdin is not None
        assert server.stdout is not None
        if sys.argv[1:3] != ["-m", "server"]:
            sys.stdout.buffer.write(server.stdout.readline())
            sys.stdout.buffer.flush()
        editor = threading.Thread(target=copy, args=(sys.stdin.buffer, server.stdin, "client", log), daemon=True)
        editor.start()
        copy(server.stdout, sys.stdout.buffer, "server", log)
        return server.wait()


def copy(source: BinaryIO | IO[bytes], target: BinaryIO | IO[bytes], sender: str, log: IO[str]) -> None:
    """Passes messages on until the stream ends, each noted before it is passed on."""
    while (message := read(source)) is not None:
        header, body = message
        with _lock:
            log.write(json.dumps({"time": time.time(), "from": sender, "message": json.loads(body)}) + "\n")
            log.flush()
        target.write(header + body)
        target.flush()
    target.close()


def read(stream: BinaryIO | IO[bytes]) -> tuple[bytes, bytes] | None:
    """The next message: its header and its body."""
    header, length = b"", 0
    while (line := stream.readline()) not in (b"", b"\r\n"):
        header += line
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return (header + line, stream.read(length)) if line else None


if __name__ == "__main__":
    sys.exit(main())
