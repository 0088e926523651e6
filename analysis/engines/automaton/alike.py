"""Which edges of an edited function still have all their answers.

Delta answers at an edge by its effect and by what the function's model says there: what is known, which paths hold the same
value, what the called functions write. An edit changes little of that. Whatever is compared here is all that `transfer` and
`calls` ask of a model; what they ask of the function as a whole must be the same, or no edge is.
"""

from __future__ import annotations

from collections.abc import Set

from analysis.cfa.graph import Edge, Program
from analysis.engines.automaton.conditions import Known
from analysis.engines.automaton.function_model import FunctionModel
from analysis.model import ir


def unchanged_edges(
    old: FunctionModel, new: FunctionModel, program: Program, touched: Set[str], differ: Set[int]
) -> frozenset[int]:
    """The ids of the edges at which the two models of a function answer alike, none of them a call of `touched` ones or among
    those that are known to `differ`."""
    if not _same_as_a_whole(old, new):
        return frozenset()
    alike = {
        edge.id
        for edge in new.cfa.edges
        if edge.id not in differ
        and (before := old.cfa.by_id.get(edge.id)) is not None
        and before == edge
        and _same_at(old, new, edge)
        and not (isinstance(edge.effect, ir.Call) and not touched.isdisjoint(program.targets(edge.effect)))
    }
    if _renumbered(old, new):
        alike -= _told_by_calls(new) | _told_by_calls(old)
    return frozenset(alike - _leading_to(old, new, alike))


def _same_as_a_whole(old: FunctionModel, new: FunctionModel) -> bool:
    return (
        old.address_taken == new.address_taken
        and old.reassigned == new.reassigned
        and old.moving == new.moving
        and [p in old.conditions.numbers for p in old.cfa.parameters] == [p in new.conditions.numbers for p in new.cfa.parameters]
        and new.answers_like(old)
    )


def _same_at(old: FunctionModel, new: FunctionModel, edge: Edge) -> bool:
    if (
        _known(old, edge.source) != _known(new, edge.source)
        or old.written[edge.id] != new.written[edge.id]
        or old.feasible(edge) != new.feasible(edge)
        or old.passes(edge) != new.passes(edge)
        or old.copies.at(edge.source) != new.copies.at(edge.source)
    ):
        return False
    if isinstance(edge.effect, ir.Call):
        if old.sensitive(edge) != new.sensitive(edge) or old.written_by_callees(edge) != new.written_by_callees(edge):
            return False
        if edge.effect.result is not None and old.tests_result(edge) != new.tests_result(edge):
            return False
    return isinstance(edge.effect, ir.Assume) or _same_keys(old, new, edge)


def _known(model: FunctionModel, location: int) -> dict[ir.Expr, object] | None:
    """What is known at a location, under what it is known of: the numbers are the model's own."""
    known: Known | None = model.known.at.get(location)
    return None if known is None else {model.conditions.keys[number]: value for number, value in known.items()}


def _same_keys(old: FunctionModel, new: FunctionModel, edge: Edge) -> bool:
    """Whether the same parts of an effect are keys of conditions. The key of a comparison need not be a part of it."""
    one, other = old.conditions.numbers, new.conditions.numbers
    parts = new.cfa.parts[edge.id]
    if any((part in one) != (part in other) for part in parts):
        return False
    return one.keys() == other.keys() or not any(isinstance(part, ir.Binary) for part in parts)


def _renumbered(old: FunctionModel, new: FunctionModel) -> bool:
    one, other = old.conditions.numbers, new.conditions.numbers
    return any(other.get(key, number) != number for key, number in one.items())


def _told_by_calls(model: FunctionModel) -> set[int]:
    """The edges at which facts have an environment, in which conditions go by number: calls that tell something of their result,
    and what comes next."""
    found: set[int] = set()
    for edge in model.cfa.calls:
        if isinstance(edge.effect, ir.Call) and edge.effect.result in model.conditions.numbers:
            found.add(edge.id)
            found.update(after.id for after in model.cfa.outgoing.get(edge.target, ()))
    return found


def _leading_to(old: FunctionModel, new: FunctionModel, alike: set[int]) -> set[int]:
    """The edges whose derivations can stand for stretches (see `full.Delta.quiet`) with an edge in them that is not alike."""
    places = {edge.source for model in (old, new) for edge in model.cfa.edges if edge.id not in alike}
    places.update(place for place in new.cfa.locations if old.single_entry(place) != new.single_entry(place))
    work, found = list(places), set[int]()
    while work:
        place = work.pop()
        for model in (old, new):
            if model.single_entry(place):
                for edge in model.cfa.incoming.get(place, ()):
                    found.add(edge.id)
                    if edge.source not in places:
                        places.add(edge.source)
                        work.append(edge.source)
    return found
