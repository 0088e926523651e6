"""Where the model of an edited function answers otherwise than before.

Delta answers at an edge by its effect and by what the function's model says there: what is known, which paths hold the same
value, what the called functions write and read. An edit changes little of that. Whatever is compared here is all that `transfer`
and `call_mapping` ask of a model; what they ask of the function as a whole must be the same, or no edge is.

Where only the footprints of called functions differ, an edge answers differently only for facts that depend
on the cells that differ. These cells are its `Scope`; None stands for all facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from analysis.cfa.graph import Edge, Program
from analysis.engines.automaton.functions.footprint import unmarked
from analysis.engines.automaton.functions.function_model import FunctionModel, asks_for_failures
from analysis.engines.automaton.functions.known_conditions import Known
from analysis.engines.automaton.solver.changes import Scope
from analysis.model import ir

Differences = dict[int, Scope | None]
NO_NAMES: Scope = frozenset()


def add_differences(
    found: Differences, old: FunctionModel, new: FunctionModel, program: Program, others: Set[str], differ: Set[int]
) -> None:
    """Adds the edges at which the two models of a function do not answer alike; calls of `others` and those that are known to
    `differ` are among them."""
    if not _same_as_a_whole(old, new):
        found.update(dict.fromkeys(new.cfa.by_id))
        return
    for edge in new.cfa.edges:
        if (
            edge.id in differ
            or old.cfa.by_id.get(edge.id) != edge
            or not _same_at(old, new, edge)
            or calls_any(edge, program, others)
        ):
            found[edge.id] = None
        elif isinstance(edge.effect, ir.Call) and (names := _otherwise_called(old, new, edge)):
            merge(found, {edge.id: names})
    if is_renumbered(old, new):
        found.update(dict.fromkeys(_edges_with_environments(new) | _edges_with_environments(old)))
    add_stretches(found, (old, new))


def merge(into: Differences, more: Mapping[int, Scope | None]) -> None:
    """Adds differences to others of the same function."""
    for edge, scope in more.items():
        have = into.get(edge, NO_NAMES)
        into[edge] = None if scope is None or have is None else have | scope


def calls_any(edge: Edge, program: Program, others: Set[str]) -> bool:
    """Whether an edge calls one of these functions."""
    return isinstance(edge.effect, ir.Call) and not others.isdisjoint(program.targets(edge.effect))


def _otherwise_called(old: FunctionModel, new: FunctionModel, edge: Edge) -> Scope:
    return unmarked((old.written_by_callees(edge) ^ new.written_by_callees(edge)) | (old.sensitive(edge) ^ new.sensitive(edge)))


def _same_as_a_whole(old: FunctionModel, new: FunctionModel) -> bool:
    return (
        old.address_taken == new.address_taken
        and old.aliased == new.aliased
        and old.assignments.reassigned == new.assignments.reassigned
        and old.assignments.moving == new.assignments.moving
        and [p in old.conditions.numbers for p in old.cfa.parameters] == [p in new.conditions.numbers for p in new.cfa.parameters]
        and new.answers_like(old)
    )


def _same_at(old: FunctionModel, new: FunctionModel, edge: Edge) -> bool:
    if (
        _known(old, edge.source) != _known(new, edge.source)
        or old.cases.feasible(edge) != new.cases.feasible(edge)
        or old.cases.passes(edge) != new.cases.passes(edge)
        or old.copies.at(edge.source) != new.copies.at(edge.source)
        or old.private_at(edge) != new.private_at(edge)
        or old.copies_left_behind(edge) != new.copies_left_behind(edge)
    ):
        return False
    if asks_for_failures(edge.effect) and old.tested_paths != new.tested_paths:
        return False
    if isinstance(edge.effect, ir.Call) and edge.effect.result is not None and old.tests_result(edge) != new.tests_result(edge):
        return False
    if not _same_around(old, new, edge):
        return False
    return isinstance(edge.effect, ir.Assume) or _same_keys(old, new, edge)


def _same_around(old: FunctionModel, new: FunctionModel, edge: Edge) -> bool:
    """Whether the models say the same of what the edges around an edge make of it."""
    match edge.effect:
        case ir.Assume():
            return old.still_held(edge) == new.still_held(edge)
        case ir.Assign():
            return old.changes_nothing(edge) == new.changes_nothing(edge)
        case ir.Call():
            return old.takes_closed_number(edge) == new.takes_closed_number(edge)
    return True


def _known(model: FunctionModel, location: int) -> dict[ir.Expr, object] | None:
    """What is known at a location, under what it is known of: the numbers are the model's own."""
    known: Known | None = model.cases.known.at.get(location)
    return None if known is None else {model.conditions.keys[number]: value for number, value in known.items()}


def _same_keys(old: FunctionModel, new: FunctionModel, edge: Edge) -> bool:
    """Whether the same parts of an effect are keys of conditions. The key of a comparison need not be a part of it."""
    one, other = old.conditions.numbers, new.conditions.numbers
    parts = new.cfa.parts[edge.id]
    if any((part in one) != (part in other) for part in parts):
        return False
    return one.keys() == other.keys() or not any(isinstance(part, ir.Binary) for part in parts)


def is_renumbered(old: FunctionModel, new: FunctionModel) -> bool:
    """Whether a condition goes by another number in the new model."""
    one, other = old.conditions.numbers, new.conditions.numbers
    return any(other.get(key, number) != number for key, number in one.items())


def _edges_with_environments(model: FunctionModel) -> set[int]:
    """The edges at which facts have an environment, in which conditions go by number: calls that tell something of their result,
    and what comes next."""
    found: set[int] = set()
    for edge in model.cfa.calls:
        if isinstance(edge.effect, ir.Call) and edge.effect.result in model.conditions.numbers:
            found.add(edge.id)
            found.update(after.id for after in model.cfa.outgoing.get(edge.target, ()))
    return found


def add_stretches(found: Differences, models: Iterable[FunctionModel]) -> None:
    """Adds the edges whose derivations can stand for stretches (see `full.Delta.quiet`) with an edge of those `found` in them:
    they answer otherwise where that one does. All models, if there are two, are of the same function."""
    first, *rest = models
    places: Differences = {}
    for model in (first, *rest):
        for edge in model.cfa.edges:
            if edge.id in found:
                merge(places, {edge.source: found[edge.id]})
    for other in rest:
        several = (place for place in other.cfa.locations if first.single_entry(place) != other.single_entry(place))
        places.update(dict.fromkeys(several))
        gone = (edge.source for edge in first.cfa.edges if edge.id not in other.cfa.by_id)
        places.update(dict.fromkeys(gone))
    work = list(places)
    while work:
        place = work.pop()
        for model in (first, *rest):
            if model.single_entry(place):
                for edge in model.cfa.incoming.get(place, ()):
                    merge(found, {edge.id: places[place]})
                    before = places.get(edge.source, ())
                    merge(places, {edge.source: places[place]})
                    if before != places[edge.source]:
                        work.append(edge.source)
