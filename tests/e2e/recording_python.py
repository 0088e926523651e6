#!/usr/bin/env python3
"""A Python that records what a language server says: name it where a Python is asked for.

Started as `recording_python.py -m server ...` it runs the real server between the editor and a log, one JSON object a line: the
time in seconds, who spoke (`client` or `server`), and the message. Started with anything else it is the Python that runs it. The
log is the file named by EVERPROOF_SESSION_LOG.
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
    """Runs the server, or becomes Python."""
    arguments = sys.argv[1:]
    if arguments[:2] != ["-m", "server"]:
        os.execv(sys.executable, [sys.executable, *arguments])
    with open(os.environ["EVERPROOF_SESSION_LOG"], "a", encoding="utf-8") as log:
        server = subprocess.Popen([sys.executable, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert server.stdin is not None
        assert server.stdout is not None
        editor = threading.Thread(target=copy, args=(sys.stdin.buffer, server.stdin, "client", log), daemon=True)
        editor.start()
        copy(server.stdout, sys.stdout.buffer, "server", log)
        return server.wait()


def copy(source: BinaryIO | IO[bytes], target: BinaryIO | IO[bytes], who: str, log: IO[str]) -> None:
    """Passes messages on until the stream ends, each noted before it is passed on."""
    while (message := read(source)) is not None:
        header, body = message
        with _lock:
            log.write(json.dumps({"time": time.time(), "from": who, "message": json.loads(body)}) + "\n")
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
