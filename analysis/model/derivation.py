"""One function's part of the derivation graph, for people to look at ([ORION] section 3, Fig. 1c)."""

from __future__ import annotations

import msgspec

from analysis.model.places import Place


class EntryState(msgspec.Struct, frozen=True, gc=False):
    """A fact that the function is entered with. `callers` are the calls that enter with it, none if the program starts there;
    `summary` are the facts that it returns with."""

    fact: str
    start: bool
    callers: tuple[str, ...]
    summary: tuple[str, ...]


class Configuration(msgspec.Struct, frozen=True, gc=False):
    """A location and a fact that holds there, under one of the entry states, given by its index. `place` is what comes next."""

    location: int
    entry: int
    fact: str
    error: bool
    place: Place


class Derivation(msgspec.Struct, frozen=True, gc=False):
    """One configuration was derived from another over an edge; both are given by their indices. `by`: the
    callees whose summary it rests on. `again`: the target was known before."""

    source: int
    target: int
    effect: str
    by: tuple[str, ...]
    again: bool


class FunctionDerivations(msgspec.Struct, frozen=True, gc=False):
    """What was derived in one function. `left_out` configurations are too many to draw, with what they lead to."""

    function: str
    entries: tuple[EntryState, ...]
    configurations: tuple[Configuration, ...]
    derivations: tuple[Derivation, ...]
    left_out: int = 0
