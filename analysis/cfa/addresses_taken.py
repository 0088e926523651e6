"""Whose addresses are taken (C11 6.5.3.2): of variables, of parts of them, and of functions.

An array that is used as a value counts, as its elements are pointed to then (C11 6.3.2.1p3). So does a function.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from analysis.c.aliasing import has_room_for_address
from analysis.c.library_variables import LIBRARY_VARIABLES
from analysis.cfa.graph import Cfa, Global, Program
from analysis.model import ir
from analysis.model.c_types import Array, Record, Type
from analysis.model.kept_with import kept_with


class Taken(NamedTuple):
    """The names of what a function takes the address of: its `own` parameters, locals and temporaries, variables with `static`
    storage, and `functions`."""

    own: frozenset[str]
    static: frozenset[str]
    functions: frozenset[str]


@kept_with
def taken_by(cfa: Cfa) -> Taken:
    """What a function takes the address of."""
    own, static, functions = set[str](), set[str](), set[str]()
    for parts in cfa.parts.values():
        for var in taken_among(parts):
            {"global": static, "function": functions}.get(var.scope, own).add(var.name)
    return Taken(frozenset(own), frozenset(static), frozenset(functions))


def taken_in(exprs: Iterable[ir.Expr]) -> Iterator[ir.Var]:
    """The variables and functions whose address expressions take, or the address of a part; each as often as it is taken."""
    for expr in exprs:
        yield from taken_among(ir.walk(expr))


def taken_among(parts: Iterable[ir.Expr]) -> Iterator[ir.Var]:
    """The same for all parts of expressions, like those of `Cfa.parts`."""
    for part in parts:
        if isinstance(part, ir.AddressOf) and isinstance(root := ir.root(part.lvalue), ir.Var):
            yield root


def taken_by_initialisers(variables: Iterable[Global]) -> frozenset[str]:
    """The variables with static storage whose address initialisers hold, as far as these are kept (`Global.open`)."""
    return frozenset[str]().union(*map(_taken_by_initialiser, variables))


@kept_with
def _taken_by_initialiser(variable: Global) -> frozenset[str]:
    values = (variable.initial, *(part.value for part in variable.parts))
    return frozenset(var.name for var in taken_in(values) if var.scope == "global")


@kept_with
def pointed_statics(program: Program) -> frozenset[str]:
    """The variables with static storage that pointers may lead to, wherever these come from, as long as no other code runs: those
    whose address the program takes, and those whose address an initialiser may hold that is not known or in another file. Other
    files can name all variables that are not `static` (C11 6.2.2p4)."""
    variables = program.globals.values()
    taken = taken_by_initialisers(variables).union(*(taken_by(cfa).static for cfa in program.functions.values()))
    for one in variables:
        if isinstance(one.initial, ir.Unknown) and not one.parts and _may_hold_address(program, one.var.type, set()):
            if one.open or "::" in one.var.name:
                taken |= program.globals.keys()
            elif one.var.name not in LIBRARY_VARIABLES:
                taken |= {name for name in program.globals if "::" not in name}
    return taken


def _may_hold_address(program: Program, type_: Type, seen: set[str]) -> bool:
    """Whether an object of the type has room for an address that an initialiser gives it (C11 6.6p9)."""
    match type_:
        case Array(element):
            return _may_hold_address(program, element, seen)
        case Record(_, key) if key in program.records:
            if key in seen:
                return False
            seen.add(key)
            return any(_may_hold_address(program, member.type, seen) for member in program.records[key].members)
        case _:
            return has_room_for_address(type_)
