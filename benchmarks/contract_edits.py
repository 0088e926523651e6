"""How long contracts take after edits, through the real server: `python -m benchmarks.contract_edits [PROGRAM ...]`, as Markdown.

The program is loaded as a whole, with the server's own settings but no store. When the checker has come to rest, or after two
minutes, statements are put into random functions (`benchmarks.semantic_edits` chooses them), and taken out again, which is one
more edit. After each edit the contract of the edited function, and those of some other functions of the same file, are asked for
by hovers; again after a second if one is not whole yet, as a person would. The times are those from `didChange` until the check
is done, and until all of these contracts are whole.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from benchmarks.programs import CACHE, PROGRAMS, provide
from benchmarks.resident import memory_of, spent_by
from benchmarks.semantic_edits import StatementEdit, drawn
from benchmarks.sources import FetchError
from benchmarks.typing_session import SERVER
from demo.editor import Document, Editor, ServerError

_PUT_IN = "{ int put_in = 1; put_in++; }\n"
_NOT_WHOLE = "Not all of it is known yet"
_OTHERS = 3  # functions of the file whose contracts are asked for, too
_PATIENCE = 120.0  # seconds for one contract, and for the checker to come to rest
_HEAD = re.compile(r"^(?:[A-Za-z_][\w \t*]*[ \t*])?([A-Za-z_]\w*)[ \t]*\([^;]*$")


class Timed(NamedTuple):
    """Milliseconds after an edit until the check was done, and until the contracts were whole."""

    where: str
    checked: float
    whole: float


class _Session:
    def __init__(self, editor: Editor, random: Random) -> None:
        self._editor, self._random = editor, random
        self._documents: dict[Path, Document] = {}
        self.timed: list[Timed] = []

    async def edit(self, place: StatementEdit) -> None:
        """Puts a statement in, and takes it out again."""
        if place.file not in self._documents:
            self._documents[place.file], _ = await self._editor.open(place.file)
            await self._until_at_rest()
        document = self._documents[place.file]
        at = sum(len(line) + 1 for line in document.text.split("\n")[: place.line])
        asked = await self._asked(document, place.line)
        await self._replace(document, place, at, at, _PUT_IN, asked)
        await self._replace(document, place, at, at + len(_PUT_IN), "", asked)

    async def _replace(
        self, document: Document, place: StatementEdit, start: int, end: int, text: str, asked: Sequence[dict[str, int]]
    ) -> None:
        sent, settled = await self._editor.replace(document, start, end, text)
        for position in asked:
            lines = text.count("\n") if position["line"] >= place.line else 0
            await self._whole(document, {**position, "line": position["line"] + lines})
        whole = (time.perf_counter() - sent) * 1000
        self.timed.append(Timed(f"{place.file.name}:{place.line + 1}", (settled.finished - sent) * 1000, whole))

    async def _whole(self, document: Document, position: dict[str, int]) -> None:
        """Asks for a contract until it is whole. Raises ServerError after `_PATIENCE`."""
        until = time.perf_counter() + _PATIENCE
        while True:
            hover = await self._hover(document, position)
            if hover and _NOT_WHOLE not in json.dumps(hover):
                return
            if time.perf_counter() > until:
                raise ServerError(f"no whole contract at line {position['line'] + 1} of {document.uri} in {_PATIENCE:.0f} s")
            await asyncio.sleep(1)

    async def _hover(self, document: Document, position: dict[str, int]) -> object:
        about = {"textDocument": {"uri": document.uri}, "position": position}
        return await self._editor.request("textDocument/hover", about)

    async def _asked(self, document: Document, line: int) -> list[dict[str, int]]:
        """Where the names of the function at a line, and of some others, are defined."""
        heads = [(at, one.start(1)) for at, text in enumerate(document.text.split("\n")) if (one := _HEAD.match(text))]
        own = [one for one in heads if one[0] <= line][-1:]
        others = self._random.sample(heads, min(_OTHERS, len(heads)))
        found = [{"line": at, "character": character} for at, character in (*own, *others)]
        return [one for one in found if await self._hover(document, one) is not None]

    async def _until_at_rest(self) -> None:
        """Waits until the checker has nothing more to do of what nobody waits for."""
        idle, spent = 0, spent_by(self._editor.process_id)[1]
        for _ in range(int(_PATIENCE)):
            await asyncio.sleep(1)
            now = spent_by(self._editor.process_id)[1]
            idle = idle + 1 if now - spent < 50 else 0
            spent = now
            if idle == 3:
                return


async def measured(root: Path, edits: Sequence[StatementEdit], seed: int) -> tuple[list[Timed], int]:
    """The times of all edits, and the bytes that the checker held at the end. Raises ServerError."""
    editor = await Editor.start(SERVER, root, {})
    session = _Session(editor, Random(seed))
    try:
        for number, place in enumerate(edits):
            await session.edit(place)
            print(f"\r{number + 1} of {len(edits)}", end="", file=sys.stderr, flush=True)
        return session.timed, memory_of(editor.process_id)["checker"]
    finally:
        await editor.close()
        print(file=sys.stderr)


def _spread(values: Sequence[float]) -> str:
    ordered = sorted(values)
    return " | ".join(f"{ordered[round(share * (len(ordered) - 1))]:.0f}" for share in (0.5, 0.95, 1.0))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.contract_edits", description="Contracts after edits.")
    parser.add_argument("programs", nargs="*", help=f"which ones: {', '.join(PROGRAMS)} (default: all)")
    parser.add_argument("--edits", type=int, default=20, help="and as often back (default: 20)")
    parser.add_argument("--seed", type=int, default=0, help="of the edits (default: 0)")
    given = parser.parse_args(arguments)
    print("| program | edits | whole contracts, ms: p50 | p95 | max | whole check, ms: p50 | p95 | max | checker, MB |")
    print("|---|---|---|---|---|---|---|---|---|")
    try:
        for name in given.programs or list(PROGRAMS):
            entries = json.loads(provide(name).read_text(encoding="utf-8"))
            files = [Path(entry["directory"]) / entry["file"] for entry in entries if entry["file"].endswith(".c")]
            timed, held = asyncio.run(measured(CACHE / name, drawn(files, given.edits, given.seed), given.seed))
            whole, checked = [one.whole for one in timed], [one.checked for one in timed]
            print(f"| {name} | {len(timed)} | {_spread(whole)} | {_spread(checked)} | {held >> 20} |", flush=True)
    except (FetchError, ServerError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
