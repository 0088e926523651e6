"""What is proved of a function: said in its lens and hover, and its loop invariants as hints on request."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from lsp_editor import Editor
from lsprotocol import types
from test_features import opened

from analysis.model.places import Place, Position, Range, whole_line
from analysis.model.report import RECHECKED, UNPARSED, FunctionReport, Invariant, ProofReuse, RuleVerdict
from server.client_columns import Columns
from server.convert import standing
from server.documents import Document
from server.features.code_lens import lens_command
from server.features.hover import describe
from server.features.invariants import function_hints
from server.results import FileState
from server.status import _proofs

PATH = "/w/a.c"
PROVED = RuleVerdict("safe", None, ("nothing overflows",), "predicate", certified=True)
OPEN = RuleVerdict("unknown", "it does not prove", (), "automaton")


def place(line: int) -> Place:
    return Place(PATH, Range(Position(line, 5), Position(line, 6)))


def function(*invariants: Invariant, **verdicts: RuleVerdict) -> FunctionReport:
    return FunctionReport("f", whole_line(PATH, 1), verdicts, invariants=invariants)


def lens(known: FunctionReport) -> tuple[str, str | None]:
    command = lens_command(known, FileState(PATH), f"file://{PATH}", show_unknown=True)
    assert command is not None
    return command.title, command.tooltip


@pytest.mark.parametrize(
    ("verdicts", "title"),
    [
        ({"a": PROVED, "b": PROVED}, "✓ proved: a, b"),
        ({"a": PROVED, "b": OPEN}, "✓ proved: a · ? unknown: it does not prove"),
        ({"a": PROVED, "b": RuleVerdict("violated", None, (), "automaton")}, "⚠ possible: b · ✓ proved: a"),
    ],
)
def test_a_lens_says_what_matters_first(verdicts: dict[str, RuleVerdict], title: str) -> None:
    assert lens(function(**verdicts)) == (title, "Assuming: nothing overflows.")


def test_a_lens_counts_many_proved_rules() -> None:
    found = lens(function(a=PROVED, b=PROVED, c=PROVED, d=PROVED, e=RuleVerdict("violated", None, (), "automaton")))
    assert found == ("⚠ possible: e · ✓ proved: 4 rules", "Proved: a, b, c, d. Assuming: nothing overflows.")


def test_a_lens_is_quiet_about_what_is_unknown() -> None:
    uri = f"file://{PATH}"
    assert lens_command(function(a=OPEN), FileState(PATH), uri) is None
    said = lens_command(function(a=PROVED, b=OPEN), FileState(PATH), uri)
    assert said is not None
    assert said.title == "✓ proved: a"


def test_a_proof_about_runs_from_an_entry_says_so() -> None:
    of_main = msgspec.structs.replace(PROVED, entries=("main",))
    assert lens(function(a=of_main)) == ("✓ proved: a", "Proved as called from main. Assuming: nothing overflows.")
    assert "(as called from main, by the predicate engine; the proof was" in describe(function(a=of_main), None, None)
    itself = msgspec.structs.replace(PROVED, entries=("f",))
    assert lens(function(a=itself))[1] == "Assuming: nothing overflows."
    assert "as called from" not in describe(function(a=itself), None, None)


NEEDS = RuleVerdict("unknown", "safe if callers keep: `s != NULL`", (), "auto")
NOTHING = RuleVerdict("unknown", "nothing here could violate it, so nothing was proved", (), "auto", no_place=True)


def test_what_callers_have_to_keep_is_said_in_a_lens_and_a_hover() -> None:
    known = function(a=NEEDS, b=NOTHING)
    assert lens(known)[0] == "◐ safe if callers keep: `s != NULL`"
    shown = describe(known, None, None).splitlines()
    assert shown[0] == "**f**: ◐ safe if callers keep: `s != NULL`"
    assert "- ◐ safe if callers keep: `s != NULL`: `a`" in shown
    both = function(a=NEEDS, b=PROVED)
    assert lens(both)[0] == "◐ safe if callers keep: `s != NULL` · ✓ proved: b"


def test_what_is_open_besides_is_not_hidden_by_it() -> None:
    known = function(a=NEEDS, b=OPEN)
    assert lens(known)[0].startswith("? unknown: ")
    assert "- ◐ safe if callers keep: `s != NULL`: `a`" in describe(known, None, None).splitlines()


AGAIN = RuleVerdict("unknown", RECHECKED, (), "predicate", rechecked=True)
LOST = RuleVerdict("unknown", "not proved", (), "predicate", broken=f"after {PATH}:42 (i = i + 2) `i <= n` does not hold")


def test_a_proof_that_is_checked_again_is_neither_blank_nor_proved() -> None:
    known = function(a=AGAIN, b=PROVED)
    both = lens_command(known, FileState(PATH), f"file://{PATH}")
    assert both is not None
    assert both.title == "✓ proved: b · ↻ proved, being re-checked: a"
    assert standing(known, ()) == "unknown"
    alone = lens_command(function(a=AGAIN), FileState(PATH), f"file://{PATH}")
    assert alone is not None
    assert alone.title == "↻ proved, being re-checked: a"
    shown = describe(function(a=AGAIN), None, None)
    assert shown.splitlines() == ["**f**: ↻ proved, being re-checked", "", "- ↻ proved, being re-checked: `a`"]


def test_a_proof_that_waits_for_text_that_parses_says_so() -> None:
    known = function(a=RuleVerdict("unknown", UNPARSED, (), "auto", rechecked=True))
    shown = lens_command(known, FileState(PATH), f"file://{PATH}")
    assert shown is not None
    assert shown.title == "↻ proved, re-checked once all of the program parses: a"
    assert describe(known, None, None).splitlines()[0] == "**f**: ↻ proved, re-checked once all of the program parses"
    assert _proofs(known) == {"waiting": ["a"]}


@pytest.mark.parametrize(
    ("reuse", "ms", "said"),
    [
        (ProofReuse(1, 18, 17), 40.2, "17 of 18 assertions of the last proof still hold; 1 found again in 40 ms"),
        (ProofReuse(1, 3, 3), 7.0, "3 of 3 assertions of the last proof still hold; checked in 7 ms"),
        (
            ProofReuse(1, 1, 0, 2),
            9.0,
            "the assertion of the last proof no longer holds, but 2 parts of it do; another one was found in 9 ms",
        ),
        (ProofReuse(1, 1, 1), 9.0, "the assertion of the last proof still holds; checked in 9 ms"),
        (
            ProofReuse(1, 2, 0, 1),
            9.0,
            "0 of 2 assertions of the last proof still hold, and 1 part of the others; 2 found again in 9 ms",
        ),
        (ProofReuse(1), 5.0, "the last proof still holds; checked in 5 ms"),
        (ProofReuse(1, 2, 2, of="a.c::copied"), 5.0, "found in 5 ms, starting from the proof of `copied`"),
    ],
)
def test_a_hover_says_what_a_proof_took_from_the_last_one(reuse: ProofReuse, ms: float, said: str) -> None:
    known = function(a=msgspec.structs.replace(PROVED, reused=reuse, ms=ms))
    assert f"- `a`: {said}" in describe(known, None, None).splitlines()
    tooltip = lens(known)[1]
    assert tooltip is not None
    assert tooltip.endswith(f"{said[0].upper()}{said[1:]}.")


def test_a_hover_says_what_broke_and_where() -> None:
    said = "no longer proved: after line 42 (i = i + 2) `i <= n` does not hold"
    assert f"- `a`: {said}" in describe(function(a=LOST), None, None).splitlines()
    assert describe(function(a=LOST), None, None).splitlines()[0] == "**f**: ? no longer proved: a"
    wrong = RuleVerdict("violated", None, (), "automaton")
    both = describe(function(a=LOST, b=wrong), None, None)
    assert both.splitlines()[0] == "**f**: ⚠ possible: b · ? no longer proved: a", "a call shows this line alone"
    shown = lens_command(function(a=LOST), FileState(PATH), f"file://{PATH}")
    assert shown is not None
    assert (shown.title, shown.tooltip) == ("? no longer proved: a", f"N{said[1:]}.")


def test_nothing_without_a_certificate_is_called_proved() -> None:
    bare = function(a=RuleVerdict("safe", None, ("x",), "automaton"))
    assert lens_command(bare, FileState(PATH), f"file://{PATH}", show_unknown=True) is None
    assert standing(bare, ()) == "unknown"
    assert describe(bare, None, None) == "**f**"


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        (f"it is not excluded at {PATH}:19 (*p = 1)", "it is not excluded at line 19 (*p = 1)"),
        (f"see ({PATH}:2); {PATH}:3", "see (line 2); line 3"),
        (f"it is not excluded at /other{PATH}:19", f"it is not excluded at /other{PATH}:19"),
        (f"it is not excluded at {PATH}pp:19", f"it is not excluded at {PATH}pp:19"),
    ],
)
def test_a_place_in_the_file_is_a_line_of_it_and_is_said_once(reason: str, shown: str) -> None:
    known = function(a=RuleVerdict("unknown", reason, (), "value"))
    assert lens(known)[0] == f"? unknown: {shown}"
    said = describe(known, None, None, show_unknown=True)
    assert said.splitlines() == ["**f**: ? unknown", "", f"- ? unknown: `a` ({shown})"]
    assert describe(known, None, None) == "**f**"


def test_a_hover_says_by_whom_it_is_proved_and_what_that_rests_on() -> None:
    text = describe(function(Invariant("a", place(3), "i >= 0"), a=PROVED, b=OPEN), None, None, show_unknown=True)
    assert "- ✓ proved: `a` (by the predicate engine; the proof was checked)" in text
    assert "Assumed, not proved:\n- nothing overflows" in text
    assert "- ? unknown: `b` (it does not prove)" in text
    assert "Loop invariants:\n- line 3: `i >= 0`" in text


def test_what_several_proofs_assume_is_said_once() -> None:
    more = msgspec.structs.replace(PROVED, assumptions=("nothing overflows", "no thread runs"), engine="ownership")
    same = msgspec.structs.replace(PROVED, assumptions=("nothing overflows",))
    text = describe(function(a=same, b=more, c=OPEN), None, None)
    assert text.splitlines()[-3:] == ["Assumed, not proved:", "- nothing overflows", "- no thread runs (for `b`)"]


def test_a_hint_is_at_the_end_of_the_loop_and_its_tooltip_has_the_proof() -> None:
    known = function(Invariant("a", place(2), "i >= 0"), Invariant("b", place(2), "j == 0 || i < j"), a=PROVED, b=OPEN)
    document = Document(f"file://{PATH}", "int f() {\n    while (i < j)\n", 1, "c")
    [hint] = function_hints(known, document, Columns.of("utf-16"))
    assert (hint.position, hint.label) == (types.Position(1, 17), "invariant: i >= 0 && (j == 0 || i < j)")
    assert isinstance(hint.tooltip, types.MarkupContent)
    assert "- `i >= 0` (proof of a)" in hint.tooltip.value
    assert hint.tooltip.value.endswith("Assuming: nothing overflows.")


async def test_invariants_are_shown_for_the_functions_that_were_asked_for(editor: Editor, workspace: Path) -> None:
    uri = await opened(editor, workspace, "int caller(int n) {\n    while (LOOP) n++;\n    return n;\n}\n")
    everywhere = types.Range(types.Position(0, 0), types.Position(99, 0))
    params = types.InlayHintParams(types.TextDocumentIdentifier(uri), everywhere)
    assert not await editor.text_document_inlay_hint_async(params)
    assert await editor.command("everproof.invariants", uri, "caller") is True
    shown = await editor.text_document_inlay_hint_async(params)
    assert [(hint.position.line, hint.label) for hint in shown or ()] == [(1, "invariant: n >= 0")]
    assert await editor.command("everproof.invariants", uri, "caller") is False
    assert not await editor.text_document_inlay_hint_async(params)
    assert await editor.command("everproof.invariants", (workspace / "other.c").as_uri(), "caller") is False
