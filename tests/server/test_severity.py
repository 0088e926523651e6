"""The severity of a finding does not flicker while one types, and what is stale looks so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lsp_editor import Editor, capabilities, data
from lsprotocol import types

TEXT = "int callee(int *p) {\n    return BUG + BUG;\n}\n"
CONFIRMED = "a.c:callee:1"
PUBLISH = types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS


def shown(editor: Editor, after: int = 0) -> list[tuple[types.DiagnosticSeverity, bool]]:
    """How the finding that was confirmed has been shown, one after the other: its severity, and whether it was stale."""
    published = [params for method, params in editor.messages[after:] if method == PUBLISH]
    items = [item for params in published for item in params.diagnostics if data(item).get("fingerprint") == CONFIRMED]
    said = [(item.severity, bool(data(item)["stale"])) for item in items]
    return [one for index, one in enumerate(said) if index == 0 or said[index - 1] != one]


async def opened(editor: Editor, workspace: Path, text: str = TEXT) -> str:
    uri = editor.open(workspace / "a.c", text)
    await editor.status(uri, "idle", 1)
    assert shown(editor)[-1] == (types.DiagnosticSeverity.Error, False)
    return uri


async def test_what_an_edit_makes_uncertain_stays_confirmed_and_stale_until_it_is_decided(
    editor: Editor, workspace: Path
) -> None:
    uri = await opened(editor, workspace)
    after = len(editor.messages)
    editor.edit(uri, 2, (0, 0), (0, 0), "// DOUBT UNDECIDED\n")
    status = await editor.status(uri, "idle", 2, after)
    assert set(shown(editor, after)) == {(types.DiagnosticSeverity.Error, True)}
    assert [(f.standing, f.stale, f.reason) for f in status.functions] == [
        ("confirmed", True, "null-dereference"),
    ]
    editor.edit(uri, 3, (0, 0), (0, 18), "// certain again")
    await editor.diagnostics(uri, 3)
    assert {severity for severity, _ in shown(editor)} == {types.DiagnosticSeverity.Error}


async def test_it_is_shown_where_it_is_now(editor: Editor, workspace: Path) -> None:
    uri = await opened(editor, workspace)
    after = len(editor.messages)
    editor.edit(uri, 2, (0, 0), (0, 0), "// DOUBT UNDECIDED\n\n")
    await editor.status(uri, "idle", 2, after)
    editor.edit(uri, 3, (1, 0), (1, 0), "\n")
    await editor.status(uri, "idle", 3, after)
    latest = [params for method, params in editor.messages if method == PUBLISH][-1]
    [held] = [item for item in latest.diagnostics if data(item).get("fingerprint") == CONFIRMED]
    assert (held.range.start.line, [step.location.range.start.line for step in held.related_information][-1]) == (4, 4)


async def test_what_provers_do_not_confirm_again_is_possible_once_they_have_said_all(editor: Editor, workspace: Path) -> None:
    uri = await opened(editor, workspace)
    after = len(editor.messages)
    editor.edit(uri, 2, (0, 0), (0, 0), "// DOUBT\n")

    def is_decided(params: Any) -> bool:
        known = [item for item in params.diagnostics if data(item).get("fingerprint") == CONFIRMED]
        return params.version == 2 and [data(item)["status"] for item in known] == ["possible"]

    await editor.until(PUBLISH, is_decided, after)
    severity = types.DiagnosticSeverity
    assert shown(editor, after)[-2:] == [(severity.Error, True), (severity.Warning, False)]


async def test_a_finding_that_is_gone_is_not_held(editor: Editor, workspace: Path) -> None:
    uri = await opened(editor, workspace)
    editor.replace(uri, 2, "// DOUBT UNDECIDED\nint callee(int *p) {\n    return 0;\n}\n")
    assert await editor.diagnostics(uri, 2) == []


async def test_what_stays_stale_fades_where_the_client_can_show_it(start: Callable[..., Any], workspace: Path) -> None:
    broken = "// BROKEN\n" + TEXT
    for tags, expected in ((True, {(types.DiagnosticTag.Unnecessary,)}), (False, {()})):
        editor: Editor = await start(client_capabilities=capabilities(tags=tags))
        uri = editor.open(workspace / "a.c", broken)
        found = await editor.diagnostics(uri, 1, stale=True)
        assert {tuple(item.tags or ()) for item in found} == expected


async def test_a_check_that_takes_long_lets_stale_findings_fade_and_its_end_brings_them_back(
    editor: Editor, workspace: Path
) -> None:
    uri = await opened(editor, workspace)
    after = len(editor.messages)
    assert not any(item.tags for item in await editor.diagnostics(uri, 1))
    editor.edit(uri, 2, (2, 1), (2, 1), "// HANG")  # below the findings, so that none of them moves

    def has_faded(params: Any) -> bool:
        return bool(params.diagnostics) and all(
            tuple(item.tags or ()) == (types.DiagnosticTag.Unnecessary,) for item in params.diagnostics
        )

    await editor.until(PUBLISH, has_faded, after)
    assert {severity for severity, _ in shown(editor)} == {types.DiagnosticSeverity.Error}
