"""Settings from the client, however it sends them, and from `.everproof.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from analysis.model.settings import is_session, workspace_settings
from server.app import EverproofServer

SECTION = "everproof"


def register(server: EverproofServer) -> None:
    """Registers the handler."""

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def did_change(params: types.DidChangeConfigurationParams) -> None:
        if not await pull(server):
            server.editor.values = _section(params.settings)
            apply(server)


def remember_initial(server: EverproofServer, options: Any) -> None:
    """Takes over the options of `initialize`: the settings themselves, or a table that holds them as `everproof`."""
    server.editor.initial = _section(options)
    apply(server)


async def pull(server: EverproofServer) -> bool:
    """Asks the client for its settings; whether it knows the request."""
    workspace = server.client_capabilities.workspace
    if workspace is None or not workspace.configuration:
        return False
    try:
        answer = await server.workspace_configuration_async(types.ConfigurationParams([types.ConfigurationItem(section=SECTION)]))
    except JsonRpcException:
        return False
    server.editor.values = answer[0] if answer else None
    apply(server)
    return True


def apply(server: EverproofServer, files_changed: bool = False) -> None:
    """Puts the settings in force, and notifies the user once of those that are wrong.

    `files_changed`: the rules or the compile commands that the settings name did.
    """
    found, problems = workspace_settings(server.documents.folder_paths(), server.editor.merged())
    if found.store is None and server.store is not None:
        found = msgspec.structs.replace(found, store=server.store)
    changed = found != server.settings
    if changed or files_changed:
        server.fixes.forget()
    server.settings = found
    shown = found.older_findings, is_session(found.reference)
    if (server.converter.faint, server.converter.session_is_asked) != shown:
        server.converter.faint, server.converter.session_is_asked = shown
        server.converter.forget_shown()
    server.scheduler.configure(found, files_changed)
    if problems and problems != server.editor.reported:
        server.show("Everproof: wrong settings: " + " ".join(problems))
    server.editor.reported = problems
    if changed and server.results.states():
        _show_again(server)


def _show_again(server: EverproofServer) -> None:
    """Some settings change what is shown, not what is known."""
    for state in server.results.states():
        server.publisher.publish(state.path)
    server.refresh_lenses()


def _section(options: object) -> object:
    if isinstance(options, Mapping) and SECTION in options:
        return options[SECTION]
    return options
