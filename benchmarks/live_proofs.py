"""How soon proofs are back after a key, in the editor: `python -m benchmarks.live_proofs [--repeat N] [--pair NAME]`.

A client of the real server opens a program of a paper and waits for the proofs. Then it types: edits of it (`edit`), texts of
before (`back`), and an edit beside the proofs (`beside`). At last the server is started again (`restart`).

`first`: milliseconds from the key to the first answer. `proofs`: to where nothing is being checked again, of what was proved
before. `processor`: the mean of what all processes spend meanwhile. `proved`: the functions that are proved then; `reused`: the
proofs that say what they took from the last one; `broken`: those that do not hold any more; of these three, the least. Times are
by the clock, so they are of a machine and its load.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.resident import spent_below
from demo.editor import Document, Editor

PAPERS = Path(__file__).parents[1] / "fixtures" / "programs" / "papers"
_QUIET = 2.0  # seconds without a status: provers have said all
_PATIENCE = 60.0
_BESIDE = "\nint beside(int n)\n{\n    return n;\n}\n"


class Pair(NamedTuple):
    """A program: its first text, edits of it, and one at last beside what is proved."""

    name: str
    first: str
    edits: tuple[str, ...]
    beside: str


class Measured(NamedTuple):
    """Milliseconds from a key, and what is said at the end."""

    what: str
    first: float
    proofs: float
    processor: float
    proved: int
    reused: int
    broken: int


def pairs() -> list[Pair]:
    """The programs: figure 2 of [IPA], with edits of its second version, as its first one has a defect; figure 1 of [UPPROVER],
    with its second version and edits of that."""
    later = (PAPERS / "ipa-fig2-second.c").read_text("utf-8") + _BESIDE
    first, second = ((PAPERS / f"upprover-fig1-{which}.c").read_text("utf-8") + _BESIDE for which in ("first", "second"))
    steps = [later.replace("i--;", step) for step in ("i = i - 2;", "i = 0;", "i = i - 3;", "i = 1;")]
    results = [second.replace("return 2 * b;", f"return {result};") for result in ("2 * b", "b + b", "3 * b", "2 * b + 1")]
    return [
        Pair("ipa-fig2", later, tuple(steps), steps[-1].replace("return n;", "return n + 1;")),
        Pair("upprover-fig1", first, tuple(results), results[-1].replace("return n;", "return n + 1;")),
    ]


async def _measure(pair: Pair, folder: Path) -> list[Measured]:
    path, found = folder / f"{pair.name}.c", list[Measured]()
    path.write_text(pair.first, encoding="utf-8")
    command = [sys.executable, "-m", "server", "--store", str(folder / "store")]
    editor = await Editor.start(command, folder, {})
    try:
        document, _ = await editor.open(path)
        await _quiet(document)
        keys = [("edit", text) for text in pair.edits]
        keys += [("back", pair.first), ("back", pair.edits[-1]), ("beside", pair.beside)]
        for what, text in keys:
            found.append(await _typed(editor, document, what, text))
            await _quiet(document)
    finally:
        await editor.close()
    path.write_text(pair.beside, encoding="utf-8")
    editor = await Editor.start(command, folder, {})
    try:
        began, before = time.perf_counter(), spent_below(editor.process_id)
        _, settled = await editor.open(path)
        spent = _since(before, spent_below(editor.process_id))
        found.append(_measured("restart", began, settled.finished, settled.finished, spent, settled.functions))
    finally:
        await editor.close()
    return found


async def _typed(editor: Editor, document: Document, what: str, text: str) -> Measured:
    """Types one text in the place of the other, in one edit of what differs."""
    start = _common(document.text, text)
    same = _common(document.text[start:][::-1], text[start:][::-1])
    before = spent_below(editor.process_id)
    sent, settled = await editor.replace(document, start, len(document.text) - same, text[start : len(text) - same])
    said = await editor.status(document, _is_back, _PATIENCE)
    spent = _since(before, spent_below(editor.process_id))
    when, params = said or (float("nan"), document.statuses[-1][1])
    return _measured(what, sent, settled.finished, when, spent, params["functions"])


def _since(before: dict[int, float], now: dict[int, float]) -> float:
    """What was spent by processes that are still there."""
    return sum(spent - before.get(process, 0.0) for process, spent in now.items())


def _common(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    return next(
        (at for at, (mine, theirs) in enumerate(zip(one, other, strict=False)) if mine != theirs), min(len(one), len(other))
    )


def _is_back(params: dict[str, Any]) -> bool:
    return params["state"] == "idle" and not any(one["stale"] or one.get("rechecked") for one in params["functions"])


def _measured(what: str, sent: float, first: float, proofs: float, spent: float, functions: Sequence[dict[str, Any]]) -> Measured:
    proved = sum(one["standing"] == "proved" for one in functions)
    reused = sum(len(one.get("reused", ())) for one in functions)
    broken = sum(len(one.get("broken", ())) for one in functions)
    return Measured(what, (first - sent) * 1000, (proofs - sent) * 1000, spent, proved, reused, broken)


async def _quiet(document: Document) -> None:
    """Waits until nothing is said any more."""
    seen = -1
    while seen != len(document.statuses):
        seen = len(document.statuses)
        await asyncio.sleep(_QUIET)


def _row(name: str, rows: Sequence[Measured]) -> str:
    times, first = sorted(row.proofs for row in rows), statistics.median(row.first for row in rows)
    said = f"{times[0]:.0f}, {statistics.median(times):.0f}, {times[-1]:.0f}"
    spent = statistics.mean(row.processor for row in rows)
    counts = " | ".join(str(min(counted)) for counted in list(zip(*rows, strict=True))[4:])
    return f"| {name} | {rows[0].what} | {len(rows)} | {first:.0f} | {said} | {spent:.0f} | {counts} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.live_proofs", description="Measure proofs in the editor.")
    parser.add_argument("--repeat", type=int, default=1, help="how often (default: 1)")
    parser.add_argument("--pair", action="append", help="only this one, repeatable")
    given = parser.parse_args(arguments)
    print("| pair | key | of them | first, ms | proofs, ms: least, median, most | processor, ms | proved | reused | broken |")
    print("|---|---|---|---|---|---|---|---|---|")
    for pair in pairs():
        if given.pair and pair.name not in given.pair:
            continue
        found = list[Measured]()
        for _ in range(given.repeat):
            with tempfile.TemporaryDirectory() as folder:
                found += asyncio.run(_measure(pair, Path(folder).resolve()))
        for what in dict.fromkeys(one.what for one in found):
            print(_row(pair.name, [one for one in found if one.what == what]))
    print(f"\nLoad: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
