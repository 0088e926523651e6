from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsp_editor import Editor
from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from analysis.model.places import whole_line
from analysis.model.report import FunctionReport, RuleVerdict
from server.features import registration
from server.features.hover import describe


def test_every_feature_is_registered() -> None:
    modules = {path.stem for path in Path(registration.__file__).parent.glob("*.py")} - {"__init__", "registration"}
    assert registration.names() == sorted(modules)
    assert len(modules) >= 13


TEXT = "int callee(int *p) {\n    return BUG;\n}\nint caller(void) {\n    return callee(0);\n}\nint unknown_one(void) {}\n"


async def opened(editor: Editor, workspace: Path, text: str = TEXT, name: str = "a.c") -> str:
    uri = editor.open(workspace / name, text)
    await editor.until("everproof/status", lambda p: p.uri == uri and p.state == "idle" and p.functions)
    return uri


async def hover(editor: Editor, uri: str, line: int, character: int) -> types.Hover | None:
    params = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(line, character))
    return await editor.text_document_hover_async(params)


async def actions(editor: Editor, uri: str, line: int, character: int, only: list[Any] | None = None) -> list[types.CodeAction]:
    at = types.Position(line, character)
    context = types.CodeActionContext(diagnostics=[], only=only)
    params = types.CodeActionParams(types.TextDocumentIdentifier(uri), types.Range(at, at), context)
    return list(await editor.text_document_code_action_async(params) or [])


@pytest.mark.parametrize(("line", "character"), [(0, 4), (0, 10), (4, 14)])
async def test_hover_on_a_function_at_its_definition_or_a_call(
    editor: Editor, workspace: Path, line: int, character: int
) -> None:
    uri = await opened(editor, workspace)
    found = await hover(editor, uri, line, character)
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    assert found.contents.value.splitlines()[0] == "**callee**: ⚠ possible: null-dereference"
    assert "callee returns an int" in found.contents.value
    assert "1 of 3 functions looked at again" in found.contents.value
    assert found.range is not None
    assert found.range.end.character - found.range.start.character == len("callee")


async def test_hover_on_anything_else_says_nothing(editor: Editor, workspace: Path) -> None:
    uri = await opened(editor, workspace)
    assert await hover(editor, uri, 0, 1) is None
    assert await hover(editor, uri, 1, 0) is None
    assert await hover(editor, uri, 99, 0) is None


async def test_code_actions_on_a_finding(editor: Editor, workspace: Path) -> None:
    uri = await opened(editor, workspace)
    offered = await actions(editor, uri, 1, 12)
    commands = {action.command.command: list(action.command.arguments or ()) for action in offered if action.command}
    assert commands["everproof.trace"] == [uri, "a.c:callee:0", {"from": "error"}]
    assert commands["everproof.fullCheck"] == [uri]
    assert commands["everproof.explainRule"] == ["null-dereference"]
    assert commands["everproof.states"] == [uri, "callee"]
    (suppress,) = [action for action in offered if action.edit]
    (change,) = suppress.edit.document_changes or ()
    assert change.text_document.version == 1
    (edit,) = change.edits
    assert edit.range == types.Range(types.Position(1, 0), types.Position(1, 0))
    assert edit.new_text.startswith("    // everproof: ignore null-dereference ")
    assert edit.new_text.endswith("\n")


async def test_code_actions_keep_to_findings_and_to_the_kinds_asked_for(editor: Editor, workspace: Path) -> None:
    uri = await opened(editor, workspace)
    assert await actions(editor, uri, 4, 0) == []
    assert await actions(editor, uri, 1, 12, only=[types.CodeActionKind.Refactor]) == []
    assert len(await actions(editor, uri, 1, 12, only=[types.CodeActionKind.QuickFix])) == 6


