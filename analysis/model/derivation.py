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
    """A location and a fact that holds there, under one of the entry states, given by its index. `place` is what comes next.
    `reported`: it is an error that a finding is about; other errors have no feasible path, or another one stands for them."""

    location: int
    entry: int
    fact: str
    error: bool
    place: Place
    reported: bool = False


class Derivation(msgspec.Struct, frozen=True, gc=False):
    """One configuration was derived from another over an edge; both are given by their indices. `by`: the
    callees whose summary it rests on. `again`: the target was known before."""

    source: int
    target: int
    effect: str
    by: tuple[str, ...]
    again: bool


class FunctionDerivations(msgspec.Struct, frozen=True, gc=False):
    """What was derived in one function, or what leads to the configurations `leads_to`, given by their indices. `left_out`
    configurations are not among them."""

    function: str
    entries: tuple[EntryState, ...]
    configurations: tuple[Configuration, ...]
    derivations: tuple[Derivation, ...]
    left_out: int = 0
    leads_to: tuple[int, ...] = ()
