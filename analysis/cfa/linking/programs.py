"""Files that cannot be linked to one program: which definition each of them means by a name that has several (C11 6.9p5).

Two files that define one function or variable with external linkage, such as `main`, belong to different programs. Of the files
of a folder or of a build it is not known which are linked together. But a linker needs a definition of every name that a file
mentions: so a file does not go together with another one if it mentions a name that only files define that do not.

The definitions of the first file keep the name; those of another one get `name~FILE`. Where a file goes together with several
definitions of a name that it mentions, one is taken, and the name is in doubt: nothing is proved of functions that mention it.
So is a name with a definition that gives way to that of another file (weak, inline, tentative, in a library), unless both do the
same: the other file need not be part of each program.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from analysis.c.functions import known
from analysis.cfa.building.unit import Unit
from analysis.cfa.linking.obstructed import MAIN, initialised, mentions, names_in
from analysis.model.c_types import Array, Floating, Integer, Type

IN_DOUBT = "a definition in each of several programs"
"""What is said of a name where it is not known which of its definitions counts."""


class Meant(NamedTuple):
    """What a file means by names: the linkage names that differ from what is written, and the names, as they are linked, of which
    that is not known, with the file of the definition that is taken."""

    names: Mapping[str, str] = {}
    doubtful: Mapping[str, str] = {}


class Names(NamedTuple):
    """The names with external linkage that a file defines, with a digest of what they are, those that it may define for others,
    too (tentatively, C11 6.9.2p2), and those with a definition that gives way to that of another file (`analysis.c.linkage`),
    also with a digest. `kinds`: what is known of the types of the tentative ones."""

    defined: Mapping[str, str]
    tentative: frozenset[str]
    yielding: Mapping[str, str] = {}
    kinds: Mapping[str, str] = {}

    @property
    def open(self) -> frozenset[str]:
        """The names that are defined here if no other file of the program defines them."""
        return self.tentative | self.yielding.keys()


class Several(NamedTuple):
    """The names that have several definitions which are not all the same, each with the files that define it, by number, and
    what is compared of the definitions. `alike`: functions with definitions that give way to others and do the same."""

    owners: Mapping[str, tuple[tuple[int, str], ...]] = {}
    alike: frozenset[str] = frozenset()


def names_of(unit: Unit) -> Names:
    """The names of a file."""
    yielding = dict.fromkeys(unit.level.linkage.yielding, "")
    defined = dict[str, str]()
    for function in unit.functions:
        name, digest = function.cfa.name, function.cfa.digest
        if name in yielding:
            yielding[name] = digest
        elif "::" not in name:
            defined[name] = digest
    tentative, kinds = set[str](), dict[str, str]()
    for one in unit.variables:
        if "::" not in one.var.name and one.var.name not in yielding:
            if one.initial is not None:
                defined[one.var.name] = ""
            elif one.tentative:
                tentative.add(one.var.name)
                kind = _kind(one.var.type)
                kinds.update({} if kind is None else {one.var.name: kind})
    return Names(defined, frozenset(tentative), yielding, kinds)


def _kind(type_: Type) -> str | None:
    """What two definitions of one variable have in common at least: how it is laid out, as far as that is seen without records.
    None if a file leaves that open."""
    match type_:
        case Array(_, length):
            return None if length is None else f"array of {length}"
        case Integer(bits) | Floating(bits):
            return f"{type(type_).__name__} {bits}"
    return type(type_).__name__


def apart_by_type(files: Sequence[Names]) -> list[Names]:
    """The names of files, with tentative definitions as definitions where another file has one of another kind: that is another
    program's variable (C11 6.2.7p2)."""
    kinds: dict[str, set[str]] = {}
    for file in files:
        for name, kind in file.kinds.items():
            kinds.setdefault(name, set()).add(kind)
    apart = frozenset(name for name, of in kinds.items() if len(of) > 1)
    return [_defining(file, file.tentative & apart) for file in files]


def _defining(file: Names, names: frozenset[str]) -> Names:
    if not names:
        return file
    return file._replace(defined={**file.defined, **dict.fromkeys(sorted(names), "")}, tentative=file.tentative - names)


def mentioned_in(unit: Unit) -> frozenset[str]:
    """The names that a file mentions, so that a linker needs a definition of them."""
    values = (value for var, values in initialised([unit]) for value in values if value is not var)
    return frozenset(names_in(values)).union(*(mentions(function.cfa) for function in unit.functions))


def several(files: Sequence[Names]) -> Several:
    """Which names have several definitions: with `mentioned_in`, all that `meanings` depends on besides the names themselves."""
    if sum(len(file.defined) for file in files) == len(set[str]().union(*(file.defined for file in files))):
        return Several()
    owners: dict[str, list[tuple[int, str]]] = {}
    for at, file in enumerate(files):
        for name, digest in file.defined.items():
            owners.setdefault(name, []).append((at, digest))
    found = {name: tuple(of) for name, of in owners.items() if len(of) > 1}
    later = _later(found)
    found = {name: of for name, of in found.items() if not later.isdisjoint(at for at, _ in of)}
    return Several(found, _alike(files) if found else frozenset())


