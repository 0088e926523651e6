"""Whole-statement edits in random functions, through the real server: `python -m benchmarks.semantic_edits [PROGRAM ...]`.

The program is loaded as a whole, with the server's own settings but no store. Two kinds of edits are drawn with `--seed`, each
in a function of its own, and each is taken back:

- a defect is inserted before a statement: the dereference of a variable that is null. The time is that from `didChange` to the
  first diagnostics that show it and are not stale; on the way back to the first ones that show nothing there, not even stale.
- a statement is deleted. The time is that to the first diagnostics of which none is stale.

The whole check is done when `everproof/status` says so. An edit is lost if its defect is not shown at the end of the check, or is
still shown when it is gone; `withdrawn` counts defects that were shown, and then not any more. The exit status is 1 if an edit is
lost. `--lines N` adds a generated program of so many lines, `--clangd` the same edits in clangd, to its diagnostics.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Literal, NamedTuple

from benchmarks.generated import generate, write
from benchmarks.programs import CACHE, PROGRAMS, provide
from benchmarks.sources import FetchError
from benchmarks.typing_session import SERVER
from demo.editor import Document, Editor, ServerError, Settled

Kind = Literal["a defect inserted", "and taken back", "a statement deleted", "and put back"]
KINDS: tuple[Kind, ...] = ("a defect inserted", "and taken back", "a statement deleted", "and put back")
Diagnostics = Sequence[dict[str, Any]]
RULE = "null-dereference"
_DEFECT = "{ int *null_here = 0; *null_here = 1; }\n"
_PLAIN = re.compile(r"[ \t]+(?:[\w.>\[\]-]+ *[-+*/|&]?= *[^=;]+|\w+\([^;{}]*\));[ \t]*")
_OF_ANOTHER = re.compile(r"^[ \t]*#[ \t]*(?:line[ \t]+)?\d", re.MULTILINE)
_LEAVES = re.compile(r"\b(?:return|goto|break|continue|exit|abort|fatal|else|case|default|alldone|wrapup|finis|syserr)\b|#")


class StatementEdit(NamedTuple):
    """A place in a file: `before` a line, by number from 0, which is a statement of its own, in the function that the number
    `function` stands for."""

    file: Path
    function: int
    line: int


class Timed(NamedTuple):
    """Milliseconds until what the edit does was shown (None: it never was), and until the check was done."""

    kind: Kind
    where: str
    shown: float | None
    done: float
    withdrawn: bool = False


def places(file: Path, text: str) -> Iterator[StatementEdit]:
    """The statements of a file that stand on a line of their own behind another such line, so that runs get there; none between
    `#if` and `#endif`, which may not be compiled, and none of a text that says that it is another one (`#line`): what is found
    there is shown in the other text."""
    if _OF_ANOTHER.search(text):
        return
    depth, function, conditions, before = 0, 0, 0, ""
    for number, line in enumerate(text.split("\n")):
        bare = re.sub(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|/\*.*?\*/|//.*", "", line)
        conditions += len(re.findall(r"^\s*#\s*if", line)) - len(re.findall(r"^\s*#\s*endif", line))
        if depth and not conditions and _PLAIN.fullmatch(bare) and _PLAIN.fullmatch(before) and not _LEAVES.search(before + bare):
            yield StatementEdit(file, function, number)
        depth += bare.count("{") - bare.count("}")
        function += not depth and "}" in bare
        before = bare


def drawn(files: Sequence[Path], count: int, seed: int) -> list[StatementEdit]:
    """So many statements, each in another function if there are enough."""
    by_function: dict[tuple[Path, int], list[StatementEdit]] = {}
    for file in sorted(files):
        for place in places(file, file.read_text(encoding="utf-8", errors="replace")):
            by_function.setdefault((file, place.function), []).append(place)
    random = Random(seed)
    chosen = random.sample(sorted(by_function), min(count, len(by_function)))
    return [random.choice(by_function[name]) for name in chosen]


class _Session:
    """One server with a program loaded, into which edits are made."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._documents: dict[Path, Document] = {}
        self.timed: list[Timed] = []

    async def edit(self, place: StatementEdit, *, insert: bool) -> None:
        """Makes an edit, and takes it back."""
        if place.file not in self._documents:
            self._documents[place.file], _ = await self._editor.open(place.file)
        document = self._documents[place.file]
        start = _offset(document.text, place.line)
        end = start if insert else _offset(document.text, place.line + 1)
        new, old = _DEFECT if insert else "", document.text[start:end]
        there, back = KINDS[:2] if insert else KINDS[2:]
        await self._replace(document, place, there, start, end, new)
        await self._replace(document, place, back, start, start + len(new), old)

    async def _replace(self, document: Document, place: StatementEdit, kind: Kind, start: int, end: int, text: str) -> None:
        sent, settled = await self._editor.replace(document, start, end, text)
        fits = partial(_fits, kind, place)
        fitting = [when for when, diagnostics in document.published if fits(diagnostics)]
        at_end = fits(settled.diagnostics)
        shown = (fitting[0] - sent) * 1000 if fitting and at_end else None
        where = f"{place.file.name}:{place.line + 1}"
        self.timed.append(Timed(kind, where, shown, _done(sent, settled), bool(fitting) and not at_end))


