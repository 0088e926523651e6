"""Functions of which it is not known what they do, because of what declarations in some file say: attributes that are not
understood, definitions that may not be the ones that count, names that may be of one object, code that runs before `main`.

Each gets an edge `Unsupported` behind its entry, with the reason, so that nothing is proved or confirmed of a run that comes
there. A run that depends on a name goes through a function that mentions it. A variable whose initialiser mentions such a
name is one, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from weakref import WeakKeyDictionary, ref

import msgspec

from analysis.c.control import NEVER_RETURN_ANYWHERE
from analysis.c.linkage import Body, differ, is_decided
from analysis.cfa.building.unit import Unit
from analysis.cfa.graph import Cfa, Edge, FunctionSource, Program
from analysis.cfa.linking.labels import labelled, second_names
from analysis.cfa.linking.library_names import UNLIKE, unlike
from analysis.cfa.linking.obstacle_words import RETURNS, elsewhere
from analysis.cfa.linking.open_order import Conflict, conflicts
from analysis.cfa.linking.promises import broken
from analysis.frontend.declarations.file_level import Variable
from analysis.model import ir
from analysis.model.digest import digest_text
from analysis.model.kept_with import kept_with
from analysis.model.places import Site
from analysis.model.spelling import display_name

MAIN = "main"

# made once for a CFA and its reasons, so that they stay the same objects as long as nothing changes
_made: WeakKeyDictionary[Cfa, tuple[tuple[bool, tuple[Conflict, ...]], Cfa]] = WeakKeyDictionary()
_closed: WeakKeyDictionary[Cfa, tuple[str, ref[Cfa]]] = WeakKeyDictionary()  # weak, as they hold the key
_shown: WeakKeyDictionary[Cfa, tuple[FunctionSource, FunctionSource]] = WeakKeyDictionary()

# what the initial values of the last units mention, by identity: most units stay the same objects
_mentioned: list[dict[int, tuple[Unit, tuple[tuple[str, tuple[str, ...]], ...]]]] = [{}]


class Obstructions(msgspec.Struct, frozen=True):
    """Why functions are not understood, by linkage name; `returning` are those that may return, and are
    declared not to, or bear the name of one that never does. `unordered` are
    expressions in them that depend on an order that C leaves open."""

    reasons: dict[str, str]
    returning: frozenset[str]
    unordered: dict[str, tuple[Conflict, ...]] = {}

    def __bool__(self) -> bool:
        return bool(self.reasons or self.returning or self.unordered)


def obstructions(units: Sequence[Unit], cfas: Mapping[str, Cfa], ending: frozenset[str] = frozenset()) -> Obstructions:
    """What is not understood of the functions of a program. `ending`: external functions that never return, though no unit
    declares that."""
    ends = NEVER_RETURN_ANYWHERE.union(*(unit.level.linkage.noreturn for unit in units))
    returning = frozenset(name for name in ends if name in cfas and _may_return(cfas[name]))
    return Obstructions(_reasons(units, cfas), returning, conflicts(units, cfas, ending))


def _reasons(units: Sequence[Unit], cfas: Mapping[str, Cfa]) -> dict[str, str]:
    """Why functions are not understood, by linkage name."""
    everywhere, names = dict(_everywhere(units)), _names(units, cfas)
    starts = next((reason for unit in units for reason in unit.level.linkage.starts), None)
    here = dict(_here(units))
    reasons: dict[str, str] = {}
    if not names and not here and not everywhere and starts is None:
        return reasons
    _spread(units, names)
    for name, cfa in cfas.items():
        reason = everywhere.get(cfa.path) or names.get(name) or here.get(name) or _why_mentions(cfa, names)
        reason = reason or next((elsewhere(path, why) for path, why in everywhere.items()), None)
        if reason is None and name == MAIN and starts is not None:
            reason = f"code that runs before or after main ({starts})"
        if reason is not None:
            reasons[name] = reason
    return reasons


def _here(units: Sequence[Unit]) -> Iterator[tuple[str, str]]:
    """Why functions are not understood for what is said in their own file."""
    for unit in units:
        for reason in unit.level.linkage.here:
            yield from ((function.cfa.name, reason) for function in unit.functions)
        if unit.level.linkage.doubtful:
            yield from _in_doubt(unit)


def _in_doubt(unit: Unit) -> Iterator[tuple[str, str]]:
    """The functions of a file that mention a name of which it is not known what it stands for there."""
    doubtful = unit.level.linkage.doubtful
    for function in unit.functions:
        started = (value for one in function.statics for value in (one.initial, *(part.value for part in one.parts)))
        reason = next((_why(name, doubtful) for name in names_in(started) if name in doubtful), None)
        reason = reason or _why_mentions(function.cfa, doubtful)
        if reason is not None:
            yield function.cfa.name, reason


def _everywhere(units: Sequence[Unit]) -> Iterator[tuple[str, str]]:
    """Why nothing is proved of any function of the program: the files that have such a reason, with the first of each."""
    for unit in units:
        why = next((reason for reason in (unit.doubt, *unit.level.linkage.everywhere) if reason), None)
        if why is not None:
            yield unit.path, why


def _why_mentions(cfa: Cfa, names: Mapping[str, str]) -> str | None:
    """Why a function is not understood that mentions a name of these, each with why it is not understood itself."""
    if mentions(cfa).isdisjoint(names):
        return None
    return _why(min(names.keys() & mentions(cfa)), names)  # the same one in each process, which orders sets of names otherwise


def _why(met: str, names: Mapping[str, str]) -> str:
    return f"{display_name(met)}, which has {names[met]}"


def _may_return(cfa: Cfa) -> bool:
    return bool(cfa.incoming.get(cfa.exit))


def _names(units: Sequence[Unit], cfas: Mapping[str, Cfa]) -> dict[str, str]:
    """The names of which it is not known what they stand for, and why."""
    names: dict[str, str] = {}
    for unit in units:
        names.update(unit.level.linkage.strange)
    names.update(broken(units, cfas))
    names.update(_yielding(units))
    names.update(dict.fromkeys(unlike(units, cfas), UNLIKE))
    names.update(labelled(units, cfas))
    names.update(second_names(units))
    return names


def _yielding(units: Sequence[Unit]) -> Iterator[tuple[str, str]]:
    """The names whose definition is not known to be the one that counts."""
    yielding = {name: reason for unit in units for name, reason in unit.level.linkage.yielding.items()}
    bodies = _bodies(units, yielding)
    for name, reason in yielding.items():
        if not _is_decided(units, name, bodies.pop(name, [])):
            yield name, reason
    for name, found in bodies.items():
        if differ(found):
            yield name, "two definitions"


def _bodies(units: Sequence[Unit], yielding: Container[str]) -> dict[str, list[Body]]:
    """The definitions of functions that may yield to others, or have several."""
    names = Counter(function.cfa.name for unit in units for function in unit.functions)
    bodies: dict[str, list[Body]] = {}
    for unit in units:
        for name, digest in (
            (f.cfa.name, f.cfa.digest) for f in unit.functions if names[f.cfa.name] > 1 or f.cfa.name in yielding
        ):
            bodies.setdefault(name, []).append(Body(digest, name in unit.level.linkage.yielding))
    return bodies


def _is_decided(units: Sequence[Unit], name: str, bodies: Sequence[Body]) -> bool:
    """Whether it is known which definition counts of a name that may yield to another one. `bodies` are the functions of this
    name."""
    is_weak = any(name in unit.level.linkage.weak for unit in units)
    if not bodies:
        is_defined = any(_defines(unit.level.variables, name) for unit in units if name not in unit.level.linkage.yielding)
        return not is_weak or is_defined
    return is_decided(bodies, is_weak=is_weak)


def _defines(variables: Mapping[str, Variable], name: str) -> bool:
    """Whether a file with these variables defines that one, perhaps tentatively."""
    variable = variables.get(name)
    return variable is not None and variable.var.name == name and (variable.initial is not None or variable.tentative)


def _spread(units: Sequence[Unit], names: dict[str, str]) -> None:
    """Adds the variables whose initialisers mention names that are not understood."""
    waiting = True
    started = list(_started(units))
    while waiting:
        waiting = False
        for variable, mentioned in started:
            met = None if variable in names else next((name for name in mentioned if name in names), None)
            if met is not None:
                names[variable] = names[met]
                waiting = True


def _started(units: Sequence[Unit]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The variables of units with static storage whose initial values mention names, with these names."""
    before, _mentioned[0] = _mentioned[0], {}
    for unit in units:
        known = before.get(id(unit))
        if known is None or known[0] is not unit:
            found = ((var.name, tuple(dict.fromkeys(names_in(values)))) for var, values in initialised((unit,)))
            known = unit, tuple((name, names) for name, names in found if set(names) - {name})
        _mentioned[0][id(unit)] = known
        yield from known[1]


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


def obstructed(cfa: Cfa, found: Obstructions) -> Cfa:
    """The function with what is not understood of it; the same one if there is nothing."""
    reason, returns = found.reasons.get(cfa.name, ""), cfa.name in found.returning
    unordered = found.unordered.get(cfa.name, ())
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
    functions = {name: cfa.unobstructed or cfa for name, cfa in program.functions.items()}
    if all(functions[name] is cfa for name, cfa in program.functions.items()):
        return program
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
