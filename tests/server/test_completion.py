"""Completion of the rule in a comment that silences a finding; nothing is offered anywhere else."""

from __future__ import annotations

from pathlib import Path

from lsp_editor import Editor
from lsprotocol import types
from test_features import opened

COMMENTS = {  # and what is inserted behind them
    "// everproof:": " ignore null-dereference ",
    "// everproof: ": "ignore null-dereference ",
    "// everproof: ign": "ignore null-dereference ",
    "/* é \U0001f600 */ // everproof: ignore nu": "ignore null-dereference ",
}
ELSEWHERE = ("x = a:", "// everproof: ignore null-dereference it is", "// other:", "everproof:")


async def completed(editor: Editor, uri: str, line: int, character: int) -> list[types.CompletionItem]:
    params = types.CompletionParams(types.TextDocumentIdentifier(uri), types.Position(line, character))
    answer = await editor.text_document_completion_async(params)
    assert isinstance(answer, list)
    return sorted(answer, key=lambda item: item.sort_text or "")


async def test_the_rule_of_the_finding_comes_first(editor: Editor, workspace: Path) -> None:
    text = "".join(f"int f{at}(int *p) {{\n{comment}\n    return BUG;\n}}\n" for at, comment in enumerate(COMMENTS))
    uri = await opened(editor, workspace, text)
    for at, (comment, inserted) in enumerate(COMMENTS.items()):
        line, end = 4 * at + 1, len(comment.encode("utf-16-le")) // 2
        first, *others = await completed(editor, uri, line, end)
        assert isinstance(first.text_edit, types.TextEdit)
        assert first.text_edit.new_text == inserted
        assert first.text_edit.range.end == types.Position(line, end)
        assert first.detail is not None
        assert first.preselect
        assert not any(item.detail or item.preselect for item in others)


async def test_elsewhere_are_the_rules_that_were_checked_or_nothing(editor: Editor, workspace: Path) -> None:
    text = "int f(int *p) {\n    return BUG;\n}\n\n"
    uri = await opened(editor, workspace, "\n".join((text, "// everproof: ignore ", *ELSEWHERE)))
    line = text.count("\n") + 1
    found = await completed(editor, uri, line, len("// everproof: ignore "))
    assert "ignore null-dereference" in [item.label for item in found]
    assert not any(item.detail for item in found)
    for at, other in enumerate(ELSEWHERE, 1):
        assert await completed(editor, uri, line + at, len(other)) == []
    assert await completed(editor, uri, 99, 0) == []