async def test_nothing_is_inserted_into_a_continued_line_and_line_ends_are_kept(editor: Editor, workspace: Path) -> None:
    uri = await opened(editor, workspace, "int f(void) {\r\n#define M \\\r\n  BUG\r\n  BUG\r\n}\r\n")
    assert not [action for action in await actions(editor, uri, 2, 3) if action.edit]
    (suppress,) = [action for action in await actions(editor, uri, 3, 3) if action.edit]
    assert suppress.edit.document_changes[0].edits[0].new_text.endswith("\r\n")


async def test_a_lens_above_each_function_says_its_verdict(editor: Editor, workspace: Path) -> None:
    uri = await opened(editor, workspace)
    lenses = await editor.text_document_code_lens_async(types.CodeLensParams(types.TextDocumentIdentifier(uri)))
    said = [(lens.range.start.line, lens.command.title, lens.command.command) for lens in lenses or ()]
    assert said == [
        (0, "⚠ possible: null-dereference", "everproof.trace"),
        (3, "✓ proved: null-dereference", ""),
        (6, "✓ proved: null-dereference", ""),
    ]


def test_a_hover_has_one_line_for_all_rules_that_say_the_same() -> None:
    none, lost = "no violation found", "its finding is suppressed"
    verdicts = {
        "a": RuleVerdict("safe", None, (), "value", certified=True),
        "b": RuleVerdict("unknown", none, (), "automaton"),
        "c": RuleVerdict("violated", None, (), "automaton"),
        "d": RuleVerdict("unknown", lost, (), "automaton"),
        "e": RuleVerdict("unknown", none, (), "automaton"),
    }
    known = FunctionReport("f", whole_line("a.c", 1), verdicts)
    proved = "- ✓ proved: `a` (by the value engine; the proof was checked)"
    assert describe(known, None, None).splitlines() == ["**f**: ⚠ possible: c", "", proved]
    lines = describe(known, None, None, show_unknown=True).splitlines()
    assert lines[2:] == [f"- ? unknown: `b`, `e` ({none})", f"- ? unknown: `d` ({lost})", proved]


async def test_lenses_and_status_are_stale_while_the_text_is_newer(editor: Editor, workspace: Path) -> None:
    uri = await opened(editor, workspace)
    editor.edit(uri, 2, (0, 0), (0, 0), "// HANG\n")
    await editor.status(uri, "checking", version=2)
    lenses = await editor.text_document_code_lens_async(types.CodeLensParams(types.TextDocumentIdentifier(uri)))
    assert {lens.command.title.endswith(" (stale)") for lens in lenses or ()} == {True}
    (status,) = await editor.command("everproof.status")
    assert (status.state, status.version, {function.stale for function in status.functions}) == ("checking", 2, {True})


async def test_a_function_that_does_not_parse_keeps_its_verdict_and_is_stale(editor: Editor, workspace: Path) -> None:
    uri = await opened(editor, workspace, "// BROKEN\n" + TEXT)
    status = await editor.status(uri, "idle", version=1, after=0)
    status = await editor.until("everproof/status", lambda p: p.state == "idle" and p.functions)
    assert [(f.verdict, f.stale) for f in status.functions] == [("violated", True), ("safe", True), ("unknown", True)]
    (found,) = await editor.diagnostics(uri, version=1, stale=True)
    assert found.code == "null-dereference"


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the memory of a process is read as on Linux")
async def test_a_status_has_the_memory_of_the_checker(editor: Editor, workspace: Path) -> None:
    uri = editor.open(workspace / "a.c", TEXT)
    status = await editor.status(uri, "idle")
    pid = int((editor.state / "pid").read_text())
    assert status.memory > 1_000_000
    assert status.memory == pytest.approx(resident_bytes(pid), rel=0.2)


