"""What a search reads of a derivation graph, as a digest: the slice that it goes through, and the callees that come back.

An edit changes the graphs of many functions, mostly in configurations that have nothing to do with a path that was searched: the
slice that led to it is the same. A search is a function of its slice and of the models of the functions in it at the edges that
it came to: how far it is to the error from elsewhere follows from the graph. So what was found in the slice before holds for one
with the same outline, as long as these models are the same there. To look at a slice takes about a fiftieth of the time of a
search in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from functools import partial
from hashlib import blake2b
from typing import NamedTuple

from analysis.engines.automaton.feasibility.graph_slices import Part, Slice
from analysis.engines.automaton.feasibility.graph_view import GraphView
from analysis.engines.automaton.feasibility.kept_searches import ENTERED, Edges, all_of, bits
from analysis.engines.automaton.solver.full import DerivationGraph, Via, unpack


def are_there(graph: DerivationGraph, opened: Iterable[Via]) -> bool:
    """Whether these callees still come back in these states: an edit of what they call can take that away."""
    parts = ((graph.functions.get(callee), entry, exit_) for callee, entry, exit_ in opened)
    return all(part is not None and exit_ in part.summaries.get(entry, ()) for part, entry, exit_ in parts)


class Outline(NamedTuple):
    """The digest of a slice, the edges in it, and those of them that are in `opened` callees."""

    digest: str
    edges: Edges
    opened: Edges


def outline(view: GraphView, part: Slice, opened: Iterable[Via]) -> Outline:
    """The outline of a slice and of the callees that a search has `opened`: where paths begin and go down, what is derived from
    each configuration on the way, and over which edges, in the order in which searches see it. The callees `are_there`."""
    digest = blake2b(digest_size=16)
    edges: dict[str, int] = {}
    inside: dict[str, int] = {}
    steps = view.steps

    def put(seen: object) -> None:
        digest.update(repr(seen).encode())

    def put_function(name: str, ends: frozenset[int], allowed: Callable[[], Set[int]], edges: dict[str, int]) -> None:
        seen, passed = steps.part(name, ends, lambda: _part(view, name, allowed()))
        put((name, view.returning_callees(name)))
        digest.update(seen)
        edges[name] = edges.get(name, 0) | passed

    put((part.starts, part.complete))
    for entry in sorted(part.ends):
        put(entry)
        put_function(entry[0], part.ends[entry], partial(part.open, entry), edges)
    for site in sorted(part.descents):
        put((site, [(edge.id, below) for edge, below in part.descents[site]]))
        edges[site[0]] = edges.get(site[0], 0) | bits(edge.id for edge, _ in part.descents[site])
        edges.update((below[0], edges.get(below[0], 0) | ENTERED) for _, below in part.descents[site])
    for via in opened:
        put(via)
        put_function(via[0], frozenset((view.end(via),)), partial(view.inside, via), inside)
        inside[via[0]] |= ENTERED
    return Outline(digest.hexdigest(), all_of(edges, inside) or {}, inside)


def _part(view: GraphView, name: str, allowed: Set[int]) -> Part:
    """What is derived from these configurations of a function, as far as it leads to others of them."""
    seen: list[object] = []
    edges = set[int]()
    for configuration in sorted(allowed):
        seen.append(configuration)
        state = unpack(configuration)[2]
        for derivation in view.derivations(name, configuration):
            edge, derived, _, passed = derivation
            if derived in allowed:
                seen.extend(derivation)
                edges.add(edge)
                for chain in view.chains(name, edge, state, unpack(derived)[0]) if passed else ():
                    seen.append(chain)
                    edges.update(chain)
    return blake2b(repr(seen).encode(), digest_size=16).digest(), bits(edges)
