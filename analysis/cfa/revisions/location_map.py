"""CFADIFF: the locations and edges of a new program that are those of an old one ([IPA] section 4.2).

The edges are aligned in the order of the text (`match.by_order`), which needs no threshold and little time. The paper floods
similarities over pairs of locations instead (`similarity_flooding`), which is there to compare. The new program need not have
been read as an edit of the old one.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from analysis.cfa.graph import Cfa, Edge, Program
from analysis.cfa.linking.rewrite import Renaming
from analysis.cfa.revisions.counterparts import counterparts
from analysis.cfa.revisions.match import Align, by_order, match, numbered, own_variables
from analysis.model import ir

_GONE = " of before"  # no name in C has a space, so that nothing of the new program is meant


class FunctionMap(msgspec.Struct, frozen=True):
    """A function that is in both programs, with the same parameters. `locations` are those of the new one that the old one has,
    the new ids first; `aligned` are edges that correspond, also ids, and `changed` those of the new one that have no equal old
    one at the same place; `deleted` those of the old one, by its ids, which no new one is equal to. `variables` gives the new
    names of the old one's local variables that are still there; those that it does not name are called as before. `to_new` puts
    old effects into the new program's names."""

    old: Cfa
    new: Cfa
    locations: Mapping[int, int]
    aligned: Mapping[int, int]
    changed: frozenset[int]
    deleted: frozenset[int]
    variables: Mapping[str, str]
    to_new: Renaming

    @property
    def changed_at(self) -> frozenset[int]:
        """The locations of the new function where edges begin that differ."""
        place = {theirs: mine for mine, theirs in self.locations.items()}
        sources = (self.old.by_id[edge].source for edge in self.deleted)
        return frozenset((*(self.new.by_id[edge].source for edge in self.changed), *(place[at] for at in sources if at in place)))


class ProgramMap(msgspec.Struct, frozen=True):
    """What of a new program was in an old one. `functions` by new name. `linked`: the old linkage names of what has another one
    now. `globals`: variables, by new name, that are not what they were, or do not start with what they did. `records`:
    whether structures and unions are laid out as before."""

    old: Program
    new: Program
    functions: Mapping[str, FunctionMap]
    linked: Mapping[str, str]
    globals: frozenset[str]
    records: bool

    @property
    def changed_edges(self) -> int:
        """How many edges of the new program are new or not what they were, and how many of the old one are gone."""
        mapped = sum(len(one.changed) + len(one.deleted) for one in self.functions.values())
        before = {one.old.name for one in self.functions.values()}
        added = sum(len(cfa.edges) for name, cfa in self.new.functions.items() if name not in self.functions)
        return mapped + added + sum(len(cfa.edges) for name, cfa in self.old.functions.items() if name not in before)


def program_map(
    new: Program, old: Program, align: Align = by_order, renamed: Mapping[str, str] = MappingProxyType({})
) -> ProgramMap:
    """The map from a new program to an old one; `align` finds the edges that correspond in two functions. `renamed`: functions of
    the new one that are to be compared with others of the old one, whatever they are named."""
    taken = frozenset(renamed.values())
    linked = {mine: other for mine, other in counterparts(new, old).items() if other not in taken} | dict(renamed)
    back = {theirs: mine for mine, theirs in linked.items()}
    to_old = Renaming(linked=linked)
    functions: dict[str, FunctionMap] = {}
    for name, cfa in new.functions.items():
        before = old.functions.get(linked.get(name, name))
        if before is not None and to_old(cfa.parameters) == before.parameters and to_old(cfa.type) == before.type:
            functions[name] = _function_map(cfa, before, to_old, back, align)
    changed = frozenset(
        name
        for name, variable in new.globals.items()
        if not _starts_alike(to_old(variable), old.globals.get(linked.get(name, name)))
    )
    common = new.records.keys() & old.records.keys()
    records = all(new.records[key] == old.records[key] for key in common)
    return ProgramMap(old, new, functions, linked, changed, records)


def _starts_alike(one: msgspec.Struct, other: msgspec.Struct | None) -> bool:
    return other is not None and msgspec.structs.replace(one, path="") == msgspec.structs.replace(other, path="")


def _function_map(new: Cfa, old: Cfa, to_old: Renaming, back: Mapping[str, str], align: Align) -> FunctionMap:
    if not back and (new.entry, new.exit) == (old.entry, old.exit) and new.edges == old.edges:
        return _unchanged(new, old)
    matched = match(_plain(new, old, to_old, back), old, align)
    known, before = set(old.locations), old.by_id
    locations, aligned, changed, variables = {}, dict[int, int](), set[int](), dict[str, str]()
    equal: set[int] = set()
    for mine, edge in zip(new.edges, matched.edges, strict=True):
        for here, there in ((mine.source, edge.source), (mine.target, edge.target)):
            if there in known:
                locations[here] = there
        if edge.id in before:
            aligned[mine.id] = edge.id
        if before.get(edge.id) == edge:
            equal.add(edge.id)
        else:
            changed.add(mine.id)
        own = numbered(mine.effect)
        for name, theirs in zip(own, own if edge.effect is mine.effect else numbered(edge.effect), strict=True):
            variables.setdefault(theirs, name)
    locations[new.entry], locations[new.exit] = old.entry, old.exit
    present = _named(old)
    variables = {theirs: name for theirs, name in variables.items() if theirs in present}
    to_new = Renaming({name: variables.get(name, name + _GONE) for name in present}, linked=_names(old, back))
    return FunctionMap(old, new, locations, aligned, frozenset(changed), frozenset(before.keys() - equal), variables, to_new)


def _unchanged(new: Cfa, old: Cfa) -> FunctionMap:
    """The map of a function that is what it was, with the same ids."""
    locations, edges = {at: at for at in new.locations}, {edge.id: edge.id for edge in new.edges}
    return FunctionMap(old, new, locations, edges, frozenset(), frozenset(), {}, Renaming())


def _plain(new: Cfa, old: Cfa, to_old: Renaming, back: Mapping[str, str]) -> Cfa:
    """The new function with the old names of what only it has, as far as these can be guessed."""
    names = _renamed(new, old)
    if not names and not back:
        return new
    renamed = Renaming(names)
    return new.with_edges(tuple(Edge(e.id, e.source, e.target, renamed(to_old(e.effect))) for e in new.edges))


def _renamed(new: Cfa, old: Cfa) -> dict[str, str]:
    """Old names for the local variables that only the new function has: those that only the old one has, type by type in the
    order of their first use. A wrong guess costs edges that would have been the same."""
    mine, theirs = _locals(new), _locals(old)
    added = [variable for variable in mine.values() if variable.name not in theirs]
    gone = [variable for variable in theirs.values() if variable.name not in mine]
    found: dict[str, str] = {}
    for variable in added:
        other = next((one for one in gone if one.type == variable.type), None)
        if other is not None:
            gone.remove(other)
            found[variable.name] = other.name
    return found


def _locals(cfa: Cfa) -> dict[str, ir.Var]:
    """The local variables that a function names, in order."""
    return {one.name: one for edge in cfa.edges for one in own_variables(edge.effect) if one.scope == "local"}


def _names(old: Cfa, back: Mapping[str, str]) -> dict[str, str]:
    """The new linkage names of all that has another one, as far as the function names it."""
    used = {part.name for parts in old.parts.values() for part in parts if isinstance(part, ir.Var)} if back else ()
    return {name: back[name] for name in used if name in back}


def _named(cfa: Cfa) -> set[str]:
    """The names of the local variables and temporaries of a function."""
    return {one.name for edge in cfa.edges for one in own_variables(edge.effect)}