def resident_bytes(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return 1024 * int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:")))


async def test_the_status_has_a_reason_for_what_is_unknown(editor: Editor, workspace: Path) -> None:
    uri = await opened(editor, workspace)
    (status,) = await editor.command("everproof.status")
    assert (status.uri, status.version, status.state) == (uri, 1, "idle")
    assert [(f.name, f.verdict, f.stale, f.reason) for f in status.functions] == [
        ("callee", "violated", False, "null-dereference"),
        ("caller", "safe", False, None),
        ("unknown_one", "unknown", False, "not decided by this engine"),
    ]


async def test_the_trace_of_a_finding_is_its_steps(editor: Editor, workspace: Path) -> None:
    uri = await opened(editor, workspace)
    steps = await editor.command("everproof.trace", uri, "a.c:callee:0")
    assert [(step.uri, step.range.start.line, step.kind, step.depth, step.text) for step in steps] == [
        (uri, 0, "entry", 0, "callee()"),
        (uri, 1, "error", 1, "*p"),
    ]
    assert steps[1].values.p == "NULL"
    assert await editor.command("everproof.trace", uri, "no such finding") == []
    assert await editor.command("everproof.trace", uri, "a.c:callee:0", {"whole": True}) == steps
    assert await editor.command("everproof.trace", uri, "a.c:callee:0", {"from": "error"}) == steps[::-1]
    assert await editor.command("everproof.trace", uri, "a.c:callee:0", {"whole": True, "from": "entry"}) == steps


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("everproof.trace", []),
        ("everproof.trace", [1, 2]),
        ("everproof.trace", ["a", "b", {"whole": 1}]),
        ("everproof.trace", ["a", "b", "whole"]),
        ("everproof.trace", ["a", "b", {"from": "end"}]),
        ("everproof.fullCheck", [1]),
        ("no.such", []),
    ],
)
async def test_a_wrong_command_is_answered_with_a_sentence(editor: Editor, name: str, arguments: list[object]) -> None:
    with pytest.raises(JsonRpcInvalidParams) as refused:
        await editor.command(name, *arguments)
    assert name in str(refused.value)
    assert "Traceback" not in str(refused.value)
    assert editor.count(types.WINDOW_SHOW_MESSAGE) == 0


async def test_a_full_check_starts_from_nothing_and_answers_when_it_is_complete(editor: Editor, workspace: Path) -> None:
    uri = await opened(editor, workspace)
    answer = await editor.command("everproof.fullCheck", uri)
    assert (answer.complete, answer.reason, answer.findings) == (True, None, 1)
    assert editor.checker_log()[-1] == "full check"


async def test_clearing_the_store_is_followed_by_a_new_check(editor: Editor, workspace: Path) -> None:
    uri = await opened(editor, workspace)
    after = len(editor.messages)
    await editor.command("everproof.clearStore")
    await editor.status(uri, "idle", version=1, after=after)
    assert editor.checker_log()[-2:] == ["clear store", "check"]
    assert len(await editor.diagnostics(uri, version=1)) == 1


async def test_a_check_on_demand_is_made_when_asked_for(start: Callable[..., Any], workspace: Path) -> None:
    editor: Editor = await start(options={"everproof": {"mode": "onDemand"}})
    uri = editor.open(workspace / "a.c", TEXT)
    editor.edit(uri, 2, (0, 0), (0, 0), "\n")
    assert (await editor.command("everproof.fullCheck")).findings == 1
    assert len(await editor.diagnostics(uri, version=2)) == 1
    assert [line for line in editor.checker_log() if "check" in line] == ["full check"]


async def test_on_save_a_check_is_made_when_saved(start: Callable[..., Any], workspace: Path) -> None:
    editor: Editor = await start(options={"mode": "onSave"})
    uri = await opened(editor, workspace)
    editor.edit(uri, 2, (1, 11), (1, 14), "0")
    status = await editor.status(uri, "idle", version=2)
    assert {function.stale for function in status.functions} == {True}
    editor.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))
    await editor.until("everproof/status", lambda said: said.version == 2 and not any(one.stale for one in said.functions))
    assert await editor.diagnostics(uri, version=2) == []
    assert editor.checker_log().count("check") == 2
