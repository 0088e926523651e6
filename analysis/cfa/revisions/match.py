"""Identity across edits (invariant I4): gives the CFA of a new revision the ids of the old one.

The edges of both, in source order, are aligned by fingerprints of their effects, blind to layout and to the numbering of
temporaries and of local variables that share a name; these get their old numbers back where edges correspond. Aligned
edges keep their ids, and their end points too as far as that is consistent. What is new gets ids that no edge or location of the
function had before in this session: the high-water marks travel with the CFA.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache

import msgspec

from analysis.cfa.building.cfa_building import LoweredFunction
from analysis.cfa.graph import Cfa, Edge
from analysis.cfa.linking.rewrite import Renaming
from analysis.model import ir
from analysis.model.digest import encoded
from analysis.model.unordered import Unordered

_REMEMBERED = 1 << 14  # effects: most of a function are those of its last revision
_TEMPORARY = re.compile(rb"[\xa1-\xaf]\$\d+")
_LOCAL = re.compile(
    rb"\xa4name(?:[\xa1-\xbf]|\xd9.)((?>(?:(?!\xa4name)[^\xa5~]){0,255}))(?>(?:~\d{1,20}+)?)(?=\xa5scope\xa5local)", re.DOTALL
)


def fingerprint(edge: Edge) -> bytes:
    """What an edge does, whatever the numbers in the names of its variables."""
    return _LOCAL.sub(rb"\1", _TEMPORARY.sub(b"$", encoded(edge.effect)))


Align = Callable[[Cfa, Cfa], list[tuple[int, int]]]
"""Finds the edges of a new and an old revision that correspond: pairs of positions, each position once."""


def by_order(new: Cfa, old: Cfa) -> list[tuple[int, int]]:
    """Edges that do the same, in the order of the text."""
    mine, theirs = new.edges, old.edges
    start, most = 0, min(len(mine), len(theirs))
    while start < most and _does_same(mine[start], theirs[start]):
        start += 1
    end = 0
    while end < most - start and _does_same(mine[-1 - end], theirs[-1 - end]):
        end += 1
    middle = _aligned(mine[start : len(mine) - end], theirs[start : len(theirs) - end])
    return [
        *((at, at) for at in range(start)),
        *((start + at, start + before) for at, before in middle),
        *((len(mine) - end + at, len(theirs) - end + at) for at in range(end)),
    ]


def match(new: Cfa, old: Cfa, align: Align = by_order) -> Cfa:
    """`new` with the ids of `old` where they correspond. Matching again with the same `old` changes nothing."""
    if new.follows is old or new is old:
        return new
    pairs = align(new, old)
    locations = {new.entry: old.entry, new.exit: old.exit}
    given = {old.entry, old.exit}
    for at, before in pairs:
        for mine, theirs in ((new.edges[at].source, old.edges[before].source), (new.edges[at].target, old.edges[before].target)):
            if mine not in locations and theirs not in given:
                locations[mine] = theirs
                given.add(theirs)
    next_location, next_edge = old.next_location, old.next_edge
    for location in new.locations:
        if location not in locations:
            locations[location] = next_location
            next_location += 1
    ids = {at: old.edges[before].id for at, before in pairs}
    own = [numbered(edge.effect) for edge in new.edges]
    names = _names(own, [numbered(edge.effect) for edge in old.edges], pairs)
    renamed = {mine for mine, theirs in names.items() if theirs != mine}
    rename, is_hiding = Renaming(names), _hides_variables(new)
    edges: list[Edge] = []
    for at, edge in enumerate(new.edges):
        if at not in ids:
            ids[at] = next_edge
            next_edge += 1
        effect = edge.effect if not is_hiding and renamed.isdisjoint(own[at]) else rename(edge.effect)
        edges.append(Edge(ids[at], locations[edge.source], locations[edge.target], effect))
    unordered = tuple(
        Unordered(locations[group.location], rename(group.operands), locations.get(group.end, -1)) for group in new.unordered
    )
    ends = locations[new.entry], locations[new.exit]
    return new.renumbered(*ends, tuple(edges), next_location, next_edge, old, names, unordered)


def _names(new: list[Sequence[str]], old: list[Sequence[str]], pairs: list[tuple[int, int]]) -> dict[str, str]:
    """New names for the locals and temporaries that the edges of the new function name: those of the old one where edges
    correspond, else names it does not use."""
    names: dict[str, str] = {}
    for at, before in pairs:
        for mine, theirs in zip(new[at], old[before], strict=True):
            names.setdefault(mine, theirs)
    given: set[str] = set()
    for mine, theirs in list(names.items()):
        if theirs in given:
            del names[mine]
        given.add(theirs)
    used = given | {name for named in old for name in named}
    for named in new:
        for mine in named:
            if mine not in names:
                names[mine] = _fresh(mine, used) if mine in used else mine
                used.add(names[mine])
    return names


@lru_cache(_REMEMBERED)
def own_variables(effect: ir.Effect) -> Sequence[ir.Var]:
    """The local variables and temporaries in an effect, in order, with repetitions."""
    return tuple(v for e in ir.expressions(effect) for v in ir.variables(e) if v.scope in ("local", "temporary"))


@lru_cache(_REMEMBERED)
def numbered(effect: ir.Effect) -> Sequence[str]:
    """Their names."""
    return tuple(variable.name for variable in own_variables(effect))


def _hides_variables(cfa: Cfa) -> bool:
    """Whether an expression of the function names variables that are no operands: the argument list that `va_arg` reads."""
    return any(isinstance(part, ir.Unknown) and part.arguments is not None for parts in cfa.parts.values() for part in parts)


def _fresh(name: str, used: set[str]) -> str:
    stem, number = ("$", 1) if name.startswith("$") else (name.split("~")[0] + "~", 2)
    while f"{stem}{number}" in used:
        number += 1
    return f"{stem}{number}"


def match_function(new: LoweredFunction, old: LoweredFunction) -> LoweredFunction:
    """Does what `match` does, for a lowered function: its sites get the new ids, too. Keeps the old Cfa object if nothing but
    layout changed."""
    same = new.cfa.digest == old.cfa.digest and new.cfa.name == old.cfa.name
    cfa = old.cfa if same else match(new.cfa, old.cfa)
    sites = {after.id: new.source.sites[before.id] for before, after in zip(new.cfa.edges, cfa.edges, strict=True)}
    return msgspec.structs.replace(new, cfa=cfa, source=msgspec.structs.replace(new.source, sites=sites))


def _does_same(one: Edge, other: Edge) -> bool:
    return one.effect == other.effect or fingerprint(one) == fingerprint(other)


def _aligned(new: Sequence[Edge], old: Sequence[Edge]) -> Iterator[tuple[int, int]]:
    """Pairs of positions with equal fingerprints, ascending in both."""
    if new and old:
        matcher = SequenceMatcher(None, [fingerprint(e) for e in old], [fingerprint(e) for e in new], autojunk=False)
        for block in matcher.get_matching_blocks():
            yield from ((block.b + at, block.a + at) for at in range(block.size))
