"""The memory of server and checker over many edits: `python -m benchmarks.edit_memory [PROGRAM] [--edits N]`.

The real language server, the whole program loaded, one function after the other edited as people do: a line is typed key by
key, with names that no edit before had, and deleted again, so that every text that an edit begins with is that of the disk.
Some lines end the function early or call something unknown: these have effects elsewhere. Now and then nobody types for a
while: then provers are asked, and what can be let go is.

Memory is the system's figure (resident pages) every 500 edits, of the server, of the checker process, and of the provers below
it. The exit status is 1 if that of server or checker is at the end more than 10 % above that after the first 500 edits.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from benchmarks.programs import CACHE, provide
from benchmarks.resident import Memory, memory_of
from benchmarks.sources import FetchError
from benchmarks.typing_session import SERVER
from demo.editor import Document, Editor, ServerError

EDITS = 20_000
EVERY = 500
GROWTH = 1.10
FILES = 4
PAUSE_EVERY, PAUSE = 250, 1.5  # edits, and seconds without one
_PLACE = re.compile(r"^\t+\w[^\n{}:]*;\n(?=\t)", re.MULTILINE)
_LINES = (
    "int x_{n} = {n};",
    "{{ int *p_{n} = 0; if (p_{n}) *p_{n} = 1; }}",
    "{{ int *p_{n} = 0; *p_{n} = 1; }}",
    "/* words of edit {n} */",
    "int y_{n} = {n}; y_{n} += 2;",
    "{{ char *q_{n} = malloc({n}); q_{n}[0] = 0; }}",
    "if (1) {{",
    "x_{n}++;",
    "int z_{n}[{n} + 1]; z_{n}[0] = 1;",
    "unknown_{n}({n});",
    "{{ int i_{n}; for (i_{n} = 0; i_{n} < 3; i_{n}++) ; }}",
    "return;",
)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.edit_memory", description="Memory over many edits.")
    parser.add_argument("program", nargs="?", default="spin", help="a program of benchmarks.programs (default: spin)")
    parser.add_argument("--edits", type=int, default=EDITS, help=f"how many (default: {EDITS})")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    if given.edits < 2 * EVERY:
        parser.error(f"at least {2 * EVERY} edits")
    try:
        commands = json.loads(provide(given.program).read_text(encoding="utf-8"))
        sources = [Path(entry["directory"]) / entry["file"] for entry in commands]
        samples = asyncio.run(_edit(CACHE / given.program, sources, given.edits, given.seed))
    except (FetchError, ServerError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(table(samples))
    return 0 if all(growth(samples, name) <= GROWTH for name in ("server", "checker")) else 1


def growth(samples: Sequence[tuple[int, Memory]], name: str) -> float:
    """The memory at the end, divided by the memory after the first edits."""
    return samples[-1][1][name] / samples[1][1][name]


def table(samples: Sequence[tuple[int, Memory]]) -> str:
    """The samples as Markdown, about twenty of them."""
    step = max(1, (len(samples) - 2) // 20)
    shown = [*samples[:2], *samples[2:-1:step], samples[-1]]
    rows = [f"| {edits} | " + " | ".join(f"{size / 1e6:.0f} MB" for size in memory.values()) + " |" for edits, memory in shown]
    last = [f"{(growth(samples, name) - 1) * 100:+.1f} %" for name in ("server", "checker")]
    ends = f"| the end, to that after {samples[1][0]} | {last[0]} | {last[1]} | |"
    return "\n".join(["| edits | server | checker | provers |", "|---|---|---|---|", *rows, ends])


async def _edit(root: Path, sources: Sequence[Path], count: int, seed: int) -> list[tuple[int, Memory]]:
    """Edits; the memory after so many edits, each `EVERY`."""
    random = Random(seed)
    editor = await Editor.start(SERVER, root, {})
    try:
        fitting = [path for path in sources if len(_PLACE.findall(path.read_text(encoding="utf-8", errors="replace"))) > 20]
        documents = [(await editor.open(path))[0] for path in random.sample(fitting, min(FILES, len(fitting)))]
        samples, began = [(0, memory_of(editor.process_id))], time.monotonic()
        done = 0
        for number in range(count):  # more than enough: each is several keys
            document = random.choice(documents)
            for start, end, text in _keys(document, _LINES[number % len(_LINES)].format(n=number), random):
                await editor.replace(document, start, end, text)
                done += 1
                if done % PAUSE_EVERY == 0:
                    await asyncio.sleep(PAUSE)
                if done % EVERY == 0:
                    samples.append((done, memory_of(editor.process_id)))
                    told = ", ".join(f"{name} {size / 1e6:.0f} MB" for name, size in samples[-1][1].items())
                    print(f"{done} edits after {time.monotonic() - began:.0f} s: {told}", file=sys.stderr, flush=True)
                if done >= count:
                    return samples
        return samples
    finally:
        await editor.close()


def _keys(document: Document, line: str, random: Random) -> Iterator[tuple[int, int, str]]:
    """Edits that type a line into a body in three parts and delete it in one. Each is a range of characters
    and its new text."""
    at = random.choice(list(_PLACE.finditer(document.text))).end()
    typed = f"\t{line}\n"
    third = len(typed) // 3
    parts = (typed[:third], typed[third : 2 * third], typed[2 * third :])
    for part in parts:
        yield at, at, part
        at += len(part)
    yield at - len(typed), at, ""


if __name__ == "__main__":
    sys.exit(main())
