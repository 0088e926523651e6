"""A program that is opened for the first time, and a full check that is cancelled: `python -m benchmarks.cold_open [PROGRAM]`.

The real server, with a store that is empty. A file is opened as an editor does it at its start. Milliseconds from the start of
the server's process:

- to its answer to `initialize`;
- to the first status of the open file that names its functions, and to the first diagnostics of it that say anything;
- to the end of the first check, after which all is known that needs no prover.

Then a full check is asked for and cancelled on its way, and a key is pressed: milliseconds from the key to the diagnostics of its
text. Nothing that was shown before may be gone. `--runs N`: each with a new server; the median and the most are printed.
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
from typing import Any

from benchmarks.programs import CACHE, provide
from demo.editor import Document, Editor, ServerError

_SPENT = 1.0  # seconds of a full check before it is cancelled
_MOST_FIRST, _MOST_KEY = 1000.0, 100.0  # milliseconds
_FILES = {"spin": "run.c", "sendmail": "headers.c"}


class Opening(Editor):
    """An editor that notes when something is said of a file for the first time."""

    first_functions = first_diagnostics = 0.0

    def _take_diagnostics(self, params: dict[str, Any], now: float) -> None:
        if params["diagnostics"] and not self.first_diagnostics:
            self.first_diagnostics = now
        super()._take_diagnostics(params, now)

    def _take_status(self, params: dict[str, Any], now: float) -> None:
        if params["functions"] and not self.first_functions:
            self.first_functions = now
        super()._take_status(params, now)

    async def cancelled_full_check(self, document: Document) -> None:
        """Asks for a full check, and cancels it after a while, as the button of its progress does."""
        number = len(self._answers) + 1
        asked = asyncio.create_task(
            self.request("workspace/executeCommand", {"command": "everproof.fullCheck", "arguments": [document.uri]})
        )
        await asyncio.wait({asked}, timeout=_SPENT)
        if asked.done():
            raise ServerError(f"The full check took less than {_SPENT:g} s: there was nothing to cancel.")
        await self.notify("$/cancelRequest", {"id": number})
        await asyncio.wait({asked})
        if asked.exception() is None:
            raise ServerError("The full check was not cancelled.")


async def opened(root: Path, source: Path, keys: int) -> dict[str, list[float]]:
    """Milliseconds of one run, by what they are of."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "server", "--store", os.path.join(folder, "store")]
        began = time.perf_counter()
        editor = await Opening.start(command, root, {})
        try:
            answered = time.perf_counter()
            document, settled = await editor.open(source)
            times = {
                "initialize answered": answered,
                "functions of the file named": editor.first_functions,
                "findings of the file shown": editor.first_diagnostics,
                "first check done": settled.finished,
            }
            found = {name: [(at - began) * 1000] for name, at in times.items() if at}
            found["key after the first check"] = await _typed(editor, document, keys)
            before = _codes(document)
            await editor.cancelled_full_check(document)
            found["key after a cancelled full check"] = await _typed(editor, document, keys)
            if _codes(document) != before:
                raise ServerError(f"After the cancelled check {_codes(document)} is shown, {before} before.")
            return found
        finally:
            await editor.close()


async def _typed(editor: Editor, document: Document, keys: int) -> list[float]:
    """Milliseconds from each of some keys inside of a function to the diagnostics of its text."""
    found = []
    for _ in range(keys):
        at = document.text.index("\n}\n")
        sent, settled = await editor.replace(document, at, at, " ;")
        found.append((settled.published - sent) * 1000)
        await editor.replace(document, at, at + 2, "")
    return found


def _codes(document: Document) -> list[str]:
    return sorted(str(shown.get("code")) for shown in document.shown)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cold_open", description="Open a program for the first time.")
    parser.add_argument("program", nargs="?", default="spin", choices=sorted(_FILES), help="(default: spin)")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--keys", type=int, default=5, help="keys after each check (default: 5)")
    given = parser.parse_args(arguments)
    entries = json.loads(provide(given.program).read_text(encoding="utf-8"))
    entry = next(entry for entry in entries if Path(entry["file"]).name == _FILES[given.program])
    source = Path(entry["directory"]) / entry["file"]
    all_: dict[str, list[float]] = {}
    try:
        for _ in range(given.runs):
            for name, times in asyncio.run(opened(CACHE / given.program, source, given.keys)).items():
                all_.setdefault(name, []).extend(times)
    except ServerError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"| {given.program}, {source.name}; load {os.getloadavg()[0]:.1f} | median, ms | most, ms |")
    print("|---|---|---|")
    for name, times in all_.items():
        print(f"| {name} | {statistics.median(times):.0f} | {max(times):.0f} |")
    first, key = all_.get("functions of the file named", []), all_["key after a cancelled full check"]
    return 0 if first and statistics.median(first) <= _MOST_FIRST and statistics.median(key) <= _MOST_KEY else 1


if __name__ == "__main__":
    sys.exit(main())
