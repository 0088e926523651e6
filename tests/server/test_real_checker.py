"""The whole path, from keystrokes to diagnostics, with the real checker and the capabilities of three real editors."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import pytest_lsp
from lsprotocol import types
from pygls.protocol import default_converter
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES, register_lsp_features

PATIENCE = 60.0  # seconds; only a test that fails waits this long
INVENTORY = Path(__file__).parents[2] / "fixtures" / "lsp" / "inventory"
DEREFERENCE = "    item->count = count;\n"
CHECK = "    if (item == NULL)\n        return -1;\n"


class Client(LanguageClient):
    """pytest-lsp's client, which also says when there is news."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.published: list[types.PublishDiagnosticsParams] = []
        self.statuses: list[Any] = []
        self.refreshes: list[Any] = []
        self.news = asyncio.Condition()

    async def until(self, found: Callable[[], Any]) -> Any:
        async with self.news:
            try:
                await asyncio.wait_for(self.news.wait_for(found), PATIENCE)
            except TimeoutError:
                pytest.fail(f"it did not come; there were {self.published} {self.statuses}")
        return found()

    async def findings(self, uri: str, version: int) -> list[types.Diagnostic]:
        """The current diagnostics of a version, when its check is complete."""
        await self.until(
            lambda: any(s.uri == uri and s.version == version and s.state == "idle" and s.functions for s in self.statuses)
        )
        latest = [params for params in self.published if params.uri == uri][-1]
        assert latest.version == version
        return list(latest.diagnostics)


def make_client() -> LanguageClient:
    client = Client(converter_factory=default_converter)

    async def keep(where: list[Any], params: Any) -> None:
        async with client.news:
            where.append(params)
            client.news.notify_all()

    async def published(params: types.PublishDiagnosticsParams) -> None:
        await keep(client.published, params)

    async def status(params: Any) -> None:
        await keep(client.statuses, params)

    async def refresh(params: Any) -> None:
        await keep(client.refreshes, params)

    def accept(params: Any) -> None:
        return None

    ours = {
        types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: published,
        "everproof/status": status,
        types.CLIENT_REGISTER_CAPABILITY: accept,
        types.WINDOW_SHOW_MESSAGE_REQUEST: accept,
        types.WORKSPACE_CODE_LENS_REFRESH: refresh,
    }
    register_lsp_features(client, {**DEFAULT_CLIENT_FEATURES, **ours})
    return client


CONFIG = ClientServerConfig(server_command=[sys.executable, "-m", "server"], client_factory=make_client)


@pytest.fixture
def inventory(tmp_path: Path) -> Path:
    return Path(shutil.copytree(INVENTORY, tmp_path / "inventory"))


async def _session(
    lsp_client: LanguageClient, inventory: Path, capabilities: types.ClientCapabilities, options: object = None
) -> AsyncIterator[None]:
    folder = types.WorkspaceFolder(inventory.as_uri(), "inventory")
    await lsp_client.initialize_session(
        types.InitializeParams(capabilities, workspace_folders=[folder], initialization_options=options)
    )
    yield
    await asyncio.wait_for(lsp_client.shutdown_session(), PATIENCE)


@pytest_lsp.fixture(params=["visual-studio-code@v1.65.2", "neovim@v0.11.0", "emacs@v29.1"], config=CONFIG)
async def any_editor(lsp_client: LanguageClient, inventory: Path, request: pytest.FixtureRequest) -> AsyncIterator[None]:
    async for _ in _session(lsp_client, inventory, client_capabilities(request.param)):
        yield


@pytest_lsp.fixture(config=CONFIG)
async def vscode(lsp_client: LanguageClient, inventory: Path) -> AsyncIterator[None]:
    async for _ in _session(lsp_client, inventory, client_capabilities("visual-studio-code@v1.65.2")):
        yield


@pytest_lsp.fixture(config=CONFIG)
async def nothing_open(lsp_client: LanguageClient, inventory: Path) -> AsyncIterator[None]:
    capabilities = client_capabilities("visual-studio-code@v1.65.2")
    async for _ in _session(lsp_client, inventory, capabilities, {"checkFolders": True}):
        yield


def opened(client: LanguageClient, path: Path, text: str | None = None) -> str:
    item = types.TextDocumentItem(path.as_uri(), "c", 1, path.read_text(encoding="utf-8") if text is None else text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    return item.uri


def edited(client: LanguageClient, uri: str, version: int, line: int, until: int, text: str) -> None:
    """Replaces whole lines."""
    range_ = types.Range(types.Position(line, 0), types.Position(until, 0))
    change = types.TextDocumentContentChangePartial(range=range_, text=text)
    document = types.VersionedTextDocumentIdentifier(version, uri)
    client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))


