"""What the functions of a program use, directly or through what they use: variables, other functions, and records.

A header declares far more than that; none of the rest matters to what the program does. Nor do functions that a header of the
system's defines, unless one of the program's own calls them.
"""

from __future__ import annotations

from collections.abc import Set

import msgspec

from analysis.cfa.graph import Cfa, Program
from analysis.model import c_types, ir


class Used(msgspec.Struct, frozen=True):
    """Linkage names of variables and functions, and keys of records."""

    names: frozenset[str]
    records: frozenset[str]


def used_by_functions(program: Program, system: Set[str]) -> Used:
    """What any function of the program uses that is not one of the system's, given by linkage name."""
    search = _Search(program, system)
    for name, cfa in program.functions.items():
        if name not in system:
            search.look(*_parts(cfa))
    return Used(frozenset(search.names), frozenset(search.records))


def used_by(program: Program, system: Set[str], name: str) -> Used:
    """What one function of the program uses, beside what the functions that it calls do."""
    search = _Search(program, system)
    search.look(*_parts(program.functions[name]))
    return Used(frozenset(search.names), frozenset(search.records))


def _parts(cfa: Cfa) -> tuple[object, ...]:
    return (cfa.type, cfa.parameters, *(edge.effect for edge in cfa.edges))


class _Search:
    """Walks through values of the model; everything equal is looked at once."""

    def __init__(self, program: Program, system: Set[str]) -> None:
        self._program = program
        self._system = system
        self._seen: set[msgspec.Struct] = set()
        self.names: set[str] = set()
        self.records: set[str] = set()

    def look(self, *values: object) -> None:
        """Adds what occurs in the values, and in what these name."""
        waiting = list(values)
        while waiting:
            value = waiting.pop()
            if isinstance(value, tuple):
                waiting.extend(value)
            elif isinstance(value, msgspec.Struct) and value not in self._seen:
                self._seen.add(value)
                waiting.extend(getattr(value, field) for field in value.__struct_fields__)
                waiting.extend(self._named(value))

    def _named(self, value: msgspec.Struct) -> tuple[object, ...]:
        """What a variable or record stands for, if it was not met before."""
        if isinstance(value, ir.Var) and value.scope in ("global", "function") and value.name not in self.names:
            self.names.add(value.name)
            if value.name in self._system:
                return _parts(self._program.functions[value.name])
            variable = self._program.globals.get(value.name)
            external = self._program.externals.get(value.name)
            return (variable and variable.var, variable and variable.initial, external and external.type)
        if isinstance(value, c_types.Record) and value.key not in self.records:
            self.records.add(value.key)
            definition = self._program.records.get(value.key)
            return () if definition is None else tuple(member.type for member in definition.members)
        return ()
