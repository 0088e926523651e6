"""A program that is opened for the first time, and a full check that is cancelled: `python -m benchmarks.cold_open [PROGRAM]`.

The real server, with a store that is empty. A file is opened as an editor does it at its start. From the start of the server's
process:

- to its answer to `initialize`;
- to the first status of the open file that names its functions, with which its findings are published;
- to the end of the first check, after which all is known that needs no prover.

Then a full check is asked for and cancelled on its way, and keys are pressed: from each to the diagnostics of its text. Nothing
that was shown before may be gone.

Milliseconds by the clock, the least, the median and the most of all runs, and milliseconds of the processor: of the server, and
of the checker process with the compilers that it ran. Both start at the same time, so that on a machine that does nothing else
the clock says little more than the checker's; unlike the clock, it differs little on a busy one. For what the clock of a quiet
machine says, on a busy one: `chrt -r 40 python -m benchmarks.cold_open spin --first` (Linux, as root). `--first` ends each run
at the first findings, after a second.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.programs import CACHE, provide
from benchmarks.resident import spent_by
from demo.editor import Document, Editor, ServerError

_BEFORE_CANCELLED = 1.0  # seconds of a full check
_FILES = {"spin": "run.c", "sendmail": "headers.c"}


class Time(NamedTuple):
    """Milliseconds by the clock, and of the processor: the server's and the checker's."""

    clock: float
    server: float
    checker: float


class Opening(Editor):
    """An editor that notes when the functions of a file are named for the first time."""

    began = 0.0
    named: Time | None = None

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.is_named = asyncio.Event()

    def time(self, at: float) -> Time:
        """How long it took to a time."""
        return Time((at - self.began) * 1000, *spent_by(self.process_id))

    def _take_status(self, params: dict[str, Any], now: float) -> None:
        if params["functions"] and self.named is None:
            self.named = self.time(now)
            self.is_named.set()
        super()._take_status(params, now)

    async def cancelled_full_check(self, document: Document) -> None:
        """Asks for a full check, and cancels it after a while, as the button of its progress does."""
        number = len(self._answers) + 1
        command = {"command": "everproof.fullCheck", "arguments": [document.uri]}
        asked = asyncio.create_task(self.request("workspace/executeCommand", command))
        await asyncio.wait({asked}, timeout=_BEFORE_CANCELLED)
        if asked.done():
            raise ServerError(f"The full check took less than {_BEFORE_CANCELLED:g} s: there was nothing to cancel.")
        await self.notify("$/cancelRequest", {"id": number})
        await asyncio.wait({asked})
        if asked.exception() is None:
            raise ServerError("The full check was not cancelled.")


async def opened(root: Path, source: Path, keys: int | None) -> dict[str, list[Time]]:
    """What one run took; to the first findings only, where `keys` is None."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "server", "--store", os.path.join(folder, "store")]
        began = time.perf_counter()
        editor = await Opening.start(command, root, {})
        editor.began = began
        try:
            found = {"`initialize` is answered": [editor.time(time.perf_counter())]}
            opening = asyncio.create_task(editor.open(source))
            asked = asyncio.create_task(editor.is_named.wait())
            await asyncio.wait({opening, asked}, return_when=asyncio.FIRST_COMPLETED)
            if editor.named is None:
                raise ServerError("No function of the file was named.")
            found["the open file's functions and findings"] = [editor.named]
            if keys is None:
                opening.cancel()
                return found
            document, settled = await opening
            found["the first check is done"] = [editor.time(settled.finished)]
            found["a key then"] = await _typed(editor, document, keys)
            before = _codes(document)
            await editor.cancelled_full_check(document)
            found["a key after a full check was cancelled"] = await _typed(editor, document, keys)
            if _codes(document) != before:
                raise ServerError(f"After the cancelled check {_codes(document)} is shown, {before} before.")
            return found
        finally:
            await editor.close()


async def _typed(editor: Opening, document: Document, keys: int) -> list[Time]:
    """What each of some keys inside of a function took, to the diagnostics of its text."""
    found = []
    for _ in range(keys):
        at = document.text.index("\n}\n")
        before = spent_by(editor.process_id)
        sent, settled = await editor.replace(document, at, at, " ;")
        server, checker = (now - then for now, then in zip(spent_by(editor.process_id), before, strict=True))
        found.append(Time((settled.published - sent) * 1000, server, checker))
        await editor.replace(document, at, at + 2, "")
    return found


def _codes(document: Document) -> list[str]:
    return sorted(str(shown.get("code")) for shown in document.shown)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cold_open", description="Open a program for the first time.")
    parser.add_argument("program", nargs="?", default="spin", choices=sorted(_FILES), help="(default: spin)")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--keys", type=int, default=5, help="keys after each check (default: 5)")
    parser.add_argument("--first", action="store_true", help="only to the first findings")
    given = parser.parse_args(arguments)
    entries = json.loads(provide(given.program).read_text(encoding="utf-8"))
    entry = next(entry for entry in entries if Path(entry["file"]).name == _FILES[given.program])
    source = Path(entry["directory"]) / entry["file"]
    load, all_ = os.getloadavg()[0], dict[str, list[Time]]()
    try:
        for _ in range(given.runs):
            for name, times in asyncio.run(opened(CACHE / given.program, source, None if given.first else given.keys)).items():
                all_.setdefault(name, []).extend(times)
    except ServerError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(
        f"| {given.program}, {source.name}; load {load:.1f} | by the clock: least | median | most | processor: server | checker |"
    )
    print("|---|---|---|---|---|---|")
    for name, times in all_.items():
        clock = [time.clock for time in times]
        spent = statistics.median(time.server for time in times), statistics.median(time.checker for time in times)
        print(
            f"| {name} | {min(clock):.0f} | {statistics.median(clock):.0f} | {max(clock):.0f} | {spent[0]:.0f} | {spent[1]:.0f} |"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
