"""What a search reads of a derivation graph, as a digest: the slice that it goes through, and the callees that come back.

An edit changes the graphs of many functions, mostly in configurations that have nothing to do with a path that was searched: the
slice that led to it is the same. A search is a function of its slice and of the models of the functions in it. So what was found
in the slice before holds for one with the same outline, as long as these models are the same. To look at a slice takes
about a fiftieth of the time of a search in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from hashlib import blake2b

from analysis.engines.automaton.feasibility.graph_slices import Slice, Via
from analysis.engines.automaton.feasibility.walk import Walk
from analysis.engines.automaton.solver.full import DerivationGraph


def are_there(graph: DerivationGraph, opened: Iterable[Via]) -> bool:
    """Whether these callees still come back in these states: an edit of what they call can take that away."""
    parts = ((graph.functions.get(callee), entry, exit_) for callee, entry, exit_ in opened)
    return all(part is not None and exit_ in part.summaries.get(entry, ()) for part, entry, exit_ in parts)


def outline(walk: Walk, part: Slice, opened: Iterable[Via]) -> str:
    """The digest of a slice and of the callees that a search has `opened`: where paths begin and go down, and what is derived
    from each configuration on the way, in the order in which searches see it. The callees `are_there`."""
    digest = blake2b(digest_size=16)

    def put(seen: object) -> None:
        digest.update(repr(seen).encode())

    def put_function(name: str, allowed: Set[int]) -> None:
        seen: list[object] = [name, walk.returning_callees(name)]
        derivations = walk.derivations
        for configuration in sorted(allowed):
            seen.append(configuration)
            for derivation in derivations(name, configuration):
                if derivation.derived in allowed:
                    seen.extend(derivation)
        put(seen)

    put((part.starts, part.complete))
    for entry in sorted(part.open):
        put(entry)
        put_function(entry[0], part.open[entry])
    for site in sorted(part.descents):
        put((site, [(edge.id, below) for edge, below in part.descents[site]]))
    for via in opened:
        put(via)
        put_function(via[0], walk.inside(via))
    return digest.hexdigest()
