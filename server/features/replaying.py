"""Replaying a confirmed finding: the command line does it, in a process of its own (`everproof replay`).

It compiles and runs the program, so it is done only where a user asks for it, in a workspace that the editor trusts. The
text on the disk counts.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from typing import Any

from lsprotocol import types

from analysis.model.report import Finding
from server.app import EverproofServer
from server.documents import Document
from server.features.commands import text_argument

REPLAY = "everproof.replay"
_COMMAND = (sys.executable, *(("-S",) if sys.flags.no_site else ()), "-P", "-m", "analysis.cli", "replay")
_STATUS = {0: "reproduced", 1: "otherwise"}
_UNTRUSTED = "The workspace is not trusted: its programs are not run."
_NOT_CONFIRMED = "The finding is not confirmed in the present text: there is no run to repeat."


def register(server: EverproofServer) -> None:
    """Registers the command."""

    @server.command(REPLAY)
    async def replay(uri: Any, fingerprint: Any) -> dict[str, Any]:
        document = server.documents.find(text_argument(REPLAY, "uri", uri))
        finding = server.results.finding(text_argument(REPLAY, "fingerprint", fingerprint))
        if not server.settings.trusted:
            return _told(server, "refused", _UNTRUSTED)
        if document is None or finding is None or finding.status != "confirmed":
            return _told(server, "refused", _NOT_CONFIRMED)
        status, text = await _run([*_COMMAND, finding.fingerprint, *_options(server), _program(server, document)])
        return _told(server, _STATUS.get(status, "refused"), text)


def replay_action(
    server: EverproofServer, document: Document, finding: Finding, diagnostics: list[types.Diagnostic]
) -> types.CodeAction | None:
    """The action for a confirmed finding in a trusted workspace."""
    if finding.status != "confirmed" or not server.settings.trusted:
        return None
    title = f"Everproof: run the program to see {finding.rule} under sanitizers"
    command = types.Command(title, REPLAY, arguments=[document.uri, finding.fingerprint])
    return types.CodeAction(title, kind=types.CodeActionKind.QuickFix, diagnostics=diagnostics, command=command)


def _told(server: EverproofServer, status: str, text: str) -> dict[str, Any]:
    """The answer; its second line, which says how it went, is shown as well."""
    lines = [line for line in text.splitlines() if line]
    how = (line for line in lines if line.startswith(("reproduced", "ran otherwise", "could not")))
    told = next(how, lines[-1] if lines else "")
    server.show(f"Everproof: {told}", types.MessageType.Info)
    return {"status": status, "text": text}


def _options(server: EverproofServer) -> list[str]:
    settings = server.settings
    chosen = {"--compiler": settings.compiler, "--compile-commands": settings.compile_commands}
    return [part for name, value in chosen.items() if value for part in (name, value)]


def _program(server: EverproofServer, document: Document) -> str:
    """The program that a file belongs to: the innermost folder of the workspace, else the file itself."""
    path, folders = document.file_path, server.documents.folder_paths()
    return max((one for one in folders if path.startswith(one.rstrip(os.sep) + os.sep)), key=len, default=path)


async def _run(command: list[str]) -> tuple[int, str]:
    """Runs a command to its end; what it started ends with it when the request is cancelled."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        said, _ = await process.communicate()
    finally:
        if process.returncode is None:
            if os.name == "posix":
                os.killpg(process.pid, signal.SIGTERM)
            else:
                process.kill()
            await process.wait()
    return process.returncode or 0, said.decode("utf-8", "replace")
