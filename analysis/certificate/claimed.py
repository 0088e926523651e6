"""What a certificate claims: the places that it names, which of them any run reaches, and what is left of the program.

The checker finds the places of a property itself; a certificate cannot leave one out unseen.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import msgspec

from analysis.c.control import FAILED_ASSERTIONS
from analysis.cfa.callgraph import callees
from analysis.cfa.graph import Cfa, Program
from analysis.cpa.predicates.violations import Violation
from analysis.model import ir
from analysis.model.spelling import display_name

Place = tuple[str, int]
"""A function and an edge of it."""


class Coverage(msgspec.Struct, frozen=True):
    """Of the places of a property that runs from an entry may come to, how many are claimed; and how many more there are in
    functions that nothing leads to from there."""

    claimed: int
    places: int
    elsewhere: int

    @property
    def is_whole(self) -> bool:
        """Whether none is left out."""
        return self.claimed == self.places


def coverage(program: Program, entry: str, places: Iterable[Violation], claimed: Collection[Place]) -> Coverage:
    """How much of the places of a property is claimed of runs from an entry."""
    reached, all_ = reachable(program, entry), {(place.function, place.edge) for place in places}
    there = {place for place in all_ if place[0] in reached}
    return Coverage(len(there.intersection(claimed)), len(there), len(all_) - len(there))


def reachable(program: Program, entry: str) -> frozenset[str]:
    """The functions that calls lead to from an entry, itself among them."""
    called = callees(program)
    reached, waiting = {entry}, [entry]
    while waiting:
        for name in called.get(waiting.pop(), ()):
            if name not in reached:
                reached.add(name)
                waiting.append(name)
    return frozenset(reached)


def watched(program: Program, claims: Iterable[Place]) -> Mapping[Place, frozenset[Place]]:
    """The locations that show that claimed places are reached, each with those places. A call of a function
    that ends in failure is not such a location, because the proof says that no run reaches it. The branches
    in front of it are taken instead."""
    found: dict[Place, set[Place]] = {}
    for function, number in claims:
        cfa = program.functions[function]
        edge = cfa.by_id[number]
        locations = [edge.source]
        if isinstance(edge.effect, ir.Call) and any(
            display_name(name) in FAILED_ASSERTIONS for name in program.targets(edge.effect)
        ):
            locations = _branches(cfa, edge.source)
        for location in locations:
            found.setdefault((function, location), set()).add((function, number))
    return {place: frozenset(places) for place, places in found.items()}


def _branches(cfa: Cfa, location: int) -> list[int]:
    """Where the branches in front of a location begin, with those directly in front of them (`&&` and `||` make several); the
    entry of the function, if there are none."""
    found: dict[int, None] = {}
    waiting: list[tuple[int, bool]] = [(location, False)]
    seen = set(waiting)
    while waiting:
        here, is_behind = waiting.pop()
        incoming = cfa.incoming.get(here, ())
        if not incoming and not is_behind:
            found[here] = None
        for edge in incoming:
            is_branch = isinstance(edge.effect, ir.Assume)
            if is_branch:
                found[edge.source] = None
            if (is_branch or not is_behind) and (edge.source, is_branch) not in seen:
                seen.add((edge.source, is_branch))
                waiting.append((edge.source, is_branch))
    return list(found)


def unreached(missed: Collection[object], claimed: Collection[object]) -> str:
    """A note on a proof that covers places that no run reaches; empty if all places are reached."""
    if not missed:
        return ""
    if len(missed) < len(claimed):
        return f"no run reaches {len(missed)} of the {len(claimed)} places where it could be violated"
    which = "the place" if len(claimed) == 1 else f"any of the {len(claimed)} places"
    return f"no run reaches {which} where it could be violated"
