"""Types a recorded session into a language server, key by key, and notes how long each answer took: for `benchmarks.keystroke`.

A session names a file of a benchmark program, and has steps. A step says what to type after or before some
words of the file, or how many characters to delete before them. It also says which findings must be there, or
gone, when the step is done. The next key waits for the answer to the last.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import tree_sitter_c
from tree_sitter import Language, Parser

from benchmarks.programs import CACHE
from demo.editor import Editor, ServerError, Settled

SERVER = [sys.executable, "-m", "server", "--store", "none"]
_PARSER = Parser(Language(tree_sitter_c.language()))
Kind = Literal["a body that parses", "declarations that parse", "a broken state", "white space or comment"]
KINDS: tuple[Kind, ...] = ("a body that parses", "declarations that parse", "a broken state", "white space or comment")

Edit = tuple[int, int, str]  # what to put in the place of the characters from one offset to another
_TOKENS = re.compile(r"/\*.*?\*/|//[^\n]*|\s+|(\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|\w+|.)", re.DOTALL)


@dataclass(frozen=True)
class Key:
    """One key: milliseconds to the published diagnostics and to the end of the check, and the check's by stage. `line` is what
    its line is after it, up to the key; `step` the step's note. `inside`: the step is an edit of a body."""

    kind: Kind
    published: float
    finished: float
    times: dict[str, float]
    step: str = ""
    line: str = ""
    inside: bool = True


@dataclass
class Outcome:
    """What one session gave, and the expectations that did not hold."""

    opened_ms: float
    keys: list[Key] = field(default_factory=list)
    notes: list[tuple[str, int, float, str]] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Other:
    """Another language server: its command, what goes with each `didChange`, and the kinds of the keys, known from Everproof."""

    command: Sequence[str]
    more: dict[str, Any]
    kinds: Sequence[Kind]


def run(session: dict[str, Any], commands: Path, scope: str, chunk: int, other: Other | None = None) -> Outcome:
    """Types a session; `scope` "program" loads all of the program, "file" only the file and its headers. Raises ServerError."""
    entry = next(entry for entry in json.loads(commands.read_text(encoding="utf-8")) if entry["file"] == session["file"])
    source = Path(entry["directory"]) / entry["file"]
    if scope == "program":
        return asyncio.run(_type(session, CACHE / session["program"], source, chunk, other))
    with tempfile.TemporaryDirectory() as folder:  # the file and its headers; no compile_commands.json above them
        alone = Path(folder).resolve()
        for path in (source, *source.parent.glob("*.h")):
            shutil.copy(path, alone)
        return asyncio.run(_type(session, alone, alone / source.name, chunk, other))


async def _type(session: dict[str, Any], root: Path, path: Path, chunk: int, other: Other | None) -> Outcome:
    editor = await Editor.start(other.command if other else SERVER, root, {}, has_status=other is None)
    try:
        clock = asyncio.get_running_loop().time
        before = clock()
        document, last = await editor.open(path)
        outcome = Outcome((clock() - before) * 1000)
        broken = _broken(last, document.text)
        for step in session["steps"]:
            first = len(outcome.keys)
            for edit in edits(document.text, step, chunk):
                text = document.text
                sent, last = await editor.replace(document, *edit, other.more if other else None)
                is_broken = _broken(last, document.text) > broken
                kind = other.kinds[len(outcome.keys)] if other else _kind(step, text, document.text, is_broken)
                published, finished = (last.published - sent) * 1000, (last.finished - sent) * 1000
                line = document.text[: edit[0] + len(edit[2])].rpartition("\n")[2].strip()
                outcome.keys.append(Key(kind, published, finished, last.times, step["note"], line, not step.get("outside")))
            times = [key.finished for key in outcome.keys[first:]]
            missed = "" if other else _unexpected(step, document.text, last)
            outcome.notes.append((step["note"], len(times), statistics.median(times), missed or "as expected"))
            print(f"{step['note']}: {len(times)} keys, median {statistics.median(times):.0f} ms", file=sys.stderr)
            if missed:
                outcome.missed.append(missed)
        return outcome
    finally:
        await editor.close()


def _broken(settled: Settled, text: str) -> int:
    """How many functions are stale, and places do not parse. The server says where only after a pause."""
    stale = sum(bool(function["stale"]) for function in settled.functions)
    waiting, places = [_PARSER.parse(text.encode()).root_node], 0
    while waiting:
        node = waiting.pop()
        places += node.is_error or node.is_missing
        waiting += [child for child in node.children if child.has_error]
    return stale + places


def _kind(step: dict[str, Any], before: str, after: str, broken: bool) -> Kind:
    if broken:
        return "a broken state"
    if tokens(before) == tokens(after):
        return "white space or comment"
    return "declarations that parse" if step.get("outside") else "a body that parses"


def tokens(text: str) -> list[str]:
    """What is left of a text without white space and comments."""
    return [found for found in _TOKENS.findall(text) if found]


def edits(text: str, step: dict[str, Any], chunk: int) -> list[Edit]:
    """The edits of a step: characters typed forwards, or deleted backwards."""
    at = _offset(text, step)
    typed, erased = step.get("type", ""), step.get("backspace", 0)
    keys: list[Edit] = [(at + index, at + index, typed[index : index + chunk]) for index in range(0, len(typed), chunk)]
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
