"""Whether flags that come with a folder make a compiler run code of the folder's: `python -m benchmarks.canary [COUNT] [SEED]`.

Each command line of `benchmarks.hostile_flags` is an entry of a compile_commands.json, or macros and a
standard of settings, in a folder full of code that leaves a mark when it runs. Everproof reads the flags and
preprocesses a file of the folder, with gcc and with clang, *without* the confinement of compilers, which
could hide that code ran. Required: none runs, and the folder stays as it is.

Command lines that come to the same command and the same standard input are run once; those that come to the same
command, `--together` of them at a time, with their macros and included files one after another; all numbers are said.
As a control, `--unparsed N` gives N flags to the compilers as they are: there, the canary must sing.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO

import msgspec

from analysis.frontend.compiler import confinement
from analysis.frontend.compiler.command_line import above, arguments
from analysis.frontend.compiler.compiler_flags import default_flags, load_compile_commands
from analysis.frontend.compiler.compiler_run import compiler_environment, find_compiler
from analysis.frontend.text.preprocess import preprocess
from analysis.model.limits import Limits
from analysis.model.options import CompilerFlags, Options
from analysis.model.unit_flags import UnitFlags
from benchmarks.hostile_flags import CANARY, Hostile, has_sung, listing, make_folder

COMPILERS = ("gcc", "clang")
_TEXT = b'int a;\n#if __has_include("a.h")\n#include "a.h"\n#endif\nint b = X;\n'
_BATCH = 500
_LIMITS = Limits(preprocess_seconds=30)


class Counts(msgspec.Struct):
    """Command lines; the different commands that they come to, and those with their standard inputs; the runs of each
    compiler; those that ran code, and changes to the folder."""

    lines: int = 0
    commands: int = 0
    inputs: int = 0
    runs: int = 0
    sung: list[str] = []
    changed: list[str] = []


def try_flags(folder: Path, count: int, seed: int, together: int, compilers: Sequence[str] = COMPILERS) -> Counts:
    """Gives `count` command lines to Everproof. Confinement is as it is: see `unconfined`."""
    counts = Counts()
    commands: dict[tuple[str, ...], list[UnitFlags]] = {}
    seen: set[tuple[object, ...]] = set()
    hostile = Hostile(folder, seed)
    lines = hostile.command_lines()
    has_sung(folder)

    def run(waiting: list[UnitFlags]) -> None:
        before = listing(folder)
        flags = _joined(waiting)
        counts.runs += 1
        counts.sung += [f"{compiler} {flags}" for compiler in compilers if _runs_code(folder, flags, compiler)]
        if listing(folder) != before:
            counts.changed.append(str(flags))
        waiting.clear()

    while counts.lines < count:
        batch = list(islice(lines, min(_BATCH, count - counts.lines)))
        counts.lines += len(batch)
        for found in _read(folder, hostile, batch):
            command, text = tuple(arguments("", found, "LP64", (), str, None)), above(found, (), str)
            if (command, text) not in seen:
                seen.add((command, text))
                waiting = commands.setdefault(command, [])
                waiting.append(found)
                if len(waiting) >= together:
                    run(waiting)
    for waiting in commands.values():
        if waiting:
            run(waiting)
    counts.commands, counts.inputs = len(commands), len(seen)
    return counts


def _joined(flags: Sequence[UnitFlags]) -> UnitFlags:
    """The first, with the macros and included files of all."""
    macros = tuple(macro for one in flags for macro in one.macros)
    forced = tuple(dict.fromkeys(file for one in flags for file in one.forced))
    return msgspec.structs.replace(flags[0], macros=macros, forced=forced)


def _read(folder: Path, hostile: Hostile, batch: Sequence[list[str]]) -> Iterator[UnitFlags]:
    """The flags that Everproof makes of command lines."""
    entries: list[dict[str, object]] = []
    for number, words in enumerate(batch):
        entry: dict[str, object] = {"directory": str(folder), "file": f"{number}.c"}
        if number % 3 == 0:
            entry["command"] = f"cc {hostile.spelled(words)}"
        else:
            entry["arguments"] = ["cc", *words]
        entries.append(entry)
        if number % 5 == 0:
            yield default_flags(CompilerFlags((str(folder / "sub"),), tuple(words), words[-1]))
    path = folder.parent / "compile_commands.json"
    path.write_text(json.dumps(entries))
    yield from load_compile_commands(str(path)).units.values()


def _runs_code(folder: Path, flags: UnitFlags, compiler: str) -> bool:
    done = preprocess(str(folder / "a.c"), _TEXT, flags, Options(compiler=compiler, limits=_LIMITS))
    said = done.text + "".join(message.text for message in done.messages).encode("utf-8", "replace")
    return has_sung(folder) or CANARY in said


def sing_unparsed(folder: Path, count: int, seed: int, compiler: str) -> int:
    """How many flags run code when a compiler gets them as they are."""
    found = find_compiler(compiler)
    assert found is not None, f"{compiler} is not there"
    sung = 0
    for words in islice(Hostile(folder, seed).single_flags(), count):
        argv = [found, "-E", "-w", *words, "-x", "c", "-"]
        try:
            subprocess.run(
                argv, cwd=folder, env=compiler_environment(), input=_TEXT, capture_output=True, timeout=30, check=False
            )
        except (OSError, ValueError, subprocess.TimeoutExpired):
            continue  # what cannot be an argument
        sung += has_sung(folder)
    return sung


def unconfined(
    argv: Sequence[str], folder: str, environment: dict[str, str], stdin: IO[bytes], seconds: float, megabytes: int
) -> subprocess.Popen[bytes]:
    """Starts a compiler as `confinement.start` does, without any confinement."""
    del seconds, megabytes
    pipe = subprocess.PIPE
    return subprocess.Popen(argv, cwd=folder, env=environment, stdin=stdin, stdout=pipe, stderr=pipe, start_new_session=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Try to have compilers run code of a folder by its flags.")
    parser.add_argument("count", nargs="?", type=int, default=100_000)
    parser.add_argument("seed", nargs="?", type=int, default=0)
    parser.add_argument("--unparsed", type=int, default=500, metavar="N", help="command lines of the control")
    parser.add_argument("--together", type=int, default=64, metavar="N", help="inputs of one run at most")
    parser.add_argument("--compiler", choices=COMPILERS, action="append", help="default: both")
    given = parser.parse_args()
    compilers = tuple(given.compiler or COMPILERS)
    confinement.start = unconfined  # type: ignore[assignment]
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as root:
        folder = make_folder(Path(root))
        counts = try_flags(folder, given.count, given.seed, given.together, compilers)
    with tempfile.TemporaryDirectory() as root:
        folder = make_folder(Path(root))
        control = {compiler: sing_unparsed(folder, given.unparsed, given.seed, compiler) for compiler in compilers}
    print(f"{counts.lines:,} command lines, seed {given.seed}: {counts.commands:,} different commands,")
    print(f"{counts.inputs:,} different ones with their standard inputs; {counts.runs:,} runs of {' and of '.join(compilers)}")
    for compiler in compilers:
        print(f"unparsed, {control[compiler]} of {given.unparsed:,} flags have {compiler} run code")
    print(f"code ran {len(counts.sung)} times; the folder changed {len(counts.changed)} times; {time.monotonic() - began:.0f} s")
    for text in (*counts.sung[:10], *counts.changed[:10]):
        print(text[:1000])
    return 1 if counts.sung or counts.changed or 0 in control.values() else 0


if __name__ == "__main__":
    sys.exit(main())
