"""What becomes of functions of which it is not known what they do (`obstructions`): each gets an edge `Unsupported` behind its
entry, with the reason, so that nothing is proved or confirmed of a run that comes there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from weakref import WeakKeyDictionary, ref

import msgspec

from analysis.cfa.building.unit import Unit
from analysis.cfa.graph import Cfa, Edge, FunctionSource, Program
from analysis.cfa.linking.obstacle_words import RETURNS
from analysis.cfa.linking.open_order import Conflict
from analysis.model import ir
from analysis.model.digest import digest_text
from analysis.model.kept_with import kept_with
from analysis.model.places import Site

MAIN = "main"

# made once for a CFA and its reasons, so that they stay the same objects as long as nothing changes
_made: WeakKeyDictionary[Cfa, tuple[tuple[bool, tuple[Conflict, ...]], Cfa]] = WeakKeyDictionary()
_closed: WeakKeyDictionary[Cfa, tuple[str, ref[Cfa]]] = WeakKeyDictionary()  # weak, as they hold the key
_shown: WeakKeyDictionary[Cfa, tuple[FunctionSource, FunctionSource]] = WeakKeyDictionary()


def initialised(units: Sequence[Unit]) -> Iterator[tuple[ir.Var, tuple[ir.Expr, ...]]]:
    """The variables with static storage of units, each with what its initial value is made of."""
    for unit in units:
        for variable in unit.variables:
            yield variable.var, (variable.initial or variable.var, *(part.value for part in variable.parts))
        for function in unit.functions:
            for static in function.statics:
                yield static.var, (static.initial, *(part.value for part in static.parts))


@kept_with
def mentions(cfa: Cfa) -> frozenset[str]:
    """The variables with static storage and functions that a function mentions."""
    return frozenset(_names_of(part for parts in cfa.parts.values() for part in parts))


def names_in(exprs: Iterable[ir.Expr]) -> Iterator[str]:
    """The variables at file level and functions in expressions."""
    return _names_of(part for expr in exprs for part in ir.walk(expr))


def _names_of(parts: Iterable[ir.Expr]) -> Iterator[str]:
    return (part.name for part in parts if type(part) is ir.Var and part.scope in ("global", "function"))


def obstructed(cfa: Cfa, reason: str, returns: bool, unordered: tuple[Conflict, ...]) -> Cfa:
    """The function with what is not understood of it, as `Obstructions` has it; the same one if there is nothing."""
    if returns or unordered:
        key = returns, unordered
        known = _made.get(cfa)
        if known is None or known[0] != key:
            known = _made[cfa] = key, _obstruct(cfa, returns, unordered)
        cfa = known[1]
    return _close(cfa, reason) if reason else cfa


def _obstruct(cfa: Cfa, returns: bool, unordered: tuple[Conflict, ...]) -> Cfa:
    reasons = {
        **dict(reversed(unordered)),
        **{e.source: RETURNS for e in cfa.incoming.get(cfa.exit, ()) if returns},
    }
    return _with_edges_behind(cfa, reasons, digest_text("obstructed", cfa.digest, str(returns), str(unordered)))


def _close(cfa: Cfa, reason: str) -> Cfa:
    """The function behind an edge that says that nothing of it is understood."""
    known = _closed.get(cfa)
    closed = known[1]() if known is not None and known[0] == reason else None
    if closed is None:
        digest = digest_text("obstructed", cfa.digest, reason)
        closed = _with_edges_behind(cfa, {cfa.entry: reason}, digest, unobstructed=cfa)
        _closed[cfa] = reason, ref(closed)
    return closed


def _with_edges_behind(cfa: Cfa, reasons: Mapping[int, str], digest: str, unobstructed: Cfa | None = None) -> Cfa:
    """The function with an edge `Unsupported` behind each of some locations, before all that leaves it."""
    location, number = cfa.next_location, cfa.next_edge
    edges = list(cfa.edges)
    inside = dict(cfa.inside)
    for source, why in reasons.items():
        for first in cfa.outgoing.get(source, ())[:1]:
            edges = [Edge(e.id, location, e.target, e.effect) if e.source == source else e for e in edges]
            edges.append(Edge(number, source, location, ir.Unsupported(why)))
            if first.id in inside:
                inside[number] = inside[first.id]
            location, number = location + 1, number + 1
    return Cfa(
        name=cfa.name,
        path=cfa.path,
        type_=cfa.type,
        parameters=cfa.parameters,
        entry=cfa.entry,
        exit_=cfa.exit,
        edges=tuple(edges),
        digest=digest,
        next_location=location,
        next_edge=number,
        blocks=cfa.blocks,
        inside=inside,
        unordered=cfa.unordered,
        unobstructed=unobstructed,
    )


def without_obstacles(program: Program) -> Program:
    """The program with its functions `unobstructed`; the very same if no function is obstructed at its entry. Only for what rests
    nothing on it: of such a function nothing is proved or confirmed."""
    if not any(map(attrgetter("unobstructed"), program.functions.values())):
        return program
    functions = {name: cfa.unobstructed or cfa for name, cfa in program.functions.items()}
    return Program(functions, program.globals, program.externals, program.records, program.address_taken)


def obstacle_before(cfa: Cfa, edge: int) -> int | None:
    """The edge that comes before this one only because the function is obstructed at its entry; None if there is none."""
    plain = cfa.unobstructed
    if plain is None or edge not in plain.by_id or plain.by_id[edge].source != plain.entry:
        return None
    return next((first.id for first in cfa.outgoing[cfa.entry] if first.id not in plain.by_id), None)


def obstructed_source(source: FunctionSource, cfa: Cfa) -> FunctionSource:
    """The source of an obstructed function: what is not understood is shown at its name, or where the expression is."""
    known = _shown.get(cfa)
    if known is None or known[0] is not source:
        added: dict[int, Site] = {}
        for edge in cfa.edges:
            if edge.id not in source.sites:
                follows = (source.sites[e.id] for e in cfa.outgoing.get(edge.target, ()) if e.id in source.sites)
                added[edge.id] = source.name_site if edge.source == cfa.entry else next(follows, source.name_site)
        known = _shown[cfa] = source, msgspec.structs.replace(source, sites={**source.sites, **added}) if added else source
    return known[1]
