"""What a second machine has to wait for that gets the results of the first: `python -m benchmarks.handed_over [PROGRAM]`.

Two copies of a program in two folders stand for two machines. In the first, `everproof check` fills a store, and `everproof
cache export` writes what is handed over. In the second, with an empty store, the program is opened in the real server: once with
nothing handed over, and once after `everproof cache import`. From the start of the server's process:

- to the first status of the open file that names its functions. With what was handed over, all files of the program are shown by
  then, as what was found elsewhere;
- to the end of the first check, in which the second machine has found everything itself that needs no prover.

Seconds by the clock; those of the processor, of the server and the checker, differ little on a busy machine. The findings of the
open file must be the same after the check, with and without.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.cold_open import Opening
from benchmarks.programs import CACHE, provide
from demo.editor import ServerError

_FILES = {"spin": "run.c", "sendmail": "headers.c"}


class Opened(NamedTuple):
    """Seconds to the first results, by the clock and of the processor, and to the end of the check; and the findings of the open
    file then."""

    named: float
    worked: float
    checked: float
    findings: list[str]


def copied(program: str, folder: Path) -> Path:
    """A copy of a program, its compile commands with it; the path of the file that is opened."""
    original = CACHE / program
    shutil.copytree(original, folder)
    commands = folder / "compile_commands.json"
    commands.write_text(commands.read_text("utf-8").replace(str(original), str(folder)), "utf-8")
    entries = json.loads(commands.read_text("utf-8"))
    entry = next(entry for entry in entries if Path(entry["file"]).name == _FILES[program])
    return Path(str(entry["directory"])) / str(entry["file"])


def everproof(folder: Path, *arguments: str) -> str:
    """Runs the command in a folder; its output. Raises ServerError."""
    command = [sys.executable, "-m", "analysis.cli", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)
    if done.returncode not in (0, 1):
        raise ServerError(f"`everproof {' '.join(arguments)}` exited with {done.returncode}: {done.stderr[-300:]}")
    return done.stdout


async def opened(root: Path, source: Path, store: Path) -> Opened:
    """Opens a file of a program."""
    began = time.perf_counter()
    editor = await Opening.start([sys.executable, "-m", "server", "--store", str(store)], root, {})
    editor.began = began
    try:
        document, settled = await editor.open(source)
        if editor.named is None:
            raise ServerError("No function of the file was named.")
        shown = sorted(f"{one.get('code')} {one['range']['start']['line'] + 1}" for one in document.shown)
        worked = (editor.named.server + editor.named.checker) / 1000
        return Opened(editor.named.clock / 1000, worked, settled.finished - began, shown)
    finally:
        await editor.close()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.handed_over", description="Hand results over.")
    parser.add_argument("program", nargs="?", default="sendmail", choices=sorted(_FILES), help="(default: sendmail)")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--engine", default="automaton", help="of the first machine's check (default: automaton)")
    given = parser.parse_args(arguments)
    provide(given.program)
    with tempfile.TemporaryDirectory(prefix="everproof-") as name:
        folder = Path(name).resolve()
        try:
            return _measured(given, folder, copied(given.program, folder / "second"))
        except ServerError as error:
            print(f"error: {error}", file=sys.stderr)
            return 1


def _measured(given: argparse.Namespace, folder: Path, source: Path) -> int:
    first, second, handed = folder / "first", folder / "second", folder / "handed"
    copied(given.program, first)
    began = time.perf_counter()
    everproof(first, "check", "--engine", given.engine, "--store", str(folder / "first.everproof"))
    took = time.perf_counter() - began
    said = everproof(first, "cache", "export", str(handed), "--store", str(folder / "first.everproof")).strip()
    print(f"{given.program}; load {os.getloadavg()[0]:.1f}; the first machine's check took {took:.1f} s;", end=" ")
    print(f"handed over: {said.rpartition(': ')[2]}\n")
    print("| second machine | first results, s | of the processor | it has found all itself, s |\n|---|---|---|---|")
    found = []
    for name in ("handed over", "nothing handed over"):
        for run in range(given.runs):
            store = folder / f"{name} {run}.everproof"
            if name == "handed over":
                everproof(second, "cache", "import", str(handed), "--store", str(store))
            one = asyncio.run(opened(second, source, store))
            found.append(one.findings)
            print(f"| {name} | {one.named:.2f} | {one.worked:.2f} | {one.checked:.2f} |", flush=True)
    return 0 if all(one == found[0] for one in found) else 1


if __name__ == "__main__":
    sys.exit(main())