def _done(sent: float, settled: Settled) -> float:
    return (settled.finished - sent) * 1000


def _fits(kind: Kind, place: StatementEdit, diagnostics: Diagnostics) -> bool:
    """Whether diagnostics say what an edit of this kind leads to."""
    if kind == "a defect inserted":
        return any(not _stale(one) for one in _there(diagnostics, place))
    if kind == "and taken back":
        return not _there(diagnostics, place)
    return not any(map(_stale, diagnostics))


def _there(diagnostics: Diagnostics, place: StatementEdit) -> Diagnostics:
    """What is said of the defect in a line."""
    return [one for one in diagnostics if one["range"]["start"]["line"] == place.line and one.get("code") == RULE]


def _stale(diagnostic: dict[str, Any]) -> bool:
    return bool((diagnostic.get("data") or {}).get("stale"))


def _offset(text: str, line: int) -> int:
    return sum(len(one) + 1 for one in text.split("\n")[:line])


async def measured(command: Sequence[str], root: Path, edits: Sequence[StatementEdit], *, other: bool = False) -> list[Timed]:
    """The times of all edits, defects first. Raises ServerError."""
    editor = await Editor.start(command, root, {}, has_status=not other)
    session = _Session(editor)
    try:
        for insert in (True, False):
            for number, place in enumerate(edits):
                await session.edit(place, insert=insert)
                print(f"\r{number + 1} of {len(edits)}", end="", file=sys.stderr, flush=True)
        return session.timed
    finally:
        await editor.close()
        print(file=sys.stderr)


def table(name: str, timed: Sequence[Timed]) -> str:
    """The times of one program, as rows of a Markdown table."""
    rows = []
    for kind in KINDS:
        of = [one for one in timed if one.kind == kind]
        shown, done = [one.shown for one in of if one.shown is not None], [one.done for one in of]
        lost, withdrawn = sum(one.shown is None for one in of), sum(one.withdrawn for one in of)
        rows.append(f"| {name} | {kind} | {len(of)} | {_spread(shown)} | {_spread(done)} | {lost} | {withdrawn} |")
    return "\n".join(rows)


def _spread(values: Sequence[float]) -> str:
    if not values:
        return "| |"
    ordered = sorted(values)
    at = [ordered[round(share * (len(ordered) - 1))] for share in (0.5, 0.95, 1.0)]
    return " | ".join(f"{value:.0f}" for value in at)


HEAD = (
    "| program | edit | edits | shown, ms: p50 | p95 | max | whole check, ms: p50 | p95 | max | lost | withdrawn |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.semantic_edits", description="Whole-statement edits.")
    parser.add_argument("programs", nargs="*", help=f"which ones: {', '.join(PROGRAMS)} (default: all)")
    parser.add_argument("--edits", type=int, default=60, help="of each kind, and as often back (default: 60)")
    parser.add_argument("--seed", type=int, default=0, help="of the edits (default: 0)")
    parser.add_argument("--lines", type=int, default=0, help="of a generated program, to be measured as well")
    parser.add_argument("--clangd", action="store_true", help="the same edits in clangd, too")
    parser.add_argument("--slowest", type=int, default=0, help="name so many of the slowest edits")
    given = parser.parse_args(arguments)
    if given.clangd and shutil.which("clangd") is None:
        parser.error("there is no clangd on PATH; install it, for example by `apt-get install clangd`")
    timed: list[Timed] = []
    print(HEAD)
    try:
        for name in given.programs or ([] if given.lines else list(PROGRAMS)):
            commands = provide(name)
            entries = json.loads(commands.read_text(encoding="utf-8"))
            files = [Path(entry["directory"]) / entry["file"] for entry in entries]
            timed += _measure(name, CACHE / name, files, given)
        if given.lines:
            with tempfile.TemporaryDirectory() as folder:
                root = Path(folder).resolve()
                timed += _measure(f"generated, {given.lines} lines", root, write(generate(given.lines, given.seed), root), given)
    except (FetchError, ServerError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return int(any(one.shown is None for one in timed))


def _measure(name: str, root: Path, files: Sequence[Path], given: argparse.Namespace) -> list[Timed]:
    edits = drawn([file for file in files if file.suffix == ".c"], given.edits, given.seed)
    timed = asyncio.run(measured(SERVER, root, edits))
    print(table(name, timed), flush=True)
    if given.clangd:
        command = ["clangd", "--background-index=0", "--log=error", f"--compile-commands-dir={root}"]
        others = [one for one in asyncio.run(measured(command, root, edits, other=True)) if one.kind in KINDS[2:]]
        print(table(f"{name}, clangd", others), flush=True)
    for one in sorted(timed, key=lambda one: -(one.shown or one.done))[: given.slowest]:
        print(f"  {one.where} {one.kind}: shown {one.shown or -1:.0f} ms, done {one.done:.0f} ms", file=sys.stderr)
    for one in timed:
        if one.shown is None:
            print(f"  lost: {one.where} {one.kind}", file=sys.stderr)
    return timed


if __name__ == "__main__":
    sys.exit(main())
