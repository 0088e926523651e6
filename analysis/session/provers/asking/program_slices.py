"""The part of a program that decides whether a place in it can be reached, and its content.

A run to a place in a function goes through that function, through those that lead to it from an entry, through all that these
call, and perhaps through those whose addresses they use. The rest of the program could be any other. So the *slice* of a function
is the content that a task depends on: an edit outside of it changes neither the task's key nor its answer.
"""

from __future__ import annotations

import pickle
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from analysis.c.control import STARTS
from analysis.cfa.callgraph import callees
from analysis.cfa.graph import Cfa, External, Global, Program
from analysis.cfa.linking.obstructed import MAIN
from analysis.cfa.open_functions import entered_elsewhere
from analysis.cpa.obstacles.exposed_variables import exposed
from analysis.frontend.declarations.file_level import UNSEEN
from analysis.model import ir
from analysis.model.c_types import RecordDefinition
from analysis.model.digest import digest_text, digest_value

Key = TypeVar("Key")
Value = TypeVar("Value")
_FEW = 16  # slices of one program that are at hand: questions about one function, and about those beside it, follow each other
Part = Cfa | Global | External | RecordDefinition


class Content(NamedTuple):
    """A part of a program: its digest, with and without (`meaning`) the ids of locations and edges, its pickle, and the names of
    the variables and functions that it mentions."""

    digest: str
    meaning: str
    data: bytes
    names: frozenset[str]


class Slice(NamedTuple):
    """A part of a program that is a program. `digest` is that of all it consists of, ids of locations and edges included: most
    answers name them; `meaning` is the same without them. The parts are pickled by themselves, so that those that stay are not
    pickled again."""

    digest: str
    meaning: str
    entries: tuple[str, ...]
    functions: dict[str, bytes]
    globals: dict[str, bytes]
    externals: dict[str, bytes]
    records: dict[str, bytes]
    address_taken: tuple[str, ...]
    exposed: tuple[str, ...]


