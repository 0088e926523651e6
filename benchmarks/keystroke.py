"""Measures an edit session against the real language server: `python -m benchmarks.keystroke [SESSION ...]`.

A session (benchmarks/sessions/*.json) names a file of a benchmark program and the texts to type into it, one character at a
time, broken states included; the next key waits for the answer to the last one. Two times a key are measured at the client: from
`didChange` to the `publishDiagnostics` of that version, and to the `everproof/status` that says the check is complete.
What the session expects to be found, or to be gone, is checked as well; the exit status is 1 if it does not hold.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.programs import CACHE, provide
from benchmarks.sources import FetchError
from demo.editor import Document, Editor, ServerError, Settled

SESSIONS = Path(__file__).resolve().parent / "sessions"
SERVER = [sys.executable, "-m", "server", "--store", "none"]


Key = tuple[int, int, str]  # what to put in the place of the characters from one offset to another


@dataclass
class Outcome:
    """What one session gave: milliseconds a key, and the expectations that did not hold."""

    opened_ms: float
    published: list[float] = field(default_factory=list)
    finished: list[float] = field(default_factory=list)
    notes: list[tuple[str, int, float, str]] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.keystroke", description="Measure edit sessions.")
    parser.add_argument("sessions", nargs="*", type=Path, help="session files (default: all of benchmarks/sessions)")
    parser.add_argument("--scope", choices=("program", "file"), action="append", help="what is loaded (default: both in turn)")
    parser.add_argument("--chunk", type=int, default=1, metavar="N", help="type N characters at a time (default: 1)")
    given = parser.parse_args(arguments)
    if given.chunk < 1:
        parser.error("--chunk must be at least 1")
    failed = False
    try:
        for path in given.sessions or sorted(SESSIONS.glob("*.json")):
            session = json.loads(path.read_text(encoding="utf-8"))
            commands = provide(session["program"])
            outcomes = {scope: _run(session, commands, scope, given.chunk) for scope in given.scope or ("program", "file")}
            print(_tables(path.stem, outcomes))
            failed = failed or any(outcome.missed for outcome in outcomes.values())
    except (FetchError, ServerError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 1 if failed else 0


def _run(session: dict[str, Any], commands: Path, scope: str, chunk: int) -> Outcome:
    entry = next(entry for entry in json.loads(commands.read_text(encoding="utf-8")) if entry["file"] == session["file"])
    source = Path(entry["directory"]) / entry["file"]
    if scope == "program":
        return asyncio.run(_edit(session, CACHE / session["program"], source, chunk))
    with tempfile.TemporaryDirectory() as folder:  # the file and its headers; no compile_commands.json above them
        alone = Path(folder).resolve()
        for path in (source, *source.parent.glob("*.h")):
            shutil.copy(path, alone)
        return asyncio.run(_edit(session, alone, alone / source.name, chunk))


async def _edit(session: dict[str, Any], root: Path, path: Path, chunk: int) -> Outcome:
    editor = await Editor.start(SERVER, root, {})
    try:
        clock = asyncio.get_running_loop().time
        before = clock()
        document, last = await editor.open(path)
        outcome = Outcome((clock() - before) * 1000)
        for step in session["steps"]:
            first_key = len(outcome.finished)
            last = await _step(editor, document, _keys(document.text, step, chunk), outcome, last)
            keys = outcome.finished[first_key:]
            missed = _unexpected(step, document.text, last)
            outcome.notes.append((step["note"], len(keys), statistics.median(keys), missed or "as expected"))
            print(f"{step['note']}: {len(keys)} keys, median {statistics.median(keys):.0f} ms", file=sys.stderr)
            if missed:
                outcome.missed.append(missed)
        return outcome
    finally:
        await editor.close()


async def _step(editor: Editor, document: Document, keys: list[Key], outcome: Outcome, last: Settled) -> Settled:
    for start, end, text in keys:
        sent, last = await editor.replace(document, start, end, text)
        outcome.published.append((last.published - sent) * 1000)
        outcome.finished.append((last.finished - sent) * 1000)
    return last


def _keys(text: str, step: dict[str, Any], chunk: int) -> list[Key]:
    """The edits of a step: characters typed forwards, or deleted backwards."""
    at = _offset(text, step)
    typed, erased = step.get("type", ""), step.get("backspace", 0)
    keys: list[Key] = [(at + index, at + index, typed[index : index + chunk]) for index in range(0, len(typed), chunk)]
    return keys + [(max(at - index - chunk, at - erased), at - index, "") for index in range(0, erased, chunk)]


def _offset(text: str, step: dict[str, Any]) -> int:
    anchor = step.get("after") or step["before"]
    if text.count(anchor) != 1:
        raise ServerError(f"the session does not fit the file: {anchor!r} occurs {text.count(anchor)} times")
    return text.index(anchor) + (len(anchor) if "after" in step else 0)


def _unexpected(step: dict[str, Any], text: str, last: Settled) -> str:
    """What the answer to a step's last key lacks or has too much, or nothing. Expectations name a rule and words of a line."""
    lines = text.split("\n")
    for key, wanted in (("expect", True), ("expect_none", False)):
        if key in step:
            rule, words = step[key]["rule"], step[key]["line"]
            found = any(d.get("code") == rule and words in lines[d["range"]["start"]["line"]] for d in last.diagnostics)
            if found != wanted:
                return f"{rule} at `{words}` is {'missing' if wanted else 'still there'}"
    return ""


def _tables(name: str, outcomes: dict[str, Outcome]) -> str:
    lines = [f"### Edit session {name}", "", "| loaded | time from a key to | keys | p50 | p95 | p99 | max | opened after |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    for scope, outcome in outcomes.items():
        for what, times in (("published diagnostics", outcome.published), ("the whole check done", outcome.finished)):
            shown = " | ".join(f"{value:.1f} ms" for value in (*_percentiles(times, (50, 95, 99)), max(times)))
            lines.append(f"| {scope} | {what} | {len(times)} | {shown} | {outcome.opened_ms / 1000:.2f} s |")
    for scope, outcome in outcomes.items():
        lines += ["", f"| step ({scope}) | keys | median, check done | |", "|---|---|---|---|"]
        lines += [f"| {note} | {keys} | {median:.1f} ms | {held} |" for note, keys, median, held in outcome.notes]
    return "\n".join(lines) + "\n"


def _percentiles(values: list[float], wanted: Sequence[int]) -> list[float]:
    ordered = sorted(values)
    return [ordered[min(len(ordered) - 1, round(percent / 100 * (len(ordered) - 1)))] for percent in wanted]


if __name__ == "__main__":
    sys.exit(main())
