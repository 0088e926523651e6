"""Findings compared with a commit while a program is edited, through the real server: `python -m benchmarks.reference_edits`.

Programs are copied into a new git repository, and committed. Four parts, each of which can be asked for by its name:

- `scripted`: defects are inserted into spin, and some are taken back. Each must be shown as new, and be blamed on the edit that
  brought it. Nothing else may be new.
- `random`: statements that do nothing, comments, defects and deletions, and their undoing, in random order. In everything that is
  published, findings of the commit may not be called new. While nothing is deleted, nothing but the inserted defects may be.
- `speed`: the same edits in two servers in turn, with and without a reference: the time to the first diagnostics of a text.
  Provers are left out: they would take the processor from the other server.
- `background`: what the process takes that checks sendmail at the reference, when the store has the program: processor time and
  time by the clock; as nothing differs from the commit, as one file does, and that again.

The exit status is 1 if a finding was marked or blamed wrongly.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import msgspec

from analysis.api import Checker
from analysis.model.options import Options
from analysis.model.settings import HEAD, Settings
from analysis.store.store_location import open_store
from analysis.worker.reference.running_task import command_of
from analysis.worker.reference.task import Answer, ReferenceAnswer, ReferenceTask, encode_task, read_answer
from benchmarks.programs import CACHE, provide
from benchmarks.semantic_edits import StatementEdit, drawn
from benchmarks.sources import FetchError
from demo.editor import Document, Editor, ServerError

PARTS = ("scripted", "random", "speed", "background")
Json = dict[str, Any]
_MARK = "_here"
_FREED = "{ extern void *malloc(unsigned long); extern void free(void *); char *freed_here = malloc(4);"
DEFECTS = {
    "null-dereference": "{ int *null_here = 0; *null_here = 1; }\n",
    "use-after-free": f"{_FREED} if (freed_here) {{ free(freed_here); *freed_here = 1; }} }}\n",
    "double-free": f"{_FREED} free(freed_here); free(freed_here); }}\n",
}
_NEUTRAL = ("\n", "/* nothing */\n", ";\n", "{ int unused_here = 3; (void) unused_here; }\n")
_PATIENCE = 600.0  # seconds for the reference to be known


@contextmanager
def repository(name: str) -> Iterator[tuple[Path, list[Path]]]:
    """A copy of a program as the one commit of a repository, and its C files."""
    commands = provide(name)
    with tempfile.TemporaryDirectory(prefix="everproof-reference-") as folder:
        root = Path(folder).resolve() / name
        shutil.copytree(CACHE / name, root)
        moved = commands.read_text(encoding="utf-8").replace(str(CACHE / name), str(root))
        (root / commands.name).write_text(moved, encoding="utf-8")
        for words in (("init", "-q"), ("add", "-A", "-f"), ("commit", "-q", "-m", name)):
            subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=root, check=True)
        yield root, [Path(entry["directory"]) / entry["file"] for entry in json.loads(moved)]


class Session(Editor):
    """An editor that keeps all that was published, and counts its edits as the server does."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.every: list[tuple[str, list[Json]]] = []
        self.edits = 0
        self.opened: dict[Path, Document] = {}

    def _take_diagnostics(self, params: Json, now: float) -> None:
        self.every.append((params["uri"], params["diagnostics"]))
        super()._take_diagnostics(params, now)

    async def document(self, path: Path) -> Document:
        """The document of a file, which is opened if it is not."""
        if path not in self.opened:
            self.opened[path], _ = await self.open(path)
        return self.opened[path]

    async def edit(self, path: Path, start: int, end: int, text: str) -> float:
        """Makes an edit; the milliseconds to the first diagnostics of the new text of which none is stale."""
        document = await self.document(path)
        sent, settled = await self.replace(document, start, end, text)
        self.edits += 1
        current = (when for when, shown in document.published if not any((one.get("data") or {}).get("stale") for one in shown))
        return (next(current, settled.finished) - sent) * 1000

    async def compared(self) -> Json:
        """What the status says of the reference, once it is known."""
        began = time.monotonic()
        while time.monotonic() - began < _PATIENCE:
            for status in await self.request("workspace/executeCommand", {"command": "everproof.status", "arguments": []}):
                if status["reference"] is not None and status["state"] == "idle":
                    found: Json = status["reference"]
                    return found
            await asyncio.sleep(0.2)
        raise ServerError("The reference is not known after ten minutes.")


