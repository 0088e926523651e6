"""The delta between two revisions as text and as Graphviz, for `everproof dump delta`.

`+` is added, `-` is deleted, `~` is modified; of what is modified the second line is how it is now. Places of what is gone are
in the old revision. Edges have the ids of locations that `cfa.revisions.match` gives them: those of the old CFA, where they
correspond.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from analysis.cfa.cfa_text import effect_text, quoted
from analysis.cfa.graph import Cfa, Edge, External, Global, Places
from analysis.cfa.revisions.delta import Change, ProgramChange
from analysis.cfa.revisions.edge_delta import EdgeChange, FunctionChange, Kind
from analysis.model.c_types import Member, RecordDefinition, spell
from analysis.model.places import Place
from analysis.model.spelling import display_name, spell_expr

T = TypeVar("T")
NO_CHANGE = "no change\n"
_SIGNS: dict[Kind, str] = {"added": "+", "deleted": "-", "modified": "~"}
_COLOURS: dict[Kind, str] = {"added": "green4", "deleted": "red3", "modified": "blue3"}


def dump_delta(change: ProgramChange, old: Places, new: Places, rules: Iterable[tuple[str, Kind]] = ()) -> str:
    """One entry for each thing that changed, edges below their function; `old` and `new` are the places of the revisions, `rules`
    the names of rules that changed."""
    lines = [f"+ function {display_name(name)}{_at(new.name_place(name))}" for name in change.added]
    lines += [f"- function {display_name(name)}{_at(old.name_place(name))}" for name in change.deleted]
    for function in change.modified:
        lines += _function(function, old, new)
    lines += [f"? function {display_name(name)} does not parse in one of the versions: not compared" for name in change.unparsed]
    for variable in change.globals:
        lines += _entry("variable", variable, _variable)
    for external in change.externals:
        lines += _entry("external function", external, _external)
    for record in change.records:
        lines += _entry("record", record, _record)
    lines += [f"{_SIGNS[target.kind]} address taken of {display_name(target.name)}" for target in change.targets]
    lines += [f"{_SIGNS[kind]} rule {name}" for name, kind in rules]
    return "".join(f"{line}\n" for line in lines) or NO_CHANGE


def dot_delta(change: ProgramChange) -> str:
    """The CFAs of the modified functions for Graphviz: edges that were added are green, deleted red, modified blue (as they are
    now) and dashed (as they were). Functions that were added or deleted are boxes."""
    lines = ["digraph delta {", "  node [shape=circle];"]
    for number, function in enumerate(change.modified):
        lines += [f"  subgraph cluster_{number} {{", f"    label={quoted(display_name(function.old.name))};"]
        lines += [f"    {line}" for line in _dot_function(f"{number}.", function)]
        lines.append("  }")
    for functions, kind in ((change.added, "green4"), (change.deleted, "red3")):
        lines += [f"  {quoted(display_name(name))} [shape=box, color={kind}];" for name in functions]
    return "\n".join([*lines, "}"]) + "\n"


def _function(change: FunctionChange, old: Places, new: Places) -> Iterator[str]:
    yield f"~ function {display_name(change.old.name)}{_at(old.name_place(change.old.name), new.name_place(change.new.name))}"
    before, after = _declaration(change.old), _declaration(change.new)
    if before != after:
        yield f"    ~ {before}"
        yield f"      {after}"
    for edge in change.edges:
        place = None if edge.old is None else old.place(change.old.name, edge.old.id)
        now = None if edge.new is None else new.place(change.new.name, change.own_ids[edge.new.id])
        yield from (f"    {line}" for line in _edge(edge, place, now))


def _declaration(cfa: Cfa) -> str:
    inside = [f"{spell(p.type)} {p.name}" for p in cfa.parameters] + (["..."] if cfa.type.variadic else [])
    return f"{spell(cfa.type.result)} {display_name(cfa.name)}({', '.join(inside)})"


def _edge(change: EdgeChange, place: Place | None, now: Place | None) -> Iterator[str]:
    before = None if change.old is None else _edge_text(change.old)
    after = None if change.new is None else _edge_text(change.new)
    first, at = (after, now) if before is None else (before, place)
    yield f"{_SIGNS[change.kind]} {first}{_at(at)}"
    if before is not None and after is not None:
        yield f"  {after}{_at(now)}{'  with other types' if before == after else ''}"


def _edge_text(edge: Edge) -> str:
    return f"{edge.source} -> {edge.target}  {effect_text(edge.effect)}"


def _entry(what: str, change: Change[T], spelled: Callable[[T], str]) -> Iterator[str]:
    """The lines for a change of something that is spelled in this way."""
    texts = [spelled(thing) for thing in (change.old, change.new) if thing is not None]
    yield f"{_SIGNS[change.kind]} {what} {texts[0]}"
    if len(texts) > 1:
        yield f"  {' ' * len(what)} {texts[1]}{'  with other types' if texts[0] == texts[1] else ''}"


def _variable(variable: Global) -> str:
    value = spell_expr(variable.initial)
    if variable.parts:  # an array's or a record's initialiser: what it sets, the rest is zero
        value = "{" + ", ".join(f"{spell_expr(part.target)} = {spell_expr(part.value)}" for part in variable.parts) + "}"
    return f"{spell(variable.var.type)} {display_name(variable.var.name)} = {value}"


def _external(external: External) -> str:
    notes = ["never returns"] if external.noreturn else []
    if external.nonnull:
        notes.append(f"arguments that are not null: {', '.join(str(number + 1) for number in external.nonnull)}")
    if external.system:
        notes.append("of the system")
    if external.contract is not None:
        said = " | ".join(column.strip() or "-" for column in external.row.split("|")[1:4])
        notes.append(f"by the contract {said} in {external.contract.described}")
    return f"{display_name(external.name)}: {spell(external.type)}{''.join(f', {note}' for note in notes)}"


def _record(record: RecordDefinition) -> str:
    return f"{record.key} {{ {' '.join(_member(member) for member in record.members)} }}"


def _member(member: Member) -> str:
    bits = "" if member.bits is None else f" : {member.bits}"
    return f"{' '.join(part for part in (spell(member.type), member.name) if part)}{bits};"


def _at(old: Place | None, new: Place | None = None) -> str:
    spots = [f"{place.path}:{place.range.start.line}" for place in (old, new) if place is not None]
    return f"  ({', now '.join(dict.fromkeys(spots))})" if spots else ""


def _dot_function(prefix: str, change: FunctionChange) -> Iterator[str]:
    changed = {edge.new.id: edge for edge in change.edges if edge.new is not None}
    locations = dict.fromkeys(change.new.locations)
    for edge in change.new.edges:
        known = changed.get(edge.id)
        yield _dot_edge(prefix, edge, "black" if known is None else _COLOURS[known.kind])
    for other in change.edges:
        if other.old is not None:
            yield _dot_edge(prefix, other.old, _COLOURS[other.kind], "" if other.new is None else ", style=dashed")
            locations |= dict.fromkeys((other.old.source, other.old.target))
    for location in sorted(locations):
        shape = ", shape=doublecircle" if location == change.new.exit else ""
        yield f"{quoted(f'{prefix}{location}')} [label={location}{shape}];"


def _dot_edge(prefix: str, edge: Edge, colour: str, style: str = "") -> str:
    ends = f"{quoted(f'{prefix}{edge.source}')} -> {quoted(f'{prefix}{edge.target}')}"
    return f"{ends} [label={quoted(effect_text(edge.effect))}, color={colour}, fontcolor={colour}{style}];"
