"""The states of the rules along a function: on request, where they are in the text as it is now."""

from __future__ import annotations

from pathlib import Path

from lsp_editor import Editor
from lsprotocol import types
from test_features import opened

from analysis.model.derivation import Configuration, FunctionDerivations
from analysis.model.places import Place, Position, Range
from server.client_columns import Columns
from server.client_lines import Edit
from server.documents import Document
from server.features.inlay_hints import function_hints

PATH = "/w/a.c"


def known(line: int, column: int, *facts: str, error: bool = False) -> list[Configuration]:
    place = Place(PATH, Range(Position(line, column), Position(line, column + 1)))
    return [Configuration(0, 0, fact, error, place) for fact in ("nothing", *facts)]


def hints(text: str, *configurations: list[Configuration], edits: tuple[Edit, ...] = ()) -> list[tuple[int, int, str]]:
    derived = FunctionDerivations("f", (), tuple(c for some in configurations for c in some), ())
    document = Document(f"file://{PATH}", text, 1, "c")
    shown = function_hints(derived, document, list(edits), Columns.of("utf-16"))
    return [(hint.position.line, hint.position.character, str(hint.label)) for hint in shown]


def test_a_hint_is_where_the_facts_differ_from_those_of_the_line_above() -> None:
    text = "p = m();\nq = 0;\nuse(p);\ndone();\n"
    first, both = ("leak: p is allocated",), ("leak: p is allocated", "null: q is null, condition 0 is 0")
    assert hints(text, known(1, 1), known(2, 1, *first), known(3, 1, *both), known(4, 1, *both)) == [
        (1, 6, "p is allocated"),
        (2, 7, "p is allocated · q is null"),
    ]


def test_of_a_line_only_what_holds_before_it_and_no_error() -> None:
    assert hints("a = b + *p;\n", known(1, 9, "null: p is null"), known(1, 5, "free: b is freed")) == [(0, 11, "b is freed")]
    assert hints("*p;\n", known(1, 1, "null: error: it is null", error=True)) == []


def test_columns_are_the_clients_and_facts_of_two_rules_are_said_once() -> None:
    text = "f(p); /* \U0001f600 */\n"
    assert hints(text, known(1, 1, "double-free: p is freed", "use-after-free: p is freed")) == [(0, 14, "p is freed")]


def test_hints_move_with_edits_that_came_after_the_check() -> None:
    added = Edit(Range(Position(1, 1), Position(1, 1)), Position(2, 1))
    assert hints("\nf(p);\n", known(1, 1, "null: p is null"), edits=(added,)) == [(1, 5, "p is null")]


async def test_hints_are_shown_for_the_functions_that_were_asked_for(editor: Editor, workspace: Path) -> None:
    uri = await opened(editor, workspace)
    everywhere = types.Range(types.Position(0, 0), types.Position(99, 0))
    params = types.InlayHintParams(types.TextDocumentIdentifier(uri), everywhere)
    assert not await editor.text_document_inlay_hint_async(params)
    assert await editor.command("everproof.states", uri, "callee") is True
    shown = await editor.text_document_inlay_hint_async(params)
    assert [(hint.position.line, hint.label) for hint in shown or ()] == [(1, "p is freed")]
    assert await editor.command("everproof.states", uri, "callee") is False
    assert not await editor.text_document_inlay_hint_async(params)
    assert await editor.command("everproof.states", (workspace / "other.c").as_uri(), "callee") is False