def _server(store: Path) -> list[str]:
    return [sys.executable, "-m", "server", "--store", str(store)]


def _place(document: Document, edit: StatementEdit) -> int:
    """The offset of the line of an edit, in the text as it is now: that of the text of the file is looked for."""
    lines = edit.file.read_text(encoding="utf-8", errors="replace").split("\n")
    wanted = "\n".join(lines[max(edit.line - 3, 0) : edit.line + 1])
    found = document.text.find(wanted)
    return found + len(wanted) - len(lines[edit.line]) if found >= 0 else -1


class Inserted(NamedTuple):
    """A defect: its file, text, rule, and the number of the edit that brought it."""

    file: Path
    text: str
    rule: str
    number: int
    version: int


async def scripted(root: Path, files: Sequence[Path], count: int, seed: int) -> list[str]:
    """Inserts defects, and takes back every third; what was wrong, a sentence each."""
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as kept:
        session = await Session.start(_server(Path(kept) / "store"), root, {})
        try:
            places = drawn(files, count, seed)
            await session.document(places[0].file)
            known = await session.compared()
            print(f"scripted: {known['text']} before the first edit", file=sys.stderr)
            there: list[Inserted] = []
            named: list[str] = list(DEFECTS)
            for number, place in enumerate(places):
                if number % 3 == 2 and there:
                    gone = there.pop(0)
                    await _take_back(session, gone)
                    wrong += _judged(session, there, f"after {gone.rule} was taken back from {gone.file.name}")
                    continue
                rule = named[number % len(named)]
                text = DEFECTS[rule].replace(_MARK, f"{_MARK}_{number}")
                document = await session.document(place.file)
                at = _place(document, place)
                if at < 0:
                    continue
                await session.edit(place.file, at, at, text)
                there.append(Inserted(place.file, text, rule, session.edits, document.version))
                wrong += _judged(session, there, f"after {rule} came to {place.file.name}:{place.line + 1}")
                print(f"\r{session.edits} edits", end="", file=sys.stderr, flush=True)
            print(file=sys.stderr)
            print(f"| scripted edits | {session.edits} | marked or blamed wrongly | {len(wrong)} |")
        finally:
            await session.close()
    return wrong


async def _take_back(session: Session, gone: Inserted) -> None:
    document = await session.document(gone.file)
    at = document.text.index(gone.text)
    await session.edit(gone.file, at, at + len(gone.text), "")


def _judged(session: Session, there: Sequence[Inserted], when: str) -> Iterator[str]:
    """What is marked wrongly in all that is shown now."""
    new: dict[str, Json] = {}
    for document in session.opened.values():
        for shown in document.shown:
            data = shown.get("data") or {}
            if data.get("since") == "new":
                line = document.text.split("\n")[shown["range"]["start"]["line"]]
                new[line + "\n"] = shown
    for one in there:
        found = new.pop(one.text, None)
        data = (found or {}).get("data") or {}
        blamed = data.get("introduced") or {}
        if found is None or found.get("code") != one.rule:
            yield f"{when}: {one.rule} of edit {one.number} is not shown as new"
        elif (blamed.get("edit"), blamed.get("version")) != (one.number, one.version):
            yield f"{when}: {one.rule} of edit {one.number} is blamed on {blamed}"
    yield from (f"{when}: {shown['message']!r} in {line!r} is called new" for line, shown in new.items())


