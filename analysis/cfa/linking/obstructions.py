"""Functions of which it is not known what they do, because of what declarations in some file say: attributes that are not
understood, definitions that may not be the ones that count, names that may be of one object, code that runs before `main`.

A run that depends on a name goes through a function that mentions it. A variable whose initialiser mentions such a
name is one, too. `obstructed` says what becomes of these functions.

What units say beside the bodies of functions (`Said`) stays as it is in most revisions; then only functions that are others are
looked at again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from analysis.c.control import NEVER_RETURN_ANYWHERE
from analysis.c.linkage import Body, differ, is_decided
from analysis.cfa.building.unit import Unit
from analysis.cfa.graph import Cfa
from analysis.cfa.linking.labels import labelled, second_names
from analysis.cfa.linking.library_names import UNLIKE, unlike, unlike_calls
from analysis.cfa.linking.obstacle_words import elsewhere
from analysis.cfa.linking.obstructed import MAIN, initialised, mentions, names_in, obstructed
from analysis.cfa.linking.open_order import NO_ORDERS, Conflict, Orders, conflicts
from analysis.cfa.linking.promises import broken
from analysis.frontend.declarations.file_level import Variable
from analysis.model.spelling import display_name

_Started = tuple[tuple[str, tuple[str, ...]], ...]

# what the initial values of the last units mention, by identity: most units stay the same objects
_mentioned: list[dict[int, tuple[Unit, _Started]]] = [{}]


class Said(NamedTuple):
    """What the units of a program say beside the bodies of functions, and follows from which functions there are.

    `ends`: the functions that never return; `everywhere`: the files that put all in doubt, with why; `starts`: why code runs
    before or after `main`; `local`: the numbers of the units that have reasons for their own functions; `strange`, `labelled` and
    `second`: names that are not understood, with why; `unlike`: functions that are declared otherwise than the library's;
    `yielding`: names whose definition may not count, and `several` functions with several definitions; `started`: variables whose
    initial values mention names, with these."""

    ends: frozenset[str]
    everywhere: dict[str, str]
    starts: str | None
    local: tuple[int, ...]
    strange: dict[str, str]
    labelled: dict[str, str]
    second: dict[str, str]
    unlike: frozenset[str]
    pure: frozenset[str]
    const: frozenset[str]
    yielding: dict[str, str]
    several: frozenset[str]
    started: _Started


class Obstructions(NamedTuple):
    """Why functions are not understood, by linkage name; `returning` are those that may return, and are
    declared not to, or bear the name of one that never does. `unordered` are
    expressions in them that depend on an order that C leaves open.

    The other fields are for the next revision. `called`: the names of library functions that a function calls otherwise than
    they are; `undecided`: the names whose definition may not count; `named`: all names that are not understood, and `names` with
    the variables that start with them; `here`: why functions are not understood for their own file."""

    reasons: dict[str, str]
    returning: frozenset[str]
    unordered: dict[str, tuple[Conflict, ...]]
    cfas: Mapping[str, Cfa]
    said: Said
    called: dict[str, frozenset[str]]
    undecided: dict[str, str]
    named: dict[str, str]
    names: dict[str, str]
    here: dict[str, str]
    orders: Orders

    @property
    def concerned(self) -> set[str]:
        """The functions of which something is not understood."""
        return {*self.returning, *self.reasons, *self.unordered}

    def applied(self, cfa: Cfa) -> Cfa:
        """A function with what is not understood of it; the same one if there is nothing."""
        name = cfa.name
        return obstructed(cfa, self.reasons.get(name, ""), name in self.returning, self.unordered.get(name, ()))


def obstructions(
    units: Sequence[Unit],
    cfas: Mapping[str, Cfa],
    ending: frozenset[str] = frozenset(),
    last: Obstructions | None = None,
    *,
    is_alike: bool = False,
) -> Obstructions:
    """What is not understood of the functions of a program. `ending`: external functions that never return, though no unit
    declares that. `last` is the answer for the revision before. `is_alike`: the units have functions of the same names and show
    to each other what they did then, and functions with several definitions are the same."""
    orders = conflicts(units, cfas, ending, NO_ORDERS if last is None else last.orders, is_alike=is_alike)
    last = last if is_alike else None
    said = _said_by(units, cfas) if last is None else last.said
    changed = _changed(cfas, {} if last is None else last.cfas)
    called = _called_again({} if last is None else last.called, cfas, changed)
    is_decided_again = last is None or not changed.isdisjoint((*said.yielding, *said.several))
    undecided = dict(_undecided(units, said)) if last is None or is_decided_again else last.undecided
    named = _named(units, cfas, said, called.values(), undecided)
    names = last.names if last is not None and named == last.named else _spread(said.started, named)
    here = dict(_here([units[number] for number in said.local]))
    if last is not None and names == last.names and here == last.here:
        known = {name: reason for name, reason in last.reasons.items() if name not in changed}
        reasons = {**known, **dict(_reasons({name: cfas[name] for name in changed}, said, names, here))}
    else:
        reasons = dict(_reasons(cfas, said, names, here))
    returning = _returning(cfas, said)
    return Obstructions(reasons, returning, orders.conflicts, cfas, said, called, undecided, named, names, here, orders)


def _changed(cfas: Mapping[str, Cfa], before: Mapping[str, Cfa]) -> set[str]:
    return {name for name, cfa in cfas.items() if cfa is not before.get(name)}


def _called_again(last: Mapping[str, frozenset[str]], cfas: Mapping[str, Cfa], changed: Set[str]) -> dict[str, frozenset[str]]:
    """The names by which functions call library functions otherwise than these are, by function, where there are any."""
    called = {name: names for name, names in last.items() if name not in changed}
    called.update((name, names) for name in changed if (names := frozenset(unlike_calls(cfas[name]))))
    return called


def _returning(cfas: Mapping[str, Cfa], said: Said) -> frozenset[str]:
    return frozenset(name for name in said.ends if name in cfas and _may_return(cfas[name]))


def _said_by(units: Sequence[Unit], cfas: Mapping[str, Cfa]) -> Said:
    linkages = [unit.level.linkage for unit in units]
    counts = Counter(function.cfa.name for unit in units for function in unit.functions)
    strange: dict[str, str] = {}
    yielding: dict[str, str] = {}
    for linkage in linkages:
        strange.update(linkage.strange)
        yielding.update(linkage.yielding)
    return Said(
        ends=NEVER_RETURN_ANYWHERE.union(*(linkage.noreturn for linkage in linkages)),
        everywhere=dict(_everywhere(units)),
        starts=next((reason for linkage in linkages for reason in linkage.starts), None),
        local=tuple(number for number, linkage in enumerate(linkages) if linkage.here or linkage.doubtful),
        strange=strange,
        labelled=dict(labelled(units, cfas)),
        second=dict(second_names(units)),
        unlike=frozenset(name for name in unlike(units) if name not in cfas),
        pure=frozenset[str]().union(*(linkage.pure for linkage in linkages)),
        const=frozenset[str]().union(*(linkage.const for linkage in linkages)),
        yielding=yielding,
        several=frozenset(name for name, count in counts.items() if count > 1),
        started=tuple(_started(units)),
    )


def _named(
    units: Sequence[Unit],
    cfas: Mapping[str, Cfa],
    said: Said,
    called: Collection[Set[str]],
    undecided: Mapping[str, str],
) -> dict[str, str]:
    """The names of which it is not known what they stand for, and why."""
    unlike_library = said.unlike.union(name for names in called for name in names if name not in cfas)
    return {
        **said.strange,
        **dict(broken(units, cfas, said.pure, said.const)),
        **undecided,
        **dict.fromkeys(unlike_library, UNLIKE),
        **said.labelled,
        **said.second,
    }


def _reasons(cfas: Mapping[str, Cfa], said: Said, names: Mapping[str, str], here: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Why functions are not understood, by linkage name."""
    everywhere = said.everywhere
    if not names and not here and not everywhere and said.starts is None:
        return
    for name, cfa in cfas.items():
        reason = everywhere.get(cfa.path) or names.get(name) or here.get(name) or _why_mentions(cfa, names)
        reason = reason or next((elsewhere(path, why) for path, why in everywhere.items()), None)
        if reason is None and name == MAIN and said.starts is not None:
            reason = f"code that runs before or after main ({said.starts})"
        if reason is not None:
            yield name, reason


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


