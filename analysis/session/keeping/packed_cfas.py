"""CFAs as structs that `analysis.store.packing` can write: for the store, and for questions that go to other machines."""

from __future__ import annotations

import msgspec

from analysis.cfa.graph import Cfa, Edge
from analysis.model import ir
from analysis.model.c_types import Function
from analysis.model.unordered import Unordered


class PackedCfa(msgspec.Struct):
    """A CFA; `edges` are the id, source and target of one edge after the other, and `effects` are theirs."""

    name: str
    path: str
    type_: Function
    parameters: tuple[ir.Var, ...]
    entry: int
    exit_: int
    edges: list[int]
    effects: list[ir.Effect]
    digest: str
    next_location: int
    next_edge: int
    blocks: dict[str, tuple[int, ...]]
    inside: dict[int, tuple[int, ...]]
    unordered: tuple[Unordered, ...]


def packed_cfa(cfa: Cfa) -> PackedCfa:
    """A CFA as a struct."""
    return PackedCfa(
        cfa.name,
        cfa.path,
        cfa.type,
        cfa.parameters,
        cfa.entry,
        cfa.exit,
        [number for edge in cfa.edges for number in (edge.id, edge.source, edge.target)],
        [edge.effect for edge in cfa.edges],
        cfa.digest,
        cfa.next_location,
        cfa.next_edge,
        dict(cfa.blocks),
        dict(cfa.inside),
        cfa.unordered,
    )


def unpacked_cfa(packed: PackedCfa) -> Cfa:
    """The CFA of a struct. Raises TypeError where there are more or fewer effects than edges."""
    edges = packed.edges
    if len(edges) != 3 * len(packed.effects):
        raise TypeError(f"{len(edges)} numbers are not those of {len(packed.effects)} edges")
    return Cfa(
        name=packed.name,
        path=packed.path,
        type_=packed.type_,
        parameters=packed.parameters,
        entry=packed.entry,
        exit_=packed.exit_,
        edges=tuple(map(Edge, edges[::3], edges[1::3], edges[2::3], packed.effects)),
        digest=packed.digest,
        next_location=packed.next_location,
        next_edge=packed.next_edge,
        blocks=packed.blocks,
        inside=packed.inside,
        unordered=packed.unordered,
    )
