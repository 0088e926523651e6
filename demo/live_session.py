"""A live session: the real language server, a C program, a person who types. `python -m demo.live_session [--speed S]`.

Opens fixtures/demo/inventory.c (its item.c and item.h are read from the disk), makes the edits of `STEPS` a key at a time, and
shows which findings come and go, with their traces and the time from the key to the answer. Nothing is written to the files.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlparse

from rich.console import Console
from rich.markup import escape

from demo.editor import Document, Editor, Json, ServerError, Settled

FOLDER = Path(__file__).resolve().parents[1] / "fixtures" / "demo"
FILE = FOLDER / "inventory.c"
SEVERITIES = {1: "[bold red]error[/]", 2: "[bold yellow]warning[/]", 3: "note", 4: "hint"}


@dataclass(frozen=True)
class Step:
    """One thing the person does: select `selected` in the text after `after`, and type `typed` over it, key by key."""

    says: str
    after: str
    selected: str
    typed: str


STEPS = (
    Step(
        "deletes the test for NULL in price(); that item_find() can return NULL stands in another file",
        "static int price(const char *name, int cents)\n{\n\tstruct item *item = item_find(stock, name);\n\n",
        "\tif (!item)\n\t\treturn -1;\n",
        "",
    ),
    Step(
        "types it again",
        "static int price(const char *name, int cents)\n{\n\tstruct item *item = item_find(stock, name);\n\n",
        "",
        "\tif (!item)\n\t\treturn -1;\n",
    ),
    Step(
        "adds an early way out to save(), and forgets the open file",
        "\t\tperror(path);\n\t\treturn -1;\n\t}\n",
        "",
        "\tif (!stock)\n\t\treturn 0;\n",
    ),
    Step("closes it", "\tif (!stock)\n\t\treturn ", "0", "fclose(file)"),
    Step(
        "lets sell() free what is sold out, and still prints it",
        "\titem->count -= count;\n",
        "",
        "\tif (item->count == 0)\n\t\titem_free(item);\n",
    ),
    Step("thinks better of it", "\tif (item->count == 0)\n\t\t", "item_free(item);", 'printf("the last %s\\n", item->name);'),
    Step(
        "begins a function and does not finish it: the rest stays checked",
        "static struct item *stock;\n",
        "",
        "\nstatic int total(vo",
    ),
    Step("finishes it", "\nstatic int total(vo", "", "id)\n{\n\treturn stock ? stock->count : 0;\n}\n"),
    Step("types a comment", "\nstatic int total(void)\n{\n", "", "\t/* of the first kind only */\n"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the session; 2 if the server fails."""
    parser = argparse.ArgumentParser(prog="python -m demo.live_session", description="A live session in the terminal.")
    parser.add_argument("--speed", type=float, default=25.0, metavar="KEYS", help="keys a second on a terminal (default: 25)")
    speed = parser.parse_args(arguments).speed
    console = Console(highlight=False, soft_wrap=True)
    pause = 1 / speed if console.is_terminal and speed > 0 else 0.0
    try:
        asyncio.run(_session(console, pause))
    except (ServerError, OSError) as error:
        Console(stderr=True).print(f"[red]error:[/] {escape(str(error))}")
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


async def _session(console: Console, pause: float) -> None:
    console.print(f"Starting the language server on [bold]fixtures/demo[/] and opening [bold]{FILE.name}[/] ...")
    editor = await Editor.start([sys.executable, "-m", "server", "--store", "none"], FOLDER, {})
    try:
        clock = asyncio.get_running_loop().time
        before = clock()
        document, settled = await editor.open(FILE)
        count = len(settled.functions)
        console.print(f"{count} functions checked for the first time in {(clock() - before) * 1000:.0f} ms. {_verdicts(settled)}")
        _show_changes(console, {}, _findings(settled), None)
        for number, step in enumerate(STEPS, 1):
            console.print(f"\n[bold reverse] {number} [/] [bold]The person {escape(step.says)}.[/]")
            settled = await _take(console, editor, document, step, settled, pause)
    finally:
        await editor.close()


async def _take(console: Console, editor: Editor, document: Document, step: Step, last: Settled, pause: float) -> Settled:
    """Makes the edits of a step and shows what they change."""
    if document.text.count(step.after + step.selected) != 1:
        raise ServerError(f"The demo does not fit {FILE.name}: {step.after + step.selected!r} is not in it exactly once.")
    at = document.text.index(step.after + step.selected) + len(step.after)
    edits = [(at, at + len(step.selected), step.typed[:1])] if step.selected else []
    edits += [(at + index, at + index, key) for index, key in enumerate(step.typed) if not (index == 0 and step.selected)]
    if step.selected:
        console.print(f"[red strike]{escape(step.selected.strip(chr(10)))}[/]")
    before, times = _findings(last), []
    for start, end, key in edits:
        sent, last = await editor.replace(document, start, end, key)
        times.append((last.finished - sent) * 1000)
        console.print(f"[green]{escape(key)}[/]", end="")
        await asyncio.sleep(pause)
    if step.typed:
        console.print()
    took = f"{times[0]:.0f} ms" if len(times) == 1 else f"median {statistics.median(times):.0f} ms, slowest {max(times):.0f} ms"
    console.print(f"[dim]{len(times)} {'edit' if len(times) == 1 else 'keys'}, from each to fresh diagnostics: {took}[/]")
    _show_changes(console, before, _findings(last), times[-1])
    console.print(_verdicts(last))
    return last


def _findings(settled: Settled) -> dict[str, Json]:
    """Findings by their fingerprint, which an edit elsewhere does not change."""
    return {(d.get("data") or {}).get("fingerprint") or d["message"]: d for d in settled.diagnostics}


def _show_changes(console: Console, before: dict[str, Json], after: dict[str, Json], ms: float | None) -> None:
    when = "" if ms is None else f" [dim](after {ms:.0f} ms)[/]"
    for key in sorted(before.keys() - after.keys()):
        console.print(f"[bold green]gone[/] {_headline(before[key])}{when}")
    for key in sorted(after.keys() - before.keys()):
        console.print(f"[bold]new[/]  {_headline(after[key])}{when}")
        for line in _trace(after[key]):
            console.print(line)
    if before.keys() == after.keys() and ms is not None:
        console.print(f"[dim]no finding comes or goes; {len(after)} stand[/]")


def _headline(diagnostic: Json) -> str:
    kind = SEVERITIES.get(diagnostic.get("severity", 1), "error")
    line = diagnostic["range"]["start"]["line"] + 1
    return f"{kind} {FILE.name}:{line} {escape(diagnostic['message'])} [dim]{diagnostic.get('code', '')}[/]"


def _trace(diagnostic: Json) -> list[str]:
    lines = []
    for related in diagnostic.get("relatedInformation") or []:
        place = related["location"]
        name = Path(unquote(urlparse(place["uri"]).path)).name
        where = f"{name}:{place['range']['start']['line'] + 1}"
        lines.append(f"     [cyan]{where:<16}[/] {escape(related['message'])}")
    return lines


def _verdicts(settled: Settled) -> str:
    counts: dict[str, int] = {}
    for function in settled.functions:
        word = "stale" if function["stale"] else function["verdict"]
        counts[word] = counts.get(word, 0) + 1
    return "[dim]functions: " + ", ".join(f"{count} {word}" for word, count in sorted(counts.items())) + "[/]"


if __name__ == "__main__":
    sys.exit(main())
