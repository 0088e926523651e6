"""Finds the user's compiler and runs it as a preprocessor, with limits on time, memory and output.

Only a compiler that the user named, or one found in an absolute folder of PATH, is ever run; it is `confined`, and of
the environment it gets what is on the list below. Everything that it starts is in a process group of its own, which
is killed as a whole when the time is used up (invariants I8 and I16).

Code that a folder brings is kept away by three things, each of which is enough for what is known: its flags are
parsed, and what is left of them names no file but folders (`command_line`); the compiler gets nothing else; and it
may do no more than a preprocessor has to (`confinement`). A preprocessor of our own, or one in Python, would need
none of this, but could not know what the user's compiler defines, which extensions it has and where its headers are:
the verdicts would be of another program.
"""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from typing import Literal, NamedTuple

from analysis.frontend.compiler import confinement
from analysis.model.limits import Limits

CANDIDATES = ("gcc", "clang", "cc")
# What compilers get from the environment. In lists of folders, and of libraries, an entry that is empty or
# relative counts from the current folder, which is the one that was opened: a library there would be loaded.
_FOLDERS = ("PATH", "CPATH", "C_INCLUDE_PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH")
_FOLDER = ("HOME", "TMPDIR", "SDKROOT", "DEVELOPER_DIR", "SYSTEMROOT")
_OTHERS = ("MACOSX_DEPLOYMENT_TARGET", "USER", "LOGNAME")
_OF_NIX = "NIX_"  # there, compilers are scripts that find the system's headers by these
_LONGEST = 3600.0  # seconds of a run, whatever the limits say
_LONGEST_WAIT = 60.0  # seconds; systems do not know how to wait for very long
_SHORT = 0.01  # seconds
_CHUNK = 1 << 18
_LARGEST_STDERR = 1 << 18
_OUT_OF_MEMORY = re.compile(r"out of memory|memory exhausted|[Cc]annot allocate memory|bad_alloc")


class Outcome(NamedTuple):
    """What a run of the compiler gave. `ended` says how; `status` is the exit status if it exited by itself."""

    ended: Literal["exited", "timeout", "too much output", "too much memory", "not started"]
    status: int
    stdout: bytes
    stderr: str


def find_compiler(chosen: str | None) -> str | None:
    """The path of the compiler to run: the chosen one if there is one, else the first candidate on PATH; None
    without.

    Relative folders on PATH are skipped: in an opened project, they would name programs of the project's.
    """
    if chosen is not None:
        found = find_program_file(os.path.expanduser(chosen))
        return None if found is None else os.path.abspath(found)
    return next((found for name in CANDIDATES if (found := find_program_file(name))), None)


def find_program_file(name: str) -> str | None:
    """The path of a program in the absolute folders of PATH, None if it is in none."""
    folders = os.pathsep.join(folder for folder in os.get_exec_path() if os.path.isabs(folder))
    return shutil.which(name, path=folders)


def compiler_environment() -> dict[str, str]:
    """What the compiler gets from the environment. It changes with nothing but this process's own."""
    environment = {name: value for name, value in os.environ.items() if name in _OTHERS or name.startswith(_OF_NIX)}
    environment |= {name: os.environ[name] for name in _FOLDER if os.path.isabs(os.environ.get(name, ""))}
    for name in _FOLDERS:
        entries = [entry for entry in os.environ.get(name, "").split(os.pathsep) if os.path.isabs(entry)]
        if entries:
            environment[name] = os.pathsep.join(entries)
    # messages in English: they are read by `preprocess`; and ccache, which is often called gcc, is to write nothing
    return environment | {"LC_ALL": "C", "CCACHE_DISABLE": "1"}


def run_compiler(argv: Sequence[str], folder: str, text: bytes, seconds: float, limits: Limits) -> Outcome:
    """Runs `argv` in `folder` with `text` on its standard input, for some seconds; never raises for what the program
    does."""
    with tempfile.TemporaryFile() as source:
        source.write(text)
        source.seek(0)
        try:
            most = min(limits.preprocess_seconds, _LONGEST)
            process = confinement.start(argv, folder, compiler_environment(), source, most, limits.preprocess_megabytes)
        except (OSError, ValueError) as error:
            return Outcome("not started", -1, b"", str(getattr(error, "strerror", None) or error))
    try:
        outcome = _collect(process, min(seconds, _LONGEST), limits)
    finally:
        _end(process)
    if outcome.ended == "exited" and outcome.status != 0 and _OUT_OF_MEMORY.search(outcome.stderr):
        return outcome._replace(ended="too much memory")
    return outcome


def _collect(process: subprocess.Popen[bytes], seconds: float, limits: Limits) -> Outcome:
    """Reads both streams until they end, the time is used up or there is too much."""
    deadline = time.monotonic() + seconds
    assert process.stdout is not None
    assert process.stderr is not None
    out, err = bytearray(), bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ, out)
        selector.register(process.stderr, selectors.EVENT_READ, err)
        while selector.get_map():
            ready = selector.select(min(_LONGEST_WAIT, max(0.0, deadline - time.monotonic())))
            if time.monotonic() >= deadline:
                return Outcome("timeout", -1, bytes(out), err.decode("utf-8", "replace"))
            for key, _ in ready:
                data = os.read(key.fd, _CHUNK)
                if not data:
                    selector.unregister(key.fileobj)
                elif key.data is out or len(err) < _LARGEST_STDERR:
                    key.data.extend(data)
            if len(out) > limits.preprocessed_bytes:
                return Outcome("too much output", -1, bytes(out), err.decode("utf-8", "replace"))
    if not _has_exited(process, deadline):
        return Outcome("timeout", -1, bytes(out), err.decode("utf-8", "replace"))
    _kill_group(process)
    return Outcome("exited", process.wait(), bytes(out), err.decode("utf-8", "replace"))


def _has_exited(process: subprocess.Popen[bytes], deadline: float) -> bool:
    """Waits for the end of a process, which stays there to be asked for its status, so that its group keeps its number."""
    if not hasattr(os, "waitid"):  # macOS, before Python 3.13
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(_SHORT, deadline - time.monotonic()))
        return process.returncode is not None
    pause = _SHORT / 16
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        if time.monotonic() >= deadline:
            return False
        time.sleep(pause)  # no call waits so long at most and leaves the status there
        pause = min(2 * pause, _SHORT)
    return True


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kills what is left of the group: also what a compiler started and left behind."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kills what is left of the process group and gives back the pipes."""
    if process.returncode is None:
        _kill_group(process)
        process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