async def randomly(root: Path, files: Sequence[Path], count: int, seed: int) -> list[str]:
    """Random edits and undos; what was wrong, a sentence each."""
    wrong: list[str] = []
    random = Random(seed)
    with tempfile.TemporaryDirectory() as kept:
        session = await Session.start(_server(Path(kept) / "store"), root, {"show": "all"})
        try:
            places = drawn(files, 60, seed + 1)
            for path in dict.fromkeys(place.file for place in places):
                await session.document(path)
            await session.compared()
            await asyncio.sleep(5)  # what provers say of the commit comes a little later
            old = {(shown.get("data") or {}).get("fingerprint") for _, every in session.every for shown in every} - {None}
            undo: list[tuple[Path, int, str, str]] = []
            for number in range(count):
                seen, deleted = len(session.every), any(removed for *_, removed in undo)
                if undo and random.random() < 0.5:
                    path, at, put, removed = undo.pop()
                    await session.edit(path, at, at + len(put), removed)
                else:
                    undo.append(await _random_edit(session, random, places))
                deleted = deleted or any(removed for *_, removed in undo)  # what was found before is shown until it is not
                for _, shown in session.every[seen:]:
                    wrong += _called_new(shown, old, strictly=not deleted, when=f"edit {number + 1}")
                print(f"\r{number + 1} of {count}", end="", file=sys.stderr, flush=True)
            print(file=sys.stderr)
            marks = Counter((one.get("data") or {}).get("since") for _, shown in session.every for one in shown)
            published = f"{marks['old']} older, {marks['new']} new, {marks['unknown']} without a mark"
            print(f"| random edits and undos | {count} | published: {published} | called new wrongly | {len(wrong)} |")
        finally:
            await session.close()
    return wrong


async def _random_edit(session: Session, random: Random, places: Sequence[StatementEdit]) -> tuple[Path, int, str, str]:
    """Makes an edit: where, what came there, and what was there."""
    while True:
        place = random.choice(places)
        document = await session.document(place.file)
        at = _place(document, place)
        if at >= 0:
            break
    kind = random.random()
    removed = ""
    if kind < 0.15:
        put, removed = "", document.text[at : document.text.index("\n", at) + 1]
    elif kind < 0.35:
        put = random.choice(list(DEFECTS.values()))
    else:
        put = random.choice(_NEUTRAL)
    await session.edit(place.file, at, at + len(removed), put)
    return place.file, at, put, removed


def _called_new(shown: Sequence[Json], old: set[str | None], *, strictly: bool, when: str) -> Iterator[str]:
    for one in shown:
        data = one.get("data") or {}
        if data.get("since") == "new" and (data["fingerprint"] in old or (strictly and _MARK not in one["message"])):
            yield f"{when}: {one['message']!r} is called new"


async def speed(root: Path, files: Sequence[Path], count: int, seed: int) -> None:
    """Prints how long first answers took with a reference and without."""
    places = drawn(files, count, seed + 2)
    times: dict[str, list[float]] = {HEAD: [], "none": []}
    with tempfile.TemporaryDirectory() as kept:
        sessions = {}
        try:
            for reference in times:
                session = await Session.start(
                    _server(Path(kept) / reference), root, {"reference": reference, "engine": "automaton"}
                )
                sessions[reference] = session
                for path in dict.fromkeys(place.file for place in places):
                    await session.document(path)
                if reference != "none":
                    await session.compared()
            for number, place in enumerate(places):
                order = list(sessions) if number % 2 else list(sessions)[::-1]
                for reference in order:
                    session = sessions[reference]
                    at = _place(await session.document(place.file), place)
                    text = DEFECTS["null-dereference"]
                    times[reference].append(await session.edit(place.file, at, at, text))
                    times[reference].append(await session.edit(place.file, at, at + len(text), ""))
                print(f"\r{number + 1} of {count}", end="", file=sys.stderr, flush=True)
            print(file=sys.stderr)
        finally:
            for session in sessions.values():
                await session.close()
    paired = [with_ / without for with_, without in zip(times[HEAD], times["none"], strict=True)]
    medians = {name: statistics.median(found) for name, found in times.items()}
    means = {name: statistics.fmean(found) for name, found in times.items()}
    print(
        f"| first answers, {len(paired)} pairs | median with {medians[HEAD]:.1f} ms, without {medians['none']:.1f} ms"
        f" | mean with {means[HEAD]:.1f} ms, without {means['none']:.1f} ms"
        f" | ratio of medians {medians[HEAD] / medians['none']:.3f}, of means {means[HEAD] / means['none']:.3f},"
        f" median of ratios {statistics.median(paired):.3f} |"
    )


