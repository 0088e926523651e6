"""Contracts in hovers and lenses: what the server makes of what the checker says."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsp_editor import Editor
from lsprotocol import types
from test_features import hover, opened

TEXT = "int callee(int *p) {\n    return BUG;\n}\nint caller(void) {\n    free(0); return callee(0);\n}\n"
TOLD = "// CONTRACTS\n" + TEXT
CONTRACT = """\
```c
int callee(int *p)
```

- expects `p != NULL` *(proved)*
- may return NULL *(seen in the code)*
- … 7 more: `everproof contracts --function callee`

All 3 callers keep it."""
AT_DEFINITION, AT_CALL, AT_LIBRARY = (1, 5), (5, 22), (5, 6)


async def shown(editor: Editor, uri: str, at: tuple[int, int]) -> str:
    found = await hover(editor, uri, *at)
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    return found.contents.value


async def lenses(editor: Editor, uri: str) -> list[tuple[int, str]]:
    found = await editor.text_document_code_lens_async(types.CodeLensParams(types.TextDocumentIdentifier(uri)))
    return [(lens.range.start.line, lens.command.title) for lens in found or () if lens.command]


async def refreshed(editor: Editor, uri: str, version: int, after: int) -> None:
    """Waits until the check of a version is done, and lenses were asked for twice: for the check, and for contracts."""
    await editor.status(uri, "idle", version, after)
    refresh = types.WORKSPACE_CODE_LENS_REFRESH
    await editor.until(refresh, lambda _: [name for name, _ in editor.messages[after:]].count(refresh) > 1, after)


async def test_a_hover_at_a_definition_has_the_contract_and_then_the_verdicts(editor: Editor, workspace: Path) -> None:
    uri = await opened(editor, workspace, TOLD)
    contract, rule, verdicts = (await shown(editor, uri, AT_DEFINITION)).partition("\n\n---\n\n")
    assert contract == CONTRACT
    assert rule
    assert verdicts.startswith("**callee**: ⚠ possible: null-dereference\n")


async def test_a_hover_at_a_call_says_where_the_function_is_defined(editor: Editor, workspace: Path) -> None:
    uri = await opened(editor, workspace, TOLD)
    assert await shown(editor, uri, AT_CALL) == (
        f"{CONTRACT}  \nDefined in [a.c:2]({uri}#L2).\n\n**callee**: ⚠ possible: null-dereference"
    )


async def test_a_call_in_another_file_leads_to_where_the_definition_has_moved(editor: Editor, workspace: Path) -> None:
    uri = await opened(editor, workspace, TOLD)
    other = editor.open(workspace / "b.c", "int other(void) {\n    return callee(0);\n}\n")
    await editor.status(other, "idle")
    editor.edit(uri, 2, (0, 0), (0, 0), "\n\n")
    await editor.status(uri, "idle", 2)
    assert f"Defined in [a.c:4]({uri}#L4)." in await shown(editor, other, (1, 12))


async def test_a_hover_at_a_call_of_a_library_function(editor: Editor, workspace: Path) -> None:
    uri = await opened(editor, workspace, TOLD)
    assert await shown(editor, uri, AT_LIBRARY) == (
        "```c\nvoid free(void *)\n```\n\n- frees argument 1\n\n*From the table of library functions.*"
    )
    assert await hover(editor, uri, 1, 1) is None
    editor.edit(uri, 2, (5, 8), (5, 11), "")  # a variable of that name is no call
    await editor.status(uri, "idle", 2)
    assert await hover(editor, uri, *AT_LIBRARY) is None


async def test_what_is_not_known_yet_is_said(editor: Editor, workspace: Path) -> None:
    uri = await opened(editor, workspace, TOLD + "// PARTLY\n")
    assert "*Not all of it is known yet. Hover again in a moment.*" in await shown(editor, uri, AT_CALL)


@pytest.mark.parametrize("word", ["MUTE", "HANG"])
async def test_a_hover_does_not_wait_for_a_checker_that_does_not_answer(editor: Editor, workspace: Path, word: str) -> None:
    uri = await opened(editor, workspace, TOLD)
    editor.edit(uri, 2, (0, 0), (0, 0), f"// {word}\n")
    await editor.status(uri, "checking" if word == "HANG" else "idle", 2)
    text = await shown(editor, uri, (2, 5))
    assert text.startswith("**callee**: ⚠ possible: null-dereference")
    assert ("*Stale: edited since.*" in text) is (word == "HANG")


async def test_a_hover_says_that_a_contract_is_unchanged(editor: Editor, workspace: Path) -> None:
    uri = await opened(editor, workspace, TOLD)
    assert "unchanged" not in await shown(editor, uri, AT_CALL)
    await editor.until(types.WORKSPACE_CODE_LENS_REFRESH)
    after = len(editor.messages)
    editor.edit(uri, 2, (0, 0), (0, 3), "// KEPT ")
    await refreshed(editor, uri, 2, after)
    for at in (AT_DEFINITION, AT_CALL):
        assert "Contract unchanged for 14 callers." in await shown(editor, uri, at)
    assert await lenses(editor, uri) == [(1, "⚠ possible: null-dereference"), (4, "✓ proved: null-dereference")]


async def test_a_lens_says_what_edits_did_to_a_contract(editor: Editor, workspace: Path) -> None:
    uri = await opened(editor, workspace, TOLD)
    await editor.until(types.WORKSPACE_CODE_LENS_REFRESH)
    after = len(editor.messages)
    editor.edit(uri, 2, (0, 0), (0, 3), "// CHANGED ")
    await refreshed(editor, uri, 2, after)
    changed = "contract changed: may now return NULL — 3 callers"
    assert await lenses(editor, uri) == [
        (1, "⚠ possible: null-dereference"),
        (1, changed),
        (4, "✓ proved: null-dereference"),
        (4, changed),
    ]
    assert f"{changed[0].upper()}{changed[1:]}." in await shown(editor, uri, AT_DEFINITION)
    editor.edit(uri, 3, (0, 0), (0, 0), "// HANG\n")
    await editor.status(uri, "checking", 3)
    assert (2, f"{changed} (stale)") in await lenses(editor, uri)


async def test_the_checker_is_told_which_version_was_saved(editor: Editor, workspace: Path) -> None:
    uri = await opened(editor, workspace)
    editor.edit(uri, 2, (0, 0), (0, 0), "\n")
    await editor.status(uri, "idle", 2)
    editor.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))
    await editor.command("everproof.fullCheck", uri)
    assert "saved a.c 2" in editor.checker_log()