def of_rule(diagnostics: list[types.Diagnostic], rule: str) -> list[types.Diagnostic]:
    return [item for item in diagnostics if item.code == rule]


async def test_a_null_dereference_appears_and_goes_while_typing(any_editor: Client, inventory: Path) -> None:
    uri = opened(any_editor, inventory / "main.c")
    (found,) = of_rule(await any_editor.findings(uri, 1), "null-dereference")
    assert found.range.start.line == 7
    steps = [Path(item.location.uri).name for item in found.related_information or ()]
    assert "item.h" in steps
    edited(any_editor, uri, 2, 7, 7, CHECK)
    assert of_rule(await any_editor.findings(uri, 2), "null-dereference") == []
    edited(any_editor, uri, 3, 7, 9, "")
    (found,) = of_rule(await any_editor.findings(uri, 3), "null-dereference")
    assert found.range.start.line == 7


async def test_a_folder_without_open_files_is_checked_on_request(nothing_open: Client, inventory: Path) -> None:
    uri = (inventory / "main.c").as_uri()
    published = await nothing_open.until(lambda: [p for p in nothing_open.published if p.uri == uri])
    for one in published:  # more than one, if it is already known since when the finding is there
        assert len(of_rule(list(one.diagnostics), "null-dereference")) == 1
    opened(nothing_open, inventory / "main.c")
    assert len(of_rule(await nothing_open.findings(uri, 1), "null-dereference")) == 1


async def test_columns_after_an_emoji_are_those_of_the_editor(any_editor: Client, inventory: Path) -> None:
    text = (inventory / "main.c").read_text(encoding="utf-8").replace(DEREFERENCE, '    ("😀"), item->count = count;\n')
    uri = opened(any_editor, inventory / "main.c", text)
    (found,) = of_rule(await any_editor.findings(uri, 1), "null-dereference")
    encodings = {"utf-16": 12, "utf-8": 14, "utf-32": 11}
    general = any_editor.capabilities.general
    agreed = general.position_encodings[0] if general and general.position_encodings else "utf-16"
    assert found.range.start == types.Position(7, encodings[agreed])


async def test_an_unsaved_header_counts(vscode: Client, inventory: Path) -> None:
    uri = opened(vscode, inventory / "main.c")
    assert len(of_rule(await vscode.findings(uri, 1), "null-dereference")) == 1
    header = (inventory / "item.h").read_text(encoding="utf-8")
    body = "    static struct item only;\n    return &only;\n"
    before = len(vscode.published)
    opened(vscode, inventory / "item.h", header.replace("    return malloc(sizeof(struct item));\n", body))
    without = await vscode.until(
        lambda: [p for p in vscode.published[before:] if p.uri == uri and not of_rule(list(p.diagnostics), "null-dereference")]
    )
    assert without[0].version == 1


async def test_suppressing_as_the_code_action_does_removes_the_finding_once_there_is_a_reason(
    vscode: Client, inventory: Path
) -> None:
    uri = opened(vscode, inventory / "main.c")
    (found,) = of_rule(await vscode.findings(uri, 1), "null-dereference")
    params = types.CodeActionParams(types.TextDocumentIdentifier(uri), found.range, types.CodeActionContext([found]))
    offered = await vscode.text_document_code_action_async(params)
    (suppress,) = [action for action in offered or () if "suppress null-dereference" in action.title]
    (change,) = suppress.edit.document_changes
    new_text = change.edits[0].new_text
    assert change.edits[0].range.start == types.Position(7, 0)
    edited(vscode, uri, 2, 7, 7, new_text)
    without = await vscode.findings(uri, 2)
    (only,) = without
    assert only.code == "null-dereference"
    assert only.message.endswith("give a reason after null-dereference why the finding should not be reported.")
    edited(vscode, uri, 3, 7, 8, new_text.rstrip("\n") + "the caller has tested it\n")
    assert await vscode.findings(uri, 3) == []


async def test_a_function_that_does_not_parse_is_stale_and_its_neighbour_is_not(vscode: Client, inventory: Path) -> None:
    uri = opened(vscode, inventory / "main.c")
    await vscode.findings(uri, 1)
    edited(vscode, uri, 2, 8, 9, "    total += item->;\n")
    await vscode.findings(uri, 2)
    status = [s for s in vscode.statuses if s.uri == uri and s.version == 2 and s.state == "idle"][-1]
    assert {f.name: f.stale for f in status.functions} == {"add": True, "main": False}


