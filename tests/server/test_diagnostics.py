from __future__ import annotations

from pathlib import Path

from lsp_editor import Editor, data
from lsprotocol import types

BUGGY = "int f(int *p) {\n    return BUG;\n}\n"


async def test_a_finding_in_the_unsaved_text_is_pushed_with_its_version(editor: Editor, workspace: Path) -> None:
    uri = editor.open(workspace / "a.c", BUGGY)
    (found,) = await editor.diagnostics(uri, version=1)
    assert found.range == types.Range(types.Position(1, 11), types.Position(1, 14))
    assert (found.code, found.source, found.severity) == ("null-dereference", "everproof", types.DiagnosticSeverity.Warning)
    assert data(found) == {"fingerprint": "a.c:f:0", "status": "possible", "stale": False}