class Contents:
    """The contents of the parts of a program, kept from revision to revision for those that are the same objects."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[object, Content]] = {}

    def of(self, name: str, part: Part) -> Content:
        """The content of a part."""
        key = type(part).__name__, name
        known = self._known.get(key)
        if known is None or known[0] is not part:
            known = self._known[key] = part, _content(part)
        return known[1]

    def forget(self) -> None:
        """Forgets everything."""
        self._known = {}

    def keep(self, program: Program) -> None:
        """Forgets what the program does not have."""
        present: dict[str, Iterable[str]] = {
            "Cfa": program.functions,
            "Global": program.globals,
            "External": program.externals,
            "RecordDefinition": program.records,
        }
        self._known = {key: known for key, known in self._known.items() if key[1] in present[key[0]]}


class Slicer:
    """Cuts slices out of one program. `uncut`: they are all of it, so that certificates speak of the program as it is."""

    def __init__(self, program: Program, entries: Sequence[str], contents: Contents, *, uncut: bool = False) -> None:
        self.program = program
        self._uncut = uncut
        self._entries = tuple(entries)
        self._has_others = MAIN in entries and len(entries) > 1
        self._contents = contents
        self._calls = callees(program)
        self._callers: dict[str, list[str]] = {}
        for name, called in self._calls.items():
            for target in called:
                self._callers.setdefault(target, []).append(name)
        self._records = digest_text(*(contents.of(name, part).digest for name, part in program.records.items()))
        self._slices: dict[tuple[str, ...], Slice] = {}
        self._with_addresses: dict[frozenset[str], frozenset[str]] = {}

    @property
    def elsewhere(self) -> frozenset[str]:
        """The functions that other entries beside `main` lead to: the `main` of another program, or what was asked for."""
        return self._with_used(name for name in self._entries if name != MAIN) if self._has_others else frozenset()

    @property
    def _open(self) -> frozenset[str]:
        """The functions to which code that is not checked can pass pointers to all variables that are not `static`."""
        return entered_elsewhere(self.program) if MAIN in self._entries else frozenset()

    def slice(self, function: str) -> Slice:
        """The slice for the places in a function."""
        above, inside = self._inside(function)
        functions = self.program.functions
        entries = tuple(name for name in self._entries if name in above)
        key = (*entries, "", *sorted(inside))
        found = self._slices.get(key)
        if found is None:
            found = self._cut(entries, [name for name in functions if name in inside], inside, openly=entries != (MAIN,))
            _remember(self._slices, key, found)
        return found

    def below(self, function: str) -> Slice:
        """The slice for a function that is called from anywhere: the function, and all that it leads to."""
        inside = self._all if self._uncut else self._with_used([function])
        key = (function, "below", *sorted(inside))
        found = self._slices.get(key)
        if found is None:
            names = [name for name in self.program.functions if name in inside]
            found = self._cut((function,), names, inside, openly=function in self._open)
            _remember(self._slices, key, found)
        return found

    def everything(self) -> Slice:
        """All of the program."""
        return self._cut(self._entries, list(self.program.functions), self._all, openly=bool(self._open))

    def calls(self, names: Iterable[str]) -> bool:
        """Whether anything in the program calls one of these functions."""
        return any(name in self._callers for name in names)

    def _inside(self, function: str) -> tuple[set[str], frozenset[str]]:
        """The functions that lead to a function, and those with all that they call, or whose addresses these use."""
        above, functions = _reached([function, *self._starting()], self._callers), self.program.functions
        return above, self._all if self._uncut else self._with_used(name for name in above if name in functions)

    @property
    def _all(self) -> frozenset[str]:
        return frozenset((*self.program.functions, *self.program.externals))

    def led_to(self) -> frozenset[str]:
        """The functions that the entries lead to; only `main`, if it is one of them."""
        return self._with_used((MAIN,) if MAIN in self._entries else self._entries)

    def _starting(self) -> Iterable[str]:
        """Yields the functions that start threads or install handlers. There are none to add if the program begins at
        `main`, which calls them."""
        if self._entries == ("main",):
            return ()
        return (name for start in STARTS if start not in self.program.functions for name in self._callers.get(start, ()))

    def _with_used(self, start: Iterable[str]) -> frozenset[str]:
        """These functions, and those that they lead to: they are called, or their addresses are used."""
        functions = self.program.functions
        inside = _reached(start, self._calls)
        key = frozenset(inside)
        found = self._with_addresses.get(key)
        if found is None:
            more = set(inside)
            while more:
                inside |= _reached(more, self._calls)
                mentioned = self._mentioned(name for name in inside if name in functions)
                more = {name for name in mentioned & self.program.address_taken if name in functions} - inside
            found = frozenset(inside)
            _remember(self._with_addresses, key, found)
        return found

    def digest(self, functions: Iterable[str]) -> str | None:
        """The digest of these functions and of what they mention, without what they call; None if one is not there."""
        names = sorted(set(functions))
        if any(name not in self.program.functions for name in names):
            return None
        mentioned = self._mentioned(names) | {UNSEEN}
        used = [name for name in (*self.program.globals, *self.program.externals) if name in mentioned]
        return digest_text(self._records, *(self._digest(name) for name in (*names, *used)))

    def _cut(self, entries: tuple[str, ...], names: Sequence[str], inside: Iterable[str], *, openly: bool) -> Slice:
        program, contents = self.program, self._contents
        mentioned = self._mentioned(names) | frozenset(inside) | {UNSEEN}
        functions = {name: contents.of(name, program.functions[name]) for name in names}
        kept = mentioned.union(program.globals, program.externals) if self._uncut else mentioned
        globals_ = {name: contents.of(name, part) for name, part in program.globals.items() if name in kept}
        externals = {name: contents.of(name, part) for name, part in program.externals.items() if name in kept}
        taken = tuple(sorted(name for name in program.address_taken if name in functions or name in externals))
        reached = tuple(sorted(self._exposed(globals_, openly=openly)))
        found = (functions, globals_, externals)
        parts = [text for table in found for name, content in table.items() for text in (name, content.digest)]
        meanings = [text for table in found for name, content in table.items() for text in (name, content.meaning)]
        return Slice(
            digest=digest_text(self._records, *entries, "", *taken, "", *reached, "", *parts),
            meaning=digest_text(self._records, *entries, "", *taken, "", *reached, "", *meanings),
            entries=entries,
            functions={name: content.data for name, content in functions.items()},
            globals={name: content.data for name, content in globals_.items()},
            externals={name: content.data for name, content in externals.items()},
            records={name: contents.of(name, part).data for name, part in program.records.items()},
            address_taken=taken,
            exposed=reached,
        )

    def _exposed(self, variables: Collection[str], *, openly: bool) -> frozenset[str]:
        """Those of the variables that pointers from outside may lead to; `openly`: also from code that is not checked."""
        named = [name for name in variables if openly and MAIN in self._entries and "::" not in name]
        return exposed(self.program).intersection(variables).union(named)

    def _mentioned(self, functions: Iterable[str]) -> frozenset[str]:
        """The names that the functions mention, and those that the initial values of these mention, and so on."""
        program, contents = self.program, self._contents
        found = frozenset().union(*(contents.of(name, program.functions[name]).names for name in functions))
        waiting = list(found)
        while waiting:
            name = waiting.pop()
            part = program.globals.get(name)
            if part is not None:
                new = contents.of(name, part).names - found
                found |= new
                waiting.extend(new)
        return found

    def _digest(self, name: str) -> str:
        program = self.program
        part = program.functions.get(name) or program.globals.get(name) or program.externals[name]
        return self._contents.of(name, part).digest


def _remember(table: dict[Key, Value], key: Key, value: Value) -> None:
    """Keeps a value with the last few others. Each names hundreds of functions, and each function of a program can have its own:
    together they would take more memory than the program."""
    if len(table) >= _FEW:
        del table[next(iter(table))]
    table[key] = value


def _reached(start: Iterable[str], following: Mapping[str, Sequence[str]]) -> set[str]:
    reached = set(start)
    waiting = list(reached)
    while waiting:
        for name in following.get(waiting.pop(), ()):
            if name not in reached:
                reached.add(name)
                waiting.append(name)
    return reached


def _content(part: Part) -> Content:
    if isinstance(part, Cfa):
        bare = Cfa(  # what is computed from these when it is first asked for need not be sent
            name=part.name,
            path=part.path,
            type_=part.type,
            parameters=part.parameters,
            entry=part.entry,
            exit_=part.exit,
            edges=part.edges,
            digest=part.digest,
            next_location=part.next_location,
            next_edge=part.next_edge,
            blocks=part.blocks,
            inside=part.inside,
            unordered=part.unordered,
        )
        ids = ",".join(f"{edge.id}:{edge.source}:{edge.target}" for edge in part.edges)
        names = (found.name for parts in part.parts.values() for found in parts if isinstance(found, ir.Var))
        digest, meaning = (
            digest_text(part.digest, part.name, f"{part.entry} {part.exit} {ids}"),
            digest_text(part.digest, part.name),
        )
        return Content(digest, meaning, _pickled(bare), frozenset(names))
    digest = digest_value(part)
    return Content(digest, digest, _pickled(part), frozenset(_names(part)) if isinstance(part, Global) else frozenset())


def _names(variable: Global) -> Iterable[str]:
    for expr in (variable.initial, *(found for part in variable.parts for found in ir.expressions(part))):
        yield from (found.name for found in ir.walk(expr) if isinstance(found, ir.Var))


def _pickled(value: object) -> bytes:
    return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
