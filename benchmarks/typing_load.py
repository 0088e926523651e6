"""Ten files open and a minute of typing at ten characters a second: `python -m benchmarks.typing_load [PROGRAM]`.

The real server process over standard input and output, the whole program loaded. In each of the ten files in turn a defect is
typed into a function; in every second one it is taken back, key by key. Nothing waits for an answer. `benchmarks.judged_editor`
judges every message: no diagnostic may be blank, wrong-versioned or left behind. At the end, what is shown must be what a full
check from scratch says, and the log of the session must keep to the protocol (tests/e2e/session_log.py). The server measures by
itself how long its event loop is held up, and when (server.loop_watch). Memory is the system's figure, once a second.

Sometimes the machine itself delays every process, most often a virtual machine. Control processes note when
(benchmarks.machine_waits): what a wait of the loop shares with theirs is the machine's, the rest is ours, whatever the reason:
own work, a processor that checker, provers or other programs had, or a call that did not return.

The exit status is 1 if anything is wrong, or a limit is not kept: for our part the loop is held up for at most 50 ms, and the
memory of server and checker in the last quarter of the time is at most 5 % more than in the second. This is for a machine that
does nothing else: what other programs hold up counts as ours.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.judged_editor import JudgedEditor, Typed, planted, typed_findings
from benchmarks.keystroke import percentiles
from benchmarks.machine_waits import Controls, Interval, shared
from benchmarks.programs import CACHE, provide
from benchmarks.resident import memory_of
from benchmarks.sources import FetchError
from demo.editor import ServerError

FILES = 10
SECONDS = 60.0
PER_SECOND = 10.0
DEFECT = "int *q = 0;\n\tsum += *q;\n\t"
LONGEST_BLOCK = 50.0  # milliseconds
MEMORY_GROWTH = 1.05
SERVER = [sys.executable, "-m", "server", "--store", "none", "--watch-loop"]
SESSION_LOG = Path(__file__).resolve().parents[1] / "tests" / "e2e" / "session_log.py"

Sizes = dict[str, list[int]]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.typing_load", description="Type into ten open files.")
    parser.add_argument("program", nargs="?", default="spin", help="a program of benchmarks.programs (default: spin)")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long to type")
    given = parser.parse_args(arguments)
    try:
        commands = json.loads(provide(given.program).read_text(encoding="utf-8"))
        written = [source for entry in commands if not _generated(source := Path(entry["directory"]) / entry["file"])]
        sources = sorted(written, key=_lines, reverse=True)
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "session.jsonl"
            rows, held = asyncio.run(_run(CACHE / given.program, sources[:FILES], given.seconds, log))
            strict = subprocess.run([sys.executable, str(SESSION_LOG), str(log)], capture_output=True, text=True, check=False)
    except (FetchError, ServerError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("\n".join([*rows, f"| the log keeps to the protocol | {'yes' if strict.returncode == 0 else 'NO'} |"]))
    if strict.returncode != 0:
        print(strict.stdout)
    return 0 if held and strict.returncode == 0 else 1


def _generated(path: Path) -> bool:
    """Whether the places in a file are said to be in another one's."""
    return b"\n#line " in path.read_bytes()


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n")


async def _run(root: Path, sources: Sequence[Path], seconds: float, log: Path) -> tuple[list[str], bool]:
    """Types into the editor. Returns the rows of the table, and whether every limit was kept."""
    texts = {path: planted(path.read_text(encoding="utf-8", errors="replace"), i) for i, path in enumerate(sources)}
    names = [f"everproof_{kind}_{i}" for i in range(len(sources)) for kind in ("steady", "typed")]
    editor = await JudgedEditor.start(SERVER, root, {"entries": ["main", *names]})
    try:
        documents = [await editor.show(path, text) for path, text in texts.items()]
        await _until_settled(editor)
        load = os.getloadavg()[0]
        with Controls() as controls:
            editor.typing = True
            memory, late = await _type(editor, documents, seconds)
            editor.typing = False
        await _until_settled(editor, decided=True)
        wrong = [*editor.observed.wrong, *_left_behind(documents), *await _compared(editor, documents)]
    finally:
        await editor.close()
    log.write_text("".join(editor.said), encoding="utf-8")
    held = not wrong
    for sentence in wrong[:20]:
        print(sentence, file=sys.stderr)
    waits = [wait for wait in editor.observed.waits if wait["begin"] >= controls.begun]
    loop, ours = _loop_rows(waits, controls.held_up, seconds)
    rows = [*_rows(editor, wrong, memory, late), *loop]
    rows.append(f"| other work on the machine: load average before | {load:.1f} |")
    flat = all(_growth(memory[name]) <= MEMORY_GROWTH for name in ("server", "checker"))
    return rows, held and flat and ours <= LONGEST_BLOCK


def _loop_rows(waits: Sequence[dict[str, float]], machine: Sequence[Interval], seconds: float) -> tuple[list[str], float]:
    """How long the loop did not turn, by the clock and without what it shares with waits of the machine; our longest, in ms."""
    by_clock = [((wait["end"] - wait["begin"]) * 1000, wait) for wait in waits]
    by_us = [(passed - shared((wait["begin"], wait["end"]), machine) * 1000, wait) for passed, wait in by_clock]
    rows = [f"| longest time that the event loop did not turn | {_longest(by_clock)} |"]
    rows.append(f"| the same, without what coincides with waits of the machine | {_longest(by_us)} |")
    over = [sum(1 for passed, _ in times if passed > LONGEST_BLOCK) for times in (by_clock, by_us)]
    rows.append(f"| times over {LONGEST_BLOCK:.0f} ms: by the clock, without the machine's | {over[0]}, {over[1]} |")
    most = f"; the longest {max(end - begin for begin, end in machine) * 1000:.0f} ms" if machine else ""
    rows.append(f"| times that the machine held up a process that only waits, in {seconds:.0f} s | {len(machine)}{most} |")
    return rows, max((passed for passed, _ in by_us), default=0.0)


