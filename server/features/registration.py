"""All features of the server."""

from __future__ import annotations

from server.app import EverproofServer
from server.features import (
    code_actions,
    code_lens,
    commands,
    completion,
    configuration,
    derivation,
    diagnostics,
    hover,
    inlay_hints,
    invariants,
    lifecycle,
    synchronization,
    watched_files,
)


def register_all(server: EverproofServer) -> None:
    """Registers every feature, in the order in which they are read about in the documentation."""
    for feature in (
        lifecycle,
        synchronization,
        diagnostics,
        hover,
        code_actions,
        code_lens,
        commands,
        completion,
        derivation,
        inlay_hints,
        invariants,
        configuration,
        watched_files,
    ):
        feature.register(server)
