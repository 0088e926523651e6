"""The part of a program that some of its functions can run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from analysis.cfa.callgraph import callees
from analysis.cfa.graph import Cfa, Global, Program
from analysis.model import ir
from analysis.model.kept_with import kept_with


def names_below(program: Program, names: Iterable[str]) -> frozenset[str]:
    """These functions, those that they may call, those whose addresses any of them uses, and so on."""
    called, reached = callees(program), set[str]()
    waiting = [name for name in names if name in program.functions]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            more = (*called[name], *(_addresses_used(program.functions[name]) & program.address_taken))
            waiting += [one for one in more if one in program.functions]
    return frozenset(reached)


def part_below(program: Program, names: Iterable[str]) -> Program:
    """The program with only the functions that these can run (`names_below`), and what these functions mention."""
    inside = names_below(program, names)
    functions = {name: cfa for name, cfa in program.functions.items() if name in inside}
    mentioned = _mentioned(program, functions)
    globals_ = {name: one for name, one in program.globals.items() if name in mentioned}
    externals = {name: one for name, one in program.externals.items() if name in mentioned}
    return Program(functions, globals_, externals, program.records, program.address_taken, program.exposed)


def _mentioned(program: Program, functions: Mapping[str, Cfa]) -> frozenset[str]:
    """The names that functions mention or may call, and those in the initial values of variables among them."""
    called = callees(program)
    found = {name for function, cfa in functions.items() for name in (*_names(cfa), *called[function])}
    waiting = [name for name in found if name in program.globals]
    while waiting:
        new = _names_of_initial(program.globals[waiting.pop()]) - found
        found |= new
        waiting += [name for name in new if name in program.globals]
    return frozenset(found)


@kept_with
def _names(cfa: Cfa) -> frozenset[str]:
    return frozenset(part.name for part in _variables(cfa))


@kept_with
def _addresses_used(cfa: Cfa) -> frozenset[str]:
    return frozenset(part.name for part in _variables(cfa) if part.scope == "function")


def _variables(cfa: Cfa) -> Iterator[ir.Var]:
    return (part for found in cfa.parts.values() for part in found if isinstance(part, ir.Var))


@kept_with
def _names_of_initial(variable: Global) -> frozenset[str]:
    values = (variable.initial, *(expr for part in variable.parts for expr in ir.expressions(part)))
    return frozenset(part.name for value in values for part in ir.walk(value) if isinstance(part, ir.Var))
