"""Which static functions and variables of two programs are the same: their linkage names hold the path of a file.

Two versions of a program lie in different folders, files are renamed, functions move from file to file. So files correspond that
share the most names of functions and variables, and then the end of their paths; what is static in one of them corresponds to
what has the same name in the other. Of the rest, what has a name that nothing else has, in either program, only moved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from analysis.cfa.graph import Program

_SEPARATOR = "::"


def counterparts(new: Program, old: Program) -> dict[str, str]:
    """The old linkage name of everything in `new` that has another one in `old`; and for what is new and has a name that means
    something else in `old`, one that means nothing there. No two get the same."""
    found: dict[str, str] = {}
    kinds = zip(_names(new), _names(old), strict=True)
    with_files = [(mine, theirs) for mine, theirs in kinds if any(_SEPARATOR in name for name in mine)]
    files = _files(new, old) if with_files else {}
    for mine, theirs in with_files:
        found |= _same(mine, theirs, files)
    return found


def _names(program: Program) -> Iterator[tuple[str, ...]]:
    """Linkage names by what they can stand for: functions, and variables."""
    yield tuple(dict.fromkeys([*program.functions, *program.externals]))
    yield tuple(program.globals)


def _same(new: Iterable[str], old: Iterable[str], files: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    known = dict.fromkeys(old)
    rest: dict[str, str] = {}
    for name in new:
        path, tail = _parted(name)
        wanted = f"{files[path]}{_SEPARATOR}{tail}" if path in files else f"new {name}" if path else name
        (found if wanted in known else rest)[name] = wanted
    taken = set(found.values())
    mine_left, theirs_left = _by_tail(rest), _by_tail(name for name in known if name not in taken)
    for tail, names in mine_left.items():
        if len(names) == 1 and len(theirs_left.get(tail, ())) == 1:
            rest[names[0]] = theirs_left[tail][0]
    return {mine: other for mine, other in (found | rest).items() if mine != other}


def _by_tail(names: Iterable[str]) -> dict[str, list[str]]:
    """Static names by what is left of them without their file."""
    found: dict[str, list[str]] = {}
    for name in names:
        path, tail = _parted(name)
        if path:
            found.setdefault(tail, []).append(name)
    return found


def _parted(name: str) -> tuple[str, str]:
    """The file in a linkage name, empty if there is none, and the rest: of static locals, their function's name and theirs."""
    path, separator, tail = name.partition(_SEPARATOR)
    return (path, tail) if separator else ("", name)


def _files(new: Program, old: Program) -> dict[str, str]:
    """The old path of each file of the new program that there is one for; the best pairs first, each old path once."""
    mine, theirs = _content(new), _content(old)
    holders: dict[str, list[str]] = {}
    for path, tails in theirs.items():
        for tail in tails:
            holders.setdefault(tail, []).append(path)
    shared = Counter((path, other) for path, tails in mine.items() for tail in tails for other in holders.get(tail, ()))
    best = sorted(shared, key=lambda pair: (-shared[pair], -_common_end(*pair), pair))
    found: dict[str, str] = {}
    taken: set[str] = set()
    for path, other in best:
        if path not in found and other not in taken:
            found[path] = other
            taken.add(other)
    return found


def _content(program: Program) -> dict[str, dict[str, None]]:
    """The names that each file defines, without the file."""
    found: dict[str, dict[str, None]] = {}
    for name, cfa in program.functions.items():
        found.setdefault(cfa.path, {})[_parted(name)[1]] = None
    for name, variable in program.globals.items():
        found.setdefault(variable.path, {})[_parted(name)[1]] = None
    return found


def _common_end(one: str, other: str) -> int:
    """How many parts of two paths are the same, from the end."""
    count = 0
    for mine, theirs in zip(reversed(one.split("/")), reversed(other.split("/")), strict=False):
        if mine != theirs:
            break
        count += 1
    return count
