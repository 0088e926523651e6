"""Finds the user's compiler and runs it as a preprocessor, with limits on time and output.

Only a compiler that the user named, or one found in an absolute folder of PATH, is ever run. Everything that it starts is in
a process group of its own, which is killed as a whole when the time is up.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from typing import Literal, NamedTuple

from analysis.model.limits import Limits

CANDIDATES = ("gcc", "clang", "cc")
_WRITERS = {"DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES"}  # variables that make gcc write files
_CHUNK = 1 << 18
_LARGEST_STDERR = 1 << 18


class Outcome(NamedTuple):
    """What a run of the compiler gave. `ended` says how; `status` is the exit status if it exited by itself."""

    ended: Literal["exited", "timeout", "too much output", "not started"]
    status: int
    stdout: bytes
    stderr: str


def find_compiler(chosen: str | None) -> str | None:
    """The path of the compiler to run: the chosen one if there is one, else the first candidate on PATH; None without.

    Relative folders on PATH are skipped: in an opened project, they would name programs of the project's.
    """
    folders = os.pathsep.join(folder for folder in os.get_exec_path() if os.path.isabs(folder))
    if chosen is not None:
        found = shutil.which(os.path.expanduser(chosen), path=folders)
        return None if found is None else os.path.abspath(found)
    return next((found for name in CANDIDATES if (found := shutil.which(name, path=folders))), None)


def run_compiler(argv: Sequence[str], folder: str, text: bytes, limits: Limits) -> Outcome:
    """Runs `argv` in `folder` with `text` on its standard input; never raises for what the program does."""
    environment = {name: value for name, value in os.environ.items() if name not in _WRITERS}
    environment["LC_ALL"] = "C"  # messages in English: they are read by `preprocess`
    with tempfile.TemporaryFile() as source:
        source.write(text)
        source.seek(0)
        try:
            process = subprocess.Popen(
                argv,
                cwd=folder,
                env=environment,
                stdin=source,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            return Outcome("not started", -1, b"", str(getattr(error, "strerror", None) or error))
    try:
        return _collect(process, limits)
    finally:
        _end(process)


def _collect(process: subprocess.Popen[bytes], limits: Limits) -> Outcome:
    """Reads both streams until they end, the time is up or there is too much."""
    deadline = time.monotonic() + limits.preprocess_seconds
    assert process.stdout is not None
    assert process.stderr is not None
    out, err = bytearray(), bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ, out)
        selector.register(process.stderr, selectors.EVENT_READ, err)
        while selector.get_map():
            ready = selector.select(max(0.0, deadline - time.monotonic()))
            if not ready and time.monotonic() >= deadline:
                return Outcome("timeout", -1, bytes(out), err.decode("utf-8", "replace"))
            for key, _ in ready:
                data = os.read(key.fd, _CHUNK)
                if not data:
                    selector.unregister(key.fileobj)
                elif key.data is out or len(err) < _LARGEST_STDERR:
                    key.data.extend(data)
            if len(out) > limits.preprocessed_bytes:
                return Outcome("too much output", -1, bytes(out), err.decode("utf-8", "replace"))
    try:
        status = process.wait(max(0.01, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return Outcome("timeout", -1, bytes(out), err.decode("utf-8", "replace"))
    return Outcome("exited", status, bytes(out), err.decode("utf-8", "replace"))


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kills what is left of the process group and gives back the pipes."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
