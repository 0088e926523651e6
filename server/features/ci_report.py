"""The command that shows the findings of a CI beside those of the checker."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from lsprotocol import types

from server.app import EverproofServer
from server.ci_findings import Tally
from server.documents import path_of
from server.features.commands import text_argument
from server.sarif_reading import SarifError, read_sarif

OPEN_SARIF = "everproof.openSarif"


def register(server: EverproofServer) -> None:
    """Registers the command."""

    @server.command(OPEN_SARIF)
    async def open_sarif(uri: Any = None) -> dict[str, Any] | None:
        if uri is None:
            before = server.ci.paths
            server.ci.close()
            server.show_again(before)
            return None
        path = path_of(text_argument(OPEN_SARIF, "uri", uri), None)
        try:
            findings = await asyncio.to_thread(read_sarif, path)
        except SarifError as error:
            server.show(f"Everproof: {error}")
            return {"reason": str(error)}
        before = server.ci.paths
        tally = server.ci.open(findings)
        server.show_again((*before, *server.ci.paths))
        server.show(_said(tally), types.MessageType.Info)
        return {"reason": None, **msgspec.to_builtins(tally)}


def _said(tally: Tally) -> str:
    elsewhere = f", {tally.elsewhere} in no file of this workspace" if tally.elsewhere else ""
    return f"Everproof: of {tally.findings} findings of the CI, {tally.found} are found here, {tally.missing} are not{elsewhere}."
