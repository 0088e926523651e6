"""The variables whose pointers are followed, and where they are read later."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.cfa.addresses_taken import taken_by
from analysis.cfa.graph import Cfa
from analysis.cfa.live_variables import live
from analysis.model import ir
from analysis.model.c_types import Pointer
from analysis.model.kept_with import kept_with

_SCOPES = ("local", "parameter", "temporary")


@kept_with
def tracked(cfa: Cfa) -> frozenset[str]:
    """The names of the function's own pointer variables whose address is never taken: only its own edges change them."""
    taken = taken_by(cfa).own
    found = {part.name for parts in cfa.parts.values() for part in parts if isinstance(part, ir.Var) and _is_followed(part)}
    return frozenset(found.union(one.name for one in cfa.parameters if _is_followed(one)) - taken)


def _is_followed(variable: ir.Var) -> bool:
    return variable.scope in _SCOPES and isinstance(variable.type, Pointer)


@kept_with
def read_later(cfa: Cfa) -> Mapping[int, frozenset[str]]:
    """The tracked variables that may be read, before they are assigned, on a path from each location."""
    names = tracked(cfa)
    return {location: names & found for location, found in live(cfa).items()}
