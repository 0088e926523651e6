"""Where searches for paths see another function than before (`feasibility`).

A search asks less of a function than the Delta does: the edges that it passes, whether these can be taken, what they write, which
variables may be read where they lead, and what calls over them do. What holds of the function as a whole must be the same.
"""

from __future__ import annotations

from collections.abc import Set

from analysis.cfa.graph import Cfa, Program
from analysis.cfa.live_variables import live
from analysis.engines.automaton.feasibility.call_values import told_at_calls
from analysis.engines.automaton.feasibility.kept_searches import ENTERED, bits
from analysis.engines.automaton.functions.function_model import FunctionModel
from analysis.engines.automaton.revision.alike import calls_any, is_renumbered
from analysis.engines.automaton.solver.changes import Scope


def seen_otherwise(old: FunctionModel, new: FunctionModel, program: Program, others: Set[str]) -> int | None:
    """The edges of the old function at which searches see another one in the new (`kept_searches.Edges`): among them are calls of
    `others`. None if they do everywhere. What edges write is not compared: see `written_otherwise`."""
    if not _is_same_as_a_whole(old, new):
        return None
    one, other = old.cfa, new.cfa
    places = set[int]() if one is other else _other_places(one, other)
    differ = {
        edge.id
        for edge in one.edges
        if edge.source in places
        or edge.target in places
        or other.by_id.get(edge.id) != edge
        or calls_any(edge, program, others)
        or old.cases.feasible(edge) != new.cases.feasible(edge)
        or old.cases.passes(edge) != new.cases.passes(edge)
        or old.changes_nothing(edge) != new.changes_nothing(edge)
    }
    calls = [edge for edge in one.calls if edge.id in differ]
    differ.update(after.id for edge in calls for after in one.outgoing.get(edge.target, ()))  # what a result tells
    is_told_alike = one is other or told_at_calls(one) == told_at_calls(other)
    return bits(differ) | (0 if is_told_alike else ENTERED)


def written_otherwise(old: FunctionModel, new: FunctionModel) -> dict[int, Scope]:
    """The cells that the edges of a function write in one of its models only, by edge, for those that are in both."""
    found = {}
    for id_ in old.written.keys() & new.written.keys():
        differ = old.written[id_] ^ new.written[id_]
        differ |= old.overwritten(old.cfa.by_id[id_]) ^ new.overwritten(new.cfa.by_id[id_])
        if differ:
            found[id_] = differ
    return found


def _is_same_as_a_whole(old: FunctionModel, new: FunctionModel) -> bool:
    one, other = old.cfa, new.cfa
    return (
        (one.entry, one.exit, one.parameters, one.type) == (other.entry, other.exit, other.parameters, other.type)
        and old.address_taken == new.address_taken
        and old.aliased == new.aliased
        and old.assignments.reassigned == new.assignments.reassigned
        and not is_renumbered(old, new)
    )


def _other_places(one: Cfa, other: Cfa) -> set[int]:
    """The locations that other edges leave, or of which one edge alone enters another, or where other variables may be read."""
    before, after = live(one), live(other)
    return {place for place, names in before.items() if after.get(place) != names or _around(one, place) != _around(other, place)}


def _around(cfa: Cfa, place: int) -> tuple[list[int], int | None]:
    """The ids of the edges that leave a location, and that of the edge that enters it, if there is just one."""
    entering = cfa.incoming.get(place, ())
    return [edge.id for edge in cfa.outgoing.get(place, ())], entering[0].id if len(entering) == 1 else None
