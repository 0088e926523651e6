"""Hovers say what the last check did with a function, and why: with the real checker."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsp_editor import Editor
from lsprotocol import types

from analysis.model.places import Place, Position, Range
from analysis.model.report import FunctionReport, Rechecked, RecheckReason, Times, Work
from analysis.wire import CheckDone
from server.documents import OpenDocuments
from server.rechecks import Rechecks

TEXT = """\
void *malloc(unsigned long);
static int *make(void) { int *p = 0; while (!p) p = malloc(4); return p; }
static int number(void) { return 3; }
static void set(int *p) { *p = 1; }
int main(void) { int *p = make(); set(p); return number(); }
"""
LINES = {"make": 1, "number": 2, "set": 3, "main": 4}


@pytest.fixture
def server_command() -> list[str]:
    return [sys.executable, "-m", "server"]


class Typing:
    """A document in which lines are replaced."""

    def __init__(self, editor: Editor, path: Path) -> None:
        self.editor = editor
        self.lines = TEXT.splitlines()
        self.uri = editor.open(path, TEXT)
        self.version = 1

    async def checked(self) -> None:
        await self.editor.status(self.uri, "idle", self.version)

    async def replace(self, line: int, old: str, new: str) -> Any:
        """Replaces a part of a line; the status after the check."""
        assert old in self.lines[line]
        changed = self.lines[line].replace(old, new)
        self.version += 1
        before = len(self.editor.messages)
        self.editor.edit(self.uri, self.version, (line, 0), (line, len(self.lines[line])), changed)
        self.lines[line] = changed
        return await self.editor.status(self.uri, "idle", self.version, before)

    async def hover(self, name: str) -> str:
        line = LINES[name]
        at = types.Position(line, self.lines[line].index(name + "("))
        found = await self.editor.text_document_hover_async(types.HoverParams(types.TextDocumentIdentifier(self.uri), at))
        assert found is not None
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value

    async def all_hovers(self) -> dict[str, str]:
        """The sentence about the last check for each function."""
        texts = {name: await self.hover(name) for name in LINES}
        return {
            name: next(line for line in text.splitlines() if "last check" in line and not line.startswith("*"))
            for name, text in texts.items()
        }


async def test_a_hover_says_why_a_function_was_checked_again_or_since_when_it_is_reused(
    start: Callable[..., Any], workspace: Path
) -> None:
    editor = await start()
    typing = Typing(editor, workspace / "a.c")
    await typing.checked()
    assert set((await typing.all_hovers()).values()) == {"Checked from scratch by the last check, like the whole program."}

    await typing.replace(LINES["number"], "return 3;", "int n = 3; return n;")
    assert await typing.all_hovers() == {
        "make": "Not touched by the last check: reused since version 1.",
        "number": "Re-checked by the last check: its body changed.",
        "set": "Not touched by the last check: reused since version 1.",
        "main": "Not touched by the last check: reused since version 1.",
    }
    assert " ms, 1 of 4 functions looked at again." in await typing.hover("set")

    await typing.replace(LINES["number"], "n = 3", "n = 4")
    hovers = await typing.all_hovers()
    assert hovers["main"] == "Re-checked by the last check: `number`, which it calls, behaves differently."

    surely, perhaps = "int *p = 0; while (!p) p = malloc(4); return p;", "return malloc(4);"
    await typing.replace(LINES["make"], surely, perhaps)
    assert await typing.all_hovers() == {
        "make": "Re-checked by the last check: its body changed.",
        "number": "Not touched by the last check: reused since version 3.",
        "set": "Re-checked by the last check: `main` calls it with something that was not passed before.",
        "main": "Re-checked by the last check: `make`, which it calls, behaves differently.",
    }

    await typing.replace(LINES["make"], perhaps, surely)
    hovers = await typing.all_hovers()
    assert hovers["main"] == "Re-checked by the last check: `make`, which it calls, behaves differently."
    assert hovers["set"] == "Not touched by the last check: reused since version 4."

    await typing.replace(LINES["set"], "*p = 1;", "*p = 1; /* one */")
    assert await typing.all_hovers() == {
        "make": "Not touched by the last check: reused since version 5.",
        "number": "Not touched by the last check: reused since version 3.",
        "set": "Not touched by the last check: reused since version 4.",
        "main": "Not touched by the last check: reused since version 5.",
    }
    hover = await typing.hover("set")
    assert "Last check: " in hover
    assert "looked at again" not in hover


async def test_a_status_has_the_milliseconds_of_each_stage_of_the_last_check(start: Callable[..., Any], workspace: Path) -> None:
    typing = Typing(await start(), workspace / "a.c")
    await typing.checked()
    status = await typing.replace(LINES["number"], "return 3", "return 4")
    times = status.times._asdict()
    stages = ["preprocess", "parse", "lower", "link", "automaton", "prover", "report", "afterwards"]
    assert list(times) == [*stages, "total"]
    assert all(times[stage] > 0 for stage in ("preprocess", "lower", "link", "automaton", "report"))
    assert sum(times[stage] for stage in stages) <= times["total"]


def function(name: str, path: str) -> FunctionReport:
    return FunctionReport(name, Place(path, Range(Position(1, 1), Position(1, 2))), {})


def check(generation: int, *looked_at: tuple[str, str, RecheckReason]) -> CheckDone:
    rechecked = tuple(Rechecked(name, path, reason, "other") for name, path, reason in looked_at)
    return CheckDone(generation, Work(), Times(), (), rechecked)


def test_functions_of_one_name_in_several_files_are_kept_apart() -> None:
    rechecks = Rechecks(OpenDocuments(None))
    done = check(1, ("f", "/w/a.c", "text"), ("f", "/w/b.c", "summary"))
    rechecks.note(done)
    assert rechecks.describe(function("f", "/w/a.c"), "/w/a.c", done).endswith("its body changed.")
    assert rechecks.describe(function("f", "/w/b.c"), "/w/a.c", done).endswith("`other`, which it calls, behaves differently.")


def test_a_function_of_another_file_is_reused_since_a_version_of_that_file_or_since_it_was_read() -> None:
    documents = OpenDocuments(None)
    rechecks = Rechecks(documents)
    rechecks.note(check(1, ("f", "/w/a.c", "scratch"), ("g", "/w/b.c", "scratch")))
    last = check(3)
    assert rechecks.describe(function("g", "/w/b.c"), "/w/a.c", last).endswith("reused since its file was read.")
    documents.put_text_document(types.TextDocumentItem("file:///w/b.c", "c", 5, "int g(void);"))
    opened = documents.at_path("/w/b.c")
    assert opened is not None
    opened.sent(4)
    rechecks.note(check(4, ("g", "/w/b.c", "text")))
    assert rechecks.describe(function("g", "/w/b.c"), "/w/a.c", last).endswith("reused since version 5 of b.c.")
    assert rechecks.describe(function("g", "/w/b.c"), "/w/b.c", last).endswith("reused since version 5.")


def test_a_function_that_was_not_edited_is_not_said_to_be_checked_from_scratch_when_another_one_comes() -> None:
    rechecks = Rechecks(OpenDocuments(None))
    rechecks.note(check(1, ("f", "/w/a.c", "scratch"), ("old", "/w/a.c", "scratch")))
    last = check(2, ("f", "/w/a.c", "small"), ("new", "/w/a.c", "text"))
    rechecks.note(last)
    said = rechecks.describe(function("f", "/w/a.c"), "/w/a.c", last)
    assert said == "Re-checked by the last check: a function or a declaration came or went, and the program is small."
    assert "earlier session" in rechecks.describe(function("old", "/w/a.c"), "/w/a.c", last)


def test_what_comes_out_of_the_store_was_looked_at_by_nobody() -> None:
    text = Rechecks(OpenDocuments(None)).describe(function("f", "/w/a.c"), "/w/a.c", check(1))
    assert text == "Not touched by the last check: known from an earlier session."


def test_a_check_from_nothing_forgets_functions_that_are_there_no_more() -> None:
    rechecks = Rechecks(OpenDocuments(None))
    rechecks.note(check(1, ("old", "/w/a.c", "scratch"), ("f", "/w/b.c", "scratch")))
    last = check(2, ("new", "/w/a.c", "scratch"))
    rechecks.note(last)
    assert "earlier session" in rechecks.describe(function("old", "/w/a.c"), "/w/a.c", last)
    assert "since its file was read" in rechecks.describe(function("f", "/w/b.c"), "/w/b.c", last)
