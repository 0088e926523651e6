"""Which version of Everproof this is."""

from __future__ import annotations

from importlib.metadata import version


def everproof_version() -> str:
    """The version of the installed distribution."""
    return version("everproof")
