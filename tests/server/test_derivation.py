from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsp_editor import Editor
from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from test_features import TEXT, opened


async def test_the_derivations_of_a_function_are_in_the_clients_units(start: Callable[..., Any], workspace: Path) -> None:
    editor: Editor = await start()
    uri = await opened(editor, workspace)
    graph = await editor.command("everproof.derivation", uri, "callee")
    assert (graph.function, graph.leftOut) == ("callee", 7)
    assert [(e.fact, e.start, list(e.callers), list(e.summary)) for e in graph.entries] == [("nothing", True, [], ["nothing"])]
    assert [(c.location, c.entry, c.fact, c.error, c.uri, c.range.start.line) for c in graph.configurations] == [
        (2, 0, "nothing", False, uri, 0),
        (3, 0, "p is null", True, uri, 1),
        (3, 0, "use-after-free: p is freed", False, uri, 1),
    ]
    assert [(d.source, d.target, d.effect, list(d.by), d.again) for d in graph.derivations] == [
        (0, 1, "p = 0", ["callee"], False)
    ]


async def test_of_what_is_not_there_nothing_was_derived(editor: Editor, workspace: Path) -> None:
    uri = await opened(editor, workspace)
    assert await editor.command("everproof.derivation", uri, "no_such_function") is None
    assert await editor.command("everproof.derivation", (workspace / "other.c").as_uri(), "callee") is None
    with pytest.raises(JsonRpcInvalidParams, match="function must be a string"):
        await editor.command("everproof.derivation", uri, 7)


async def test_a_checker_that_ends_before_it_answers_has_nothing_to_say(editor: Editor, workspace: Path) -> None:
    uri = await opened(editor, workspace)
    editor.edit(uri, 2, (0, 0), (0, 0), "// HANG\n")
    await editor.status(uri, "checking", version=2)
    asked = asyncio.ensure_future(editor.command("everproof.derivation", uri, "callee"))
    params = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(1, 5))
    await editor.text_document_hover_async(params)  # requests are taken in order: the server has asked the checker
    os.kill(int((editor.state / "pid").read_text()), signal.SIGKILL)
    assert await asked is None


def test_the_text_has_what_the_fake_checker_looks_for() -> None:
    assert "int callee(" in TEXT
