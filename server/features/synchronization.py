"""Documents opened, changed, saved and closed, and folders added and removed."""

from __future__ import annotations

from lsprotocol import types

from server.app import EverproofServer
from server.documents import path_of
from server.features import configuration


def register(server: EverproofServer) -> None:
    """Registers the handlers."""

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        document = server.documents.find(params.text_document.uri)
        if document is not None:
            server.converter.forget_shown()
            server.fixes.forget()
            server.scheduler.look_at(document.file_path)
            server.scheduler.text_changed(document.file_path, check=server.settings.mode != "onDemand")

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        document = server.documents.find(params.text_document.uri)
        if document is not None:
            edits = document.take_edits()
            server.results.edited(document.file_path, edits)
            server.ci.edited(document.file_path, edits)
            server.fixes.forget()
            server.pauses.typed(document.file_path)
            server.edits.note(document, document.take_changes())
            server.scheduler.look_at(document.file_path)
            server.scheduler.text_changed(document.file_path, check=server.settings.mode == "continuous")

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE, types.SaveOptions(include_text=False))
    def did_save(params: types.DidSaveTextDocumentParams) -> None:
        document = server.documents.find(params.text_document.uri)
        if document is not None:
            server.scheduler.saved(document.file_path, document.current_version)
            server.pauses.pause(document.file_path)
            if server.settings.mode == "onSave":
                server.scheduler.check_soon()

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        closed(server, params.text_document.uri)

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def did_change_folders(params: types.DidChangeWorkspaceFoldersParams) -> None:
        configuration.apply(server)


def closed(server: EverproofServer, uri: str) -> None:
    """The text on disk counts again. What is shown of a file outside the workspace goes away with it."""
    path = path_of(uri)
    server.forget_status(uri)
    server.converter.forget_shown()
    server.fixes.forget()
    if server.documents.at_path(path) is not None:
        return  # also open under another URI
    server.pauses.closed(path)
    checked = server.settings.mode != "onDemand"
    if not (checked and server.documents.contains(path)):
        server.results.forget(path)
        server.publisher.clear(path, uri)
    server.scheduler.text_changed(path, check=checked)
    server.send_status()
