"""What changed in one function between two revisions, edge by edge, by the alignment of `cfa.revisions.match`.

An edge that keeps its id, but not its ends or its effect, is modified. So is an edge that is gone if a new one has its ends.

Effects are compared without what depends on the position of text alone, or on the names of files: a string that is the name of
the file it is in (`__FILE__`), and beside it in a call the number of the line (`__LINE__`). An `assert` that moves is no change.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Literal, TypeVar

import msgspec

from analysis.cfa.graph import Cfa, Edge, Places
from analysis.cfa.linking.rewrite import Renaming
from analysis.cfa.revisions.match import match
from analysis.model import ir

T = TypeVar("T")
Kind = Literal["added", "deleted", "modified"]


class EdgeChange(msgspec.Struct, frozen=True):
    """An edge as it was and as it is, None for not at all. The new edge has the ids that `match` gives it."""

    old: Edge | None
    new: Edge | None

    @property
    def kind(self) -> Kind:
        """What happened to the edge."""
        return "added" if self.old is None else "deleted" if self.new is None else "modified"


class FunctionChange(msgspec.Struct, frozen=True):
    """A function that is there in both revisions, and differs: in its type, in the order of its parameters, or in these edges, in
    the order of the text.

    `new` has the ids that `match` gives it, and effects as they were lowered. `own_ids` are those that its edges have in their
    revision, by these ids. `compared` is what was compared (`aligned`).
    """

    old: Cfa
    new: Cfa
    edges: tuple[EdgeChange, ...]
    own_ids: Mapping[int, int]
    compared: tuple[Cfa, Cfa]


class Linkage(Renaming):
    """Gives static functions and variables the linkage names that they have in the old revision."""

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__()
        self.names = {name: old for name, old in names.items() if name != old}

    def __call__(self, value: T) -> T:
        """The value with these names."""
        return super().__call__(value) if self.names else value

    def _struct(self, value: msgspec.Struct) -> msgspec.Struct:
        value = super()._struct(value)
        if isinstance(value, ir.Var) and value.scope in ("global", "function"):
            return msgspec.structs.replace(value, name=self.names.get(value.name, value.name))
        return value


def function_change(old: Cfa, new: Cfa, old_places: Places, new_places: Places, linkage: Linkage) -> FunctionChange | None:
    """What differs between two revisions of a function, None if nothing does; `linkage` is for the new one."""
    if new is old or (_is_called_alike(new, old) and _is_copy(new, old, linkage)):
        return None
    plain, matched = aligned(old, new, old_places, new_places, linkage)
    shown = _with_effects(matched, {edge.id: was.effect for edge, was in zip(matched.edges, new.edges, strict=True)})
    edges = []
    for before, at in _pairs(plain, matched):
        edges.append(EdgeChange(None if before is None else old.by_id[before], None if at is None else shown.edges[at]))
    if not edges and _is_called_alike(new, old):
        return None
    own_ids = {edge.id: own.id for edge, own in zip(shown.edges, new.edges, strict=True)}
    return FunctionChange(old, shown, tuple(edges), own_ids, (plain, matched))


def aligned(old: Cfa, new: Cfa, old_places: Places, new_places: Places, linkage: Linkage) -> tuple[Cfa, Cfa]:
    """Both revisions of a function with effects that can be compared, the new one with the ids that `match` gives it. `linkage`
    is for the new one."""
    if new is old:
        return old, old
    plain = _with_effects(old, {edge.id: _comparable(old, edge, old_places) for edge in old.edges})
    return plain, match(_with_effects(new, {e.id: linkage(_comparable(new, e, new_places)) for e in new.edges}), plain)


def _is_copy(new: Cfa, old: Cfa, linkage: Linkage) -> bool:
    """Whether two CFAs are the same even without being aligned, as most functions of two versions are."""
    if new.digest == old.digest and not linkage.names:
        return True
    return (new.entry, new.exit, len(new.edges)) == (old.entry, old.exit, len(old.edges)) and all(
        (edge.source, edge.target) == (other.source, other.target) and linkage(edge.effect) == other.effect
        for edge, other in zip(new.edges, old.edges, strict=True)
    )


def _is_called_alike(new: Cfa, old: Cfa) -> bool:
    """Whether both have the same type, and parameters that go by the same names in the edges, in the same order."""
    if new.type != old.type or [one.type for one in new.parameters] != [one.type for one in old.parameters]:
        return False
    return new.parameters == old.parameters or _named_parameters(new) == _named_parameters(old)


def _named_parameters(cfa: Cfa) -> list[str]:
    """The names of the parameters that edges name; of others, nothing."""
    named = {part.name for parts in cfa.parts.values() for part in parts if isinstance(part, ir.Var)}
    return [one.name if one.name in named else "" for one in cfa.parameters]


def _pairs(old: Cfa, new: Cfa) -> Iterator[tuple[int | None, int | None]]:
    """The ids of old edges and the positions of new ones, after `match`, that differ; in the order of the text."""
    gone = {edge.id: edge for edge in old.edges if edge.id not in new.by_id}
    positions = {edge.id: at for at, edge in enumerate(new.edges)}
    found: list[tuple[tuple[int, int], int | None, int | None]] = []
    for at, edge in enumerate(new.edges):
        before = old.by_id.get(edge.id)
        if before is None:
            before = next((other for other in gone.values() if (other.source, other.target) == (edge.source, edge.target)), None)
        if before is not None:
            positions[before.id] = at
            gone.pop(before.id, None)
        if before is None or before != edge:
            found.append(((at, 0), None if before is None else before.id, at))
    last = -1
    for number, edge in enumerate(old.edges):
        if edge.id in gone:
            found.append(((last, number + 1), edge.id, None))
        last = max(last, positions.get(edge.id, -1))
    return ((before, at) for _, before, at in sorted(found, key=lambda entry: entry[0]))


def _with_effects(cfa: Cfa, effects: Mapping[int, ir.Effect]) -> Cfa:
    """The CFA with other effects of its edges, by id."""
    if all(effects[edge.id] is edge.effect for edge in cfa.edges):
        return cfa
    return cfa.with_edges(tuple(Edge(edge.id, edge.source, edge.target, effects[edge.id]) for edge in cfa.edges))


def _comparable(cfa: Cfa, edge: Edge, places: Places) -> ir.Effect:
    """The effect without the name of the file that it is in, and in a call with that name, without the number of the line."""
    effect = edge.effect
    strings = [part for e in ir.expressions(effect) for part in ir.walk(e) if isinstance(part, ir.StringConst)]
    if not strings:
        return effect
    place = places.place(cfa.name, edge.id)
    own = {_base(place.path), _base(cfa.path)}
    named = {string for string in strings if _base(string.text.strip('"')) in own}
    if not named:
        return effect
    if isinstance(effect, ir.Call) and not named.isdisjoint(map(ir.strip_casts, effect.arguments)):
        lines = range(place.range.start.line, place.range.end.line + 1)
        effect = msgspec.structs.replace(effect, arguments=tuple(_without_line(a, lines) for a in effect.arguments))
    return _WithoutFile(named)(effect)


def _base(path: str) -> str:
    return os.path.basename(path.replace("\\\\", "/"))


def _without_line(argument: ir.Expr, lines: range) -> ir.Expr:
    number = ir.strip_casts(argument)
    return ir.IntConst(0, number.type) if isinstance(number, ir.IntConst) and number.value in lines else argument


class _WithoutFile(Renaming):
    """Replaces strings that name the file they are in."""

    def __init__(self, named: set[ir.StringConst]) -> None:
        super().__init__()
        self._named = named

    def _struct(self, value: msgspec.Struct) -> msgspec.Struct:
        value = super()._struct(value)
        return ir.StringConst("__FILE__", value.type) if isinstance(value, ir.StringConst) and value in self._named else value