def _longest(waits: Sequence[tuple[float, dict[str, float]]]) -> str:
    """The longest, in milliseconds, and what the loop's thread did in it."""
    if not waits:
        return "none long enough to be told"
    longest, wait = max(waits, key=lambda one: one[0])
    return f"{longest:.1f} ms; it worked {wait['processor']:.1f} ms and was queued for a processor {wait['queued']:.1f} ms"


async def _type(editor: JudgedEditor, documents: Sequence[Typed], seconds: float) -> tuple[Sizes, float]:
    """A key every tenth of a second, whatever is received; the memory each second, and how late a key was at most, in ms."""
    loop = asyncio.get_running_loop()
    begun, memory, late = loop.time(), Sizes(server=[], checker=[], provers=[]), 0.0
    for number, (document, key) in enumerate(_keys(documents, int(seconds * PER_SECOND))):
        due = begun + number / PER_SECOND
        await asyncio.sleep(max(due - loop.time(), 0.0))
        late = max(late, (loop.time() - due) * 1000)
        await editor.key(document, key)
        if number % int(PER_SECOND) == 0:
            for name, size in memory_of(editor.process_id).items():
                memory[name].append(size)
    return memory, late


def _keys(documents: Sequence[Typed], count: int) -> list[tuple[Typed, str]]:
    """At least so many keys, one file after the other, and round again; what is begun in a file is ended."""
    keys: list[tuple[Typed, str]] = []
    turn = 0
    while len(keys) < count:
        document = documents[turn % len(documents)]
        back = len(DEFECT) if turn % 2 else 0
        keys += [(document, key) for key in DEFECT + "\b" * back]
        turn += 1
    return keys


async def _until_settled(editor: JudgedEditor, decided: bool = False) -> None:
    """Waits until all is checked, and nothing is added for a second. `decided`: until provers have said of each finding what they
    will, too: they refute some, and what took the place of one was compared with it otherwise."""
    quiet = 0
    for _ in range(3000):
        await asyncio.sleep(0.1)
        quiet = quiet + 1 if editor.settled() and not (decided and editor.undecided()) else 0
        if quiet >= 10:
            return
    raise ServerError("The server did not come to rest.")


def _left_behind(documents: Sequence[Typed]) -> list[str]:
    """What is shown and should not be, or the other way about, when all has come to rest."""
    wrong = []
    for document in documents:
        there = "sum += *q;" in document.text
        if document.published != document.version and document.shown:
            wrong.append(f"{document.name}: shown is version {document.published}, the text is at {document.version}")
        if any((item.get("data") or {}).get("stale") for item in document.shown):
            wrong.append(f"{document.name}: something is stale at the end")
        if bool(typed_findings(document)) != there:
            wrong.append(f"{document.name}: the defect is {'not shown' if there else 'still shown'}")
        if document.version > len(DEFECT) and not document.seen_typed:
            wrong.append(f"{document.name}: the defect was never shown")
    return wrong


async def _compared(editor: JudgedEditor, documents: Sequence[Typed]) -> list[str]:
    """What a full check from scratch shows differently."""
    before = {document.uri: _plain(document) for document in documents}
    answer = await editor.request("workspace/executeCommand", {"command": "everproof.fullCheck", "arguments": []})
    if not answer["complete"]:
        return [f"the full check is not complete: {answer['reason']}"]
    await _until_settled(editor, decided=True)
    wrong = []
    for document in documents:
        edited, scratch = before[document.uri], _plain(document)
        gone = sorted(edited[key] for key in edited.keys() - scratch.keys())
        new = sorted(scratch[key] for key in scratch.keys() - edited.keys())
        if gone or new:
            wrong.append(f"{document.name}: only after the edits: {gone}; only from scratch: {new}")
    return wrong


def _plain(document: Typed) -> dict[str, str]:
    """What is shown, by what must be the same; with all that is known of it."""
    return {json.dumps([item["code"], item["message"], item["range"]]): json.dumps(item) for item in document.shown}


def _rows(editor: JudgedEditor, wrong: Sequence[str], memory: Sizes, late: float) -> list[str]:
    observed = editor.observed
    keys = sum(document.version - 1 for document in editor.documents.values())
    p50, p95, most = *percentiles(observed.latencies, (50, 95)), max(observed.latencies)
    times = f"p50 {p50:.0f} ms, p95 {p95:.0f} ms, max {most:.0f} ms"
    rows = ["| | |", "|---|---|", f"| keys, in {len(editor.documents)} files | {keys}; the latest was sent {late:.0f} ms late |"]
    rows.append(f"| publications of these files while typing | {observed.publishes}, of which {observed.stale} marked stale |")
    rows.append(f"| blank, wrong-versioned, misplaced or left behind | {len(wrong)} |")
    rows.append(
        f"| from a key to the diagnostics of its text, of the {len(observed.latencies)} keys that were not overtaken | {times} |"
    )
    for name, sizes in memory.items():
        quarter = len(sizes) // 4
        second, last = statistics.median(sizes[quarter : 2 * quarter]), statistics.median(sizes[-quarter:])
        shown = f"{second / 1e6:.0f} MB, {last / 1e6:.0f} MB; most {max(sizes) / 1e6:.0f} MB"
        rows.append(f"| memory of the {name}, second and last quarter | {shown} |")
    return rows


def _growth(sizes: Sequence[int]) -> float:
    quarter = len(sizes) // 4
    return statistics.median(sizes[-quarter:]) / statistics.median(sizes[quarter : 2 * quarter])


if __name__ == "__main__":
    sys.exit(main())
