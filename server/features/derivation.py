"""The command `everproof.derivation` [uri, function, line?]: one function's part of the derivation graph, for clients that draw
it. With a line, counted from 0 as in LSP, what leads there.

The answer is that of `analysis.model.derivation`, with places as `uri` and `range`; null where nothing was derived.
"""

from __future__ import annotations

from typing import Any

import msgspec
from pygls.exceptions import JsonRpcInvalidParams

from analysis.model.derivation import Configuration, FunctionDerivations
from server.app import EverproofServer
from server.convert import Converter
from server.features.commands import text_argument

DERIVATION = "everproof.derivation"


def register(server: EverproofServer) -> None:
    """Registers the command."""

    @server.command(DERIVATION)
    async def derivation(uri: Any, function: Any, line: Any = None) -> dict[str, Any] | None:
        document = server.documents.find(text_argument(DERIVATION, "uri", uri))
        name = text_argument(DERIVATION, "function", function)
        if line is not None and not (type(line) is int and line >= 0):
            raise JsonRpcInvalidParams(f"{DERIVATION}: line must be a number, 0 or more.")
        if document is None:
            return None
        derived = await server.scheduler.derivations(document.file_path, name, None if line is None else line + 1)
        return None if derived is None else payload(derived, server.converter)


def payload(derived: FunctionDerivations, converter: Converter) -> dict[str, Any]:
    """The graph as the protocol has it."""
    return {
        "function": derived.function,
        "entries": [msgspec.structs.asdict(entry) for entry in derived.entries],
        "configurations": [_configuration(configuration, converter) for configuration in derived.configurations],
        "derivations": [msgspec.structs.asdict(derivation) for derivation in derived.derivations],
        "leftOut": derived.left_out,
        "leadsTo": derived.leads_to,
    }


def _configuration(configuration: Configuration, converter: Converter) -> dict[str, Any]:
    location = converter.location(configuration.place)
    return {
        "location": configuration.location,
        "entry": configuration.entry,
        "fact": configuration.fact,
        "error": configuration.error,
        "reported": configuration.reported,
        "uri": location.uri,
        "range": location.range,
    }
