"""Contracts in the editor with the real checker: of the text as it is now, and compared with that which was saved."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import LanguageClient, client_capabilities
from test_real_checker import CONFIG, Client, _session, edited, opened

TEXT = """\
#include "stock.h"
extern void free(void *__block);

static struct stock only;

struct stock *stock_get(int wanted)
{
    return wanted > 0 ? &only : (void *)0;
}

int stock_count(const struct stock *stock)
{
    return stock == 0 ? 0 : stock->count;
}

int stock_twice(struct stock *stock)
{
    free(stock->name);
    return 2 * stock_count(stock);
}
"""
HEADER = "struct stock { int count; char *name; };\nint stock_count(const struct stock *stock);\n"
OTHER = '#include "stock.h"\nint stock_none(void)\n{\n    return stock_count(0);\n}\n'
COUNT, RETURN = 10, 12


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    settings = 'engine = "automaton"\nstore = "none"\n'
    for name, text in (("stock.c", TEXT), ("stock.h", HEADER), ("other.c", OTHER), (".everproof.toml", settings)):
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest_lsp.fixture(config=CONFIG)
async def stock(lsp_client: LanguageClient, folder: Path) -> AsyncIterator[None]:
    async for _ in _session(lsp_client, folder, client_capabilities("visual-studio-code@v1.65.2")):
        yield


async def hovered(client: Client, path: Path, line: int, word: str) -> str:
    at = types.Position(line, path.read_text(encoding="utf-8").splitlines()[line].index(word))
    found = await client.text_document_hover_async(types.HoverParams(types.TextDocumentIdentifier(path.as_uri()), at))
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    return found.contents.value


async def contract_lenses(client: Client, uri: str) -> list[str]:
    found = await client.text_document_code_lens_async(types.CodeLensParams(types.TextDocumentIdentifier(uri)))
    return [lens.command.title for lens in found or () if lens.command and "contract" in lens.command.title]


async def until_lenses(client: Client, uri: str, said: list[str]) -> None:
    """Waits until the server has these lenses: it has the client ask again whenever they are others."""
    seen = 0
    while await contract_lenses(client, uri) != said:
        await client.until(lambda known=seen: len(client.refreshes) > known)
        seen = len(client.refreshes)


async def test_contracts_follow_the_text(stock: Client, folder: Path) -> None:
    path, other = folder / "stock.c", folder / "other.c"
    uri = opened(stock, path)
    await stock.findings(uri, 1)
    await stock.findings(opened(stock, other), 1)
    of_library = await hovered(stock, path, 17, "free")
    assert of_library.startswith("```c\nvoid free(void *block)\n```\n\n- frees `block`\n")
    at_call = await hovered(stock, other, 3, "stock_count")
    assert at_call.startswith(
        "```c\nint stock_count(const struct stock *stock)\n```\n\n"
        "- expects `stock` to be null, or neither freed nor closed *(proved)*\n"
        "- if it returns another value than 0, `stock != NULL` *(proved)*\n"
        "- writes nothing that callers see *(proved)*\n"
    )
    assert f"Called by 2 functions.  \nDefined in [stock.c:11]({uri}#L11)." in at_call
    assert "- may return NULL *(seen in the code)*" in await hovered(stock, path, 5, "stock_get")
    edited(stock, uri, 2, RETURN, RETURN + 1, "    return stock->count;\n")
    await stock.findings(uri, 2)
    assert "- expects `stock != NULL`" in await hovered(stock, other, 3, "stock_count")
    needs = "now expects `stock != NULL`: 1 of 2 callers is not proved to keep it; now returns `stock->count`"
    await until_lenses(stock, uri, [f"contract changed: {needs}"])
    stock.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))
    await until_lenses(stock, uri, [])
    edited(stock, uri, 3, RETURN, RETURN + 1, "    return stock->count;\n\n")
    await stock.findings(uri, 3)
    edited(stock, uri, 4, RETURN, RETURN + 1, "    return stock == 0 ? 0 : stock->count;\n")
    await until_lenses(
        stock, uri, ["contract changed: no longer expects `stock != NULL`; no longer returns `stock->count` — 2 callers"]
    )
