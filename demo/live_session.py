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

from analysis.session.contracts.words import EXPECTS, EXPECTS_NOTHING, REQUIRES
from demo.editor import Document, Editor, Json, ServerError, Settled

FOLDER = Path(__file__).resolve().parents[1] / "fixtures" / "demo"
FILE = FOLDER / "inventory.c"
_WORDS = {"unknown": "without a finding", "violated": "with a finding", "safe": "proved"}
_HOVERS = 20  # each waits a little for the checker
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
        console.print(f"\n[bold reverse] {len(STEPS) + 1} [/] [bold]The person looks at what is known of each function.[/]")
        await _show_contracts(console, editor, document, settled)
    finally:
        await editor.close()


async def _take(console: Console, editor: Editor, document: Document, step: Step, last: Settled, pause: float) -> Settled:
    """Makes the edits of a step and shows what they change."""
    if document.text.count(step.after + step.selected) != 1:
        raise ServerError(f"The demo does not fit {FILE.name}: {step.after + step.selected!r} is not in it exactly once.")
    at = document.text.index(step.after + step.selected) + len(step.after)
    edits = [(at, at + len(step.selected), step.typed[:1])] if step.selected else []
    edits += [(at + index, at + index, key) for index, key in enumerate(step.typed) if not (index == 0 and step.selected)]
    head = escape(document.text[document.text.rfind("\n", 0, at) + 1 : at])
    if step.selected:
        console.print(f"-{head}[red strike]{escape(step.selected.strip(chr(10)))}[/]")
    if step.typed:
        console.print(f"+{head}", end="")
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
    """How many functions have a finding. While someone types, nothing is proved: `_show_contracts` says what is."""
    counts: dict[str, int] = {}
    for function in settled.functions:
        word = "stale" if function["stale"] else str(_WORDS.get(function["verdict"], function["verdict"]))
        counts[word] = counts.get(word, 0) + 1
    return "[dim]functions: " + ", ".join(f"{count} {word}" for word, count in sorted(counts.items())) + "[/]"


def says_what_callers_keep(line: str) -> bool:
    """Whether a line of a hover says what callers have to keep."""
    return line.startswith((EXPECTS, REQUIRES)) and not line.startswith(EXPECTS_NOTHING)


async def _show_contracts(console: Console, editor: Editor, document: Document, settled: Settled) -> None:
    """What the lens and the hover of each function say: what is proved, and what callers have to keep and can rely on."""
    hovers = [await _hover(editor, document, function) for function in settled.functions]
    lenses: dict[int, str] = {}
    for lens in await editor.request("textDocument/codeLens", {"textDocument": {"uri": document.uri}}):
        lenses.setdefault(lens["range"]["start"]["line"], lens["command"]["title"])
    told = 0
    for function, lines in zip(settled.functions, hovers, strict=True):
        lens_title = lenses.get(function["range"]["start"]["line"], "")
        told += lens_title.startswith("✓") or any(map(says_what_callers_keep, lines))
        title = f" [green]{escape(lens_title)}[/]" if lens_title else ""
        console.print(f"[bold]{function['name']}[/]{title}")
        for line in lines:
            console.print(f"     {escape(line)}")
    console.print(f"{told} of {len(hovers)} functions are proved for some rule, or say what they expect of their callers.")


async def _hover(editor: Editor, document: Document, function: Json) -> list[str]:
    """The lines of a contract, asked for again until all of it is known, so many times at most."""
    where = {"textDocument": {"uri": document.uri}, "position": function["range"]["start"]}
    for _ in range(_HOVERS):
        found = await editor.request("textDocument/hover", where)
        text = found["contents"]["value"] if found else ""
        if "Hover again" not in text:
            break
    return [line[2:].replace("*", "") for line in text.splitlines() if line.startswith("- ")]


if __name__ == "__main__":
    sys.exit(main())
