"""All features of the server: each module beside this one is a feature."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from server import features
from server.app import EverproofServer


def names() -> list[str]:
    """The names of the features' modules, in alphabetical order."""
    return sorted(found.name for found in pkgutil.iter_modules(features.__path__) if found.name != "registration")


def register_all(server: EverproofServer) -> None:
    """Registers every feature. No two answer the same request, so that the order means nothing."""
    for name in names():
        import_module(f"{features.__name__}.{name}").register(server)