def _undecided(units: Sequence[Unit], said: Said) -> Iterator[tuple[str, str]]:
    """The names whose definition is not known to be the one that counts."""
    bodies = _bodies(units, said)
    for name, reason in said.yielding.items():
        if not _is_decided(units, name, bodies.pop(name, [])):
            yield name, reason
    for name, found in bodies.items():
        if differ(found):
            yield name, "two definitions"


def _bodies(units: Sequence[Unit], said: Said) -> dict[str, list[Body]]:
    """The definitions of functions that may yield to others, or have several."""
    bodies: dict[str, list[Body]] = {}
    if not said.several and not said.yielding:
        return bodies
    for unit in units:
        for function in unit.functions:
            name = function.cfa.name
            if name in said.several or name in said.yielding:
                bodies.setdefault(name, []).append(Body(function.cfa.digest, name in unit.level.linkage.yielding))
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


def _spread(started: _Started, named: Mapping[str, str]) -> dict[str, str]:
    """Names that are not understood, with the variables whose initialisers mention such names."""
    names = dict(named)
    waiting = bool(names)
    while waiting:
        waiting = False
        for variable, mentioned in started:
            met = None if variable in names else next((name for name in mentioned if name in names), None)
            if met is not None:
                names[variable] = names[met]
                waiting = True
    return names


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