async def test_a_full_check_finds_the_same(vscode: Client, inventory: Path) -> None:
    uri = opened(vscode, inventory / "main.c")
    before = [(item.code, item.range) for item in await vscode.findings(uri, 1)]
    command = types.ExecuteCommandParams("everproof.fullCheck", [uri])
    answer = await asyncio.wait_for(vscode.workspace_execute_command_async(command), PATIENCE)
    assert json.loads(json.dumps(answer))["complete"] is True
    assert [(item.code, item.range) for item in await vscode.findings(uri, 1)] == before


COUNTED = """int counted(int n)
{
    int c = 5;
    for (int i = 0; i < n; i++)
        if (2 * c > 2)
            c = c - 1;
    return 100 / c;
}

int other(int n)
{
    return n > 0 ? 7 / n : 0;
}
"""


@pytest_lsp.fixture(config=CONFIG)
async def only_divisions(lsp_client: LanguageClient, inventory: Path) -> AsyncIterator[None]:
    (inventory / ".everproof.toml").write_text('rules = ["division-by-zero"]\nstore = "none"\n')
    (inventory / "counted.c").write_text(COUNTED)
    async for _ in _session(lsp_client, inventory, client_capabilities("visual-studio-code@v1.65.2")):
        yield


def _keeps_c_from_zero(hints: Sequence[types.InlayHint] | None) -> bool:
    """Which of the two inductive invariants is found depends on which strategy of the prover had the time."""
    found = [(hint.position.line, hint.label) for hint in hints or ()]
    return found in ([(3, "invariant: c > 0")], [(3, "invariant: c != 0")])


async def test_functions_are_proved_while_nobody_types(only_divisions: Client, inventory: Path) -> None:
    client, uri = only_divisions, opened(only_divisions, inventory / "counted.c")

    def said(version: int) -> list[set[tuple[str, str]]]:
        """What the server said of a version, one after the other: the client may see two at once."""
        statuses = [status for status in client.statuses if (status.uri, status.version, status.state) == (uri, version, "idle")]
        return [{(function.name, function.verdict) for function in status.functions} for status in statuses]

    proved = {("counted", "safe"), ("other", "safe")}
    await client.until(lambda: said(1)[-1:] == [proved])
    document = types.TextDocumentIdentifier(uri)
    lenses = await client.text_document_code_lens_async(types.CodeLensParams(document))
    assert {lens.command.title for lens in lenses or () if lens.command} == {"✓ proved: division-by-zero"}
    run = types.ExecuteCommandParams("everproof.invariants", [uri, "counted"])
    assert await client.workspace_execute_command_async(run) is True
    everywhere = types.Range(types.Position(0, 0), types.Position(99, 0))
    hints = await client.text_document_inlay_hint_async(types.InlayHintParams(document, everywhere))
    assert _keeps_c_from_zero(hints)
    edited(client, uri, 2, 11, 12, "    return n > 0 ? 8 / n : 0;\n")
    await client.until(lambda: said(2)[-1:] == [proved])
    assert said(2)[0] == {("counted", "safe"), ("other", "unknown")}
    again = next(status for status in client.statuses if (status.uri, status.version, status.state) == (uri, 2, "idle"))
    assert [getattr(function, "rechecked", []) for function in again.functions] == [[], ["division-by-zero"]]
    hints = await client.text_document_inlay_hint_async(types.InlayHintParams(document, everywhere))
    assert _keeps_c_from_zero(hints)


async def test_a_fix_is_checked_and_makes_the_finding_go(vscode: Client, inventory: Path) -> None:
    uri = opened(vscode, inventory / "main.c")
    (found,) = of_rule(await vscode.findings(uri, 1), "null-dereference")

    command = types.ExecuteCommandParams("everproof.fix", [uri, found.data["fingerprint"]])
    (fix, *_) = await vscode.workspace_execute_command_async(command)
    (change,) = fix["edit"]["documentChanges"]
    (edit,) = change["edits"]
    assert edit["newText"] == "\n    if (!item)\n        return -1;"
    line = edit["range"]["start"]["line"] + 1
    edited(vscode, uri, 2, line, line, edit["newText"].lstrip("\n") + "\n")
    assert of_rule(await vscode.findings(uri, 2), "null-dereference") == []
