"""Diagnostics: pushed with the version of the document, or pulled by the clients that only pull."""

from __future__ import annotations

from lsprotocol import types

from analysis.model.digest import digest_text
from server.app import EverproofServer


def register(server: EverproofServer) -> None:
    """Registers the pull; server.protocol withdraws the offer from clients that take pushed diagnostics."""

    @server.feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=False, identifier="everproof"),
    )
    async def pull(
        params: types.DocumentDiagnosticParams,
    ) -> types.RelatedFullDocumentDiagnosticReport | types.RelatedUnchangedDocumentDiagnosticReport:
        document = server.documents.find(params.text_document.uri)
        if document is None:
            return types.RelatedFullDocumentDiagnosticReport(items=[])
        if server.settings.mode == "continuous":
            await server.scheduler.caught_up(document.file_path)
        items = server.publisher.items(document.file_path)
        digest = digest_text(repr(items))
        if digest == params.previous_result_id:
            return types.RelatedUnchangedDocumentDiagnosticReport(result_id=digest)
        return types.RelatedFullDocumentDiagnosticReport(result_id=digest, items=items)
