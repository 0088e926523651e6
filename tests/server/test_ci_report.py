"""A CI's report in the editor: its findings beside the live ones, matched by fingerprint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lsp_editor import Editor, data
from lsprotocol import types
from test_features import opened
from test_sarif_reading import log, result

TEXT = "int f(void) {\n    return BUG;\n}\n"


def hints(items: list[types.Diagnostic]) -> list[types.Diagnostic]:
    return [item for item in items if data(item).get("status") == "ci"]


async def published(editor: Editor, uri: str, number: int, after: int) -> list[types.Diagnostic]:
    """The next diagnostics with so many hints of the CI."""
    params: Any = await editor.until(
        types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, lambda p: p.uri == uri and len(hints(p.diagnostics)) == number, after
    )
    return list(params.diagnostics)


async def test_findings_of_a_ci_are_shown_beside_the_live_ones(editor: Editor, workspace: Path) -> None:
    uri = await opened(editor, workspace, TEXT)
    sarif = workspace / "ci.sarif"
    region = {"startLine": 2, "startColumn": 5, "endLine": 2, "endColumn": 11}
    there = {"physicalLocation": {"artifactLocation": {"uri": "a.c"}, "region": region}}
    sarif.write_text(log(result(fingerprint="a.c:f:0"), result(fingerprint="gone", locations=[there]), result("b.c", "other")))
    before = len(editor.messages)
    told = await editor.command("everproof.openSarif", sarif.as_uri())
    assert vars(told) == {"reason": None, "findings": 3, "found": 1, "missing": 1, "elsewhere": 1}
    items = await published(editor, uri, 1, before)
    [hint] = hints(items)
    assert hint.severity == types.DiagnosticSeverity.Hint
    assert hint.message == "from CI, not found here (any more): p is lost"
    assert hint.range == types.Range(types.Position(1, 4), types.Position(1, 10))
    assert [data(item).get("inCi", data(item).get("ci")) for item in items] == [True, "gone"]

    before = len(editor.messages)
    editor.edit(uri, 2, (0, 0), (0, 0), "\n")
    items = await editor.diagnostics(uri, 2, after=before)
    assert [item.range.start for item in items] == [types.Position(2, 11), types.Position(2, 4)]  # both moved

    before = len(editor.messages)
    editor.edit(uri, 3, (2, 11), (2, 14), "BUG + BUG")
    items = await editor.diagnostics(uri, 3, after=before)
    live = {data(item)["fingerprint"]: data(item)["inCi"] for item in items if "fingerprint" in data(item)}
    assert live == {"a.c:f:0": True, "a.c:f:1": False}
    assert [data(item)["ci"] for item in hints(items)] == ["gone"]

    before = len(editor.messages)
    assert await editor.command("everproof.openSarif", None) is None
    assert all("inCi" not in data(item) for item in await published(editor, uri, 0, before))

    sarif.write_text("{}")
    told = await editor.command("everproof.openSarif", sarif.as_uri())
    shown: Any = await editor.until(types.WINDOW_SHOW_MESSAGE, lambda p: p.type == types.MessageType.Warning)
    assert "is not SARIF 2.1.0" in told.reason
    assert told.reason in shown.message