def background(root: Path, files: Sequence[Path]) -> None:
    """Prints what the reference check takes, after checks have filled the store."""
    with tempfile.TemporaryDirectory() as kept:
        options = Settings().options((str(root),))
        stores = [os.path.join(kept, name) for name in ("first", "second", "third")]
        for store in stores[:2]:
            _fill(root, options, store, keeps_commit=store == stores[1])
        tasks = [ReferenceTask(str(root), HEAD, options, store, {}, ()) for store in stores]
        reading = msgspec.structs.replace(tasks[0], checks=False)
        _print_process("nothing differs, which is all that is asked", reading)
        _print_process("nothing differs, and is checked", tasks[0])
        changed = next(path for path in files if path.name == "queue.c")
        text = changed.read_text(encoding="utf-8", errors="replace")
        changed.write_text(text + "\nint added_here(int *p)\n{\n    return p == 0 ? *p : 0;\n}\n", encoding="utf-8")
        for store in stores[1:]:
            _fill(root, options, store)
        _print_process("one file differs, which is all that is asked", reading)
        _print_process("one file differs; the store has the commit, as a server keeps it", tasks[1])
        _print_process("one file differs; the store has the present texts only", tasks[2])
        _print_process("one file differs; that again", tasks[2])


def _fill(root: Path, options: Options, store: str, *, keeps_commit: bool = False) -> None:
    checker = Checker(options, store=open_store(store, str(root)))
    checker.open_workspace(str(root))
    checker.check()
    if not checker.save() or (keeps_commit and not checker.keep_revision()):
        raise ServerError("The results could not be kept.")
    checker.close()


def _print_process(what: str, task: ReferenceTask) -> None:
    _print_used(what, functools.partial(_processed, task))


def _processed(task: ReferenceTask) -> tuple[Answer | None, float]:
    began = time.monotonic()
    with subprocess.Popen(command_of(task), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(encode_task(task))
        process.stdin.close()
        answer = read_answer(process.stdout)
        answered = time.monotonic() - began
        process.stdout.read()
    return answer, answered


def _print_used(what: str, ask: Callable[[], tuple[Answer | None, float]]) -> None:
    used, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    answer, answered = ask()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = time.monotonic() - began
    busy = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
    found = len(answer.findings) if isinstance(answer, ReferenceAnswer) else -1
    print(f"| {what} | {found} findings | answered after {answered:.1f} s | ended after {took:.1f} s | processor {busy:.1f} s |")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reference_edits", description="Findings compared with a commit.")
    parser.add_argument("parts", nargs="*", help=f"which ones: {', '.join(PARTS)} (default: all)")
    parser.add_argument("--edits", type=int, default=30, help="that are scripted (default: 30)")
    parser.add_argument("--random", type=int, default=500, help="edits and undos (default: 500)")
    parser.add_argument("--pairs", type=int, default=40, help="edits timed in both servers, and taken back (default: 40)")
    parser.add_argument("--seed", type=int, default=0, help="of the edits (default: 0)")
    given = parser.parse_args(arguments)
    parts = given.parts or list(PARTS)
    if unknown := [part for part in parts if part not in PARTS]:
        parser.error(f"there is no part {unknown[0]}; there are {', '.join(PARTS)}")
    wrong: list[str] = []
    try:
        if set(parts) - {"background"}:
            with repository("spin") as (root, files):
                if "scripted" in parts:
                    wrong += asyncio.run(scripted(root, files, given.edits, given.seed))
                if "random" in parts:
                    wrong += asyncio.run(randomly(root, files, given.random, given.seed))
                if "speed" in parts:
                    asyncio.run(speed(root, files, given.pairs, given.seed))
        if "background" in parts:
            with repository("sendmail") as (root, files):
                background(root, files)
    except (FetchError, ServerError, OSError, subprocess.CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for sentence in wrong:
        print(sentence, file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
