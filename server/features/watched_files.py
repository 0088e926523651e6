"""Files that change on disk, by other hands than the editor's."""

from __future__ import annotations

import os

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from analysis.model.settings import FILE_NAME
from server.app import EverproofServer
from server.documents import path_of
from server.features import configuration

_COMMITTED = os.path.join(".git", "logs", "HEAD")
_PATTERNS = (
    "**/*.{c,h}",
    "**/compile_commands.json",
    f"**/{FILE_NAME}",
    "**/.everproof/{rules,functions}/*.{yaml,yml}",
    "**/.git/logs/HEAD",
)


def register(server: EverproofServer) -> None:
    """Registers the handler."""

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change(params: types.DidChangeWatchedFilesParams) -> None:
        files_changed = False
        for change in params.changes:
            path = path_of(change.uri)
            if path.endswith((".c", ".h")):
                _source_changed(server, path, change)
            elif path.endswith(_COMMITTED):
                if server.settings.mode != "onDemand":
                    server.scheduler.check_soon()  # after which the reference is looked at again
            else:
                files_changed = True
        if files_changed:
            configuration.apply(server, files_changed=True)


def _source_changed(server: EverproofServer, path: str, change: types.FileEvent) -> None:
    """A file that is open counts as the client has it, whatever is on disk."""
    if server.documents.at_path(path) is not None:
        return
    server.converter.forget_shown()
    if change.type == types.FileChangeType.Deleted and not os.path.exists(path):
        server.results.forget(path)
        server.publisher.clear(path, change.uri)
    server.fixes.forget()
    server.scheduler.text_changed(path, check=server.settings.mode != "onDemand")


async def watch(server: EverproofServer) -> None:
    """Asks the client to report changes, if it can be asked."""
    workspace = server.client_capabilities.workspace
    if (
        workspace is None
        or workspace.did_change_watched_files is None
        or not workspace.did_change_watched_files.dynamic_registration
    ):
        return
    watchers = [types.FileSystemWatcher(pattern) for pattern in _PATTERNS]
    registration = types.Registration(
        "everproof-watched-files",
        types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
        types.DidChangeWatchedFilesRegistrationOptions(watchers),
    )
    try:
        await server.client_register_capability_async(types.RegistrationParams([registration]))
    except JsonRpcException:
        server.window_log_message(
            types.LogMessageParams(types.MessageType.Warning, "The editor does not report files that change on disk.")
        )