def _alike(files: Sequence[Names]) -> frozenset[str]:
    digests: dict[str, set[str]] = {}
    for file in files:
        for name, digest in file.yielding.items():
            digests.setdefault(name, set()).add(digest)
    for file in files if digests else ():
        for name in file.defined.keys() & digests.keys():
            digests[name].add(file.defined[name])
    return frozenset(name for name, found in digests.items() if len(found) == 1 and "" not in found)


def _later(owners: Mapping[str, Sequence[tuple[int, str]]]) -> frozenset[int]:
    """The files that are not of the program of the first one that defines a name."""
    return frozenset(at for name, of in owners.items() for at, digest in of[1:] if _differ(name, of[0][1], digest))


def _differ(name: str, one: str, other: str) -> bool:
    """Whether two definitions cannot be of one program, by what is compared of them."""
    return name == MAIN or not one or one != other


def meanings(paths: Sequence[str], files: Sequence[Names], mentioned: Sequence[frozenset[str]], found: Several) -> list[Meant]:
    """What each file means by the names that it defines or mentions."""
    later = _later(found.owners)
    owners = {name: [at for at, _ in of] for name, of in found.owners.items()}
    apart = {at: _apart(at, files, mentioned, found) for at in sorted({at for of in owners.values() for at in of})}
    for at in sorted(later):
        elsewhere = frozenset[str]().union(*(files[other].tentative for other in apart[at]))
        owners.update((name, [at]) for name in files[at].defined if name in elsewhere and name not in owners)
    private = [
        {name: f"{name}~{path}" for name in file.defined if name in owners} if at in later else dict[str, str]()
        for at, (path, file) in enumerate(zip(paths, files, strict=True))
    ]
    found_open = _open(paths, files, apart, found.alike)
    return [
        _with_open(_meant(at, paths, files[at], mentioned[at], owners, apart, private), files[at], mentioned[at], found_open)
        for at in range(len(files))
    ]


def _open(paths: Sequence[str], files: Sequence[Names], apart: Collection[int], alike: frozenset[str]) -> Mapping[str, str]:
    """The names that a file defines, which is the value, and that have another definition in programs which it is not part of:
    one that gives way to it and does something else, or, if it is not part of all programs, one in a library."""
    gives_way = frozenset[str]().union(*(file.open for file in files)) - alike
    found = dict[str, str]()
    for at, (path, file) in enumerate(zip(paths, files, strict=True)):
        found.update((name, path) for name in file.defined if name in gives_way or (at in apart and known(name) is not None))
    return found


def _with_open(meant: Meant, file: Names, mentioned: frozenset[str], found: Mapping[str, str]) -> Meant:
    """What a file means, with those of the open names in doubt that it uses and does not define itself."""
    names = sorted((mentioned | file.open) & found.keys() - file.defined.keys())
    return Meant(meant.names, {**{meant.names.get(name, name): found[name] for name in names}, **meant.doubtful})


def _apart(owner: int, files: Sequence[Names], mentioned: Sequence[frozenset[str]], several_: Several) -> frozenset[int]:
    """The files that cannot be linked with one: they define what it defines, or mention what only such files define."""
    left: Counter[str] = Counter()
    mentioning: dict[str, list[int]] = {}
    for at, file in enumerate(files):
        left.update(file.defined.keys())
        left.update(file.tentative)
        for name in mentioned[at]:
            mentioning.setdefault(name, []).append(at)
    found = set[int]()
    for name, of in several_.owners.items():
        mine = next((digest for at, digest in of if at == owner), None)
        if mine is not None:
            found.update(at for at, digest in of if at != owner and _differ(name, mine, digest))
    waiting = sorted(found)
    while waiting:
        file = files[waiting.pop()]
        for name in (*file.defined, *file.tentative):
            left[name] -= 1
            for at in mentioning.get(name, ()) if left[name] == 0 else ():
                if at not in found and at != owner:
                    found.add(at)
                    waiting.append(at)
    return frozenset(found)


def _meant(
    at: int,
    paths: Sequence[str],
    file: Names,
    mentioned: frozenset[str],
    owners: Mapping[str, Sequence[int]],
    apart: Mapping[int, frozenset[int]],
    private: Sequence[Mapping[str, str]],
) -> Meant:
    names, doubtful = dict(private[at]), dict[str, str]()
    for name in sorted((mentioned | file.tentative) & owners.keys() - file.defined.keys()):
        possible = [owner for owner in owners[name] if at not in apart[owner]]
        if name in file.tentative and not possible:
            continue
        near = [owner for owner in possible if os.path.dirname(paths[owner]) == os.path.dirname(paths[at])]
        taken = next(iter(near or possible or owners[name]))
        linked = private[taken].get(name, name)
        if linked != name:
            names[name] = linked
        if len(possible) != 1 or name in file.tentative:
            doubtful[linked] = paths[taken]
    return Meant(names, doubtful)
