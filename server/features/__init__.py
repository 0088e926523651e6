"""Implements what a client can ask for: one module for each feature, each with a `register(server)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from server.app import EverproofServer


def register_all(server: EverproofServer) -> None:
    """Registers every feature, in the order in which they are read about in the documentation."""
    from server.features import (
        code_actions,
        code_lens,
        commands,
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

    for feature in (
        lifecycle,
        synchronization,
        diagnostics,
        hover,
        code_actions,
        code_lens,
        commands,
        derivation,
        inlay_hints,
        invariants,
        configuration,
        watched_files,
    ):
        feature.register(server)
