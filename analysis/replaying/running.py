"""Runs a program that was built for a replay, with limits on its time, its memory, its files and where it may write."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from analysis.frontend.compiler import confinement
from analysis.replaying.building import end

_SECONDS = 10
_MEGABYTES = 1_000
ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=1:fast_unwind_on_malloc=0:allocator_may_return_null=1"
    f":max_allocation_size_mb={_MEGABYTES}:mmap_limit_mb={4 * _MEGABYTES}:abort_on_error=0:color=never",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1:color=never",
    "PATH": "/usr/bin:/bin",
    "LC_ALL": "C",
}


class Ran(NamedTuple):
    """What a run printed on both streams, and how it ended: a negative status is a signal, None: it took too long."""

    said: str
    status: int | None


def run(program: Path, arguments: Sequence[bytes], before: Sequence[str] = (), *, leaks: bool = False) -> Ran:
    """Runs the program, by the command `before` if there is one, in a new folder beside it. `leaks`: it is to find
    leaks, which the frames that sanitizers keep after a return hide."""
    folder = program.parent / "run"
    folder.mkdir(exist_ok=True)
    command = [*before, str(program), *(word.decode("latin-1") for word in arguments)]
    options = ENVIRONMENT["ASAN_OPTIONS"].replace("use_after_return=1", f"use_after_return={int(not leaks)}")
    environment = ENVIRONMENT | {"TMPDIR": str(folder), "ASAN_OPTIONS": options}
    with tempfile.TemporaryFile() as nothing:
        room = confinement.Room(str(program.parent), runs=True, has_shadow=not before)
        process = confinement.start(command, str(folder), environment, nothing, _SECONDS, 4 * _MEGABYTES, room)
    try:
        out, err = process.communicate(timeout=_SECONDS)
        status: int | None = process.returncode
    except subprocess.TimeoutExpired:
        (out, err), status = end(process), None
    return Ran(err.decode("utf-8", "replace") + out.decode("utf-8", "replace"), status)
