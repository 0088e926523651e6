"""Whose addresses are taken (C11 6.5.3.2): of variables, of parts of them, and of functions.

An array that is used as a value counts, as its elements are pointed to then (C11 6.3.2.1p3). So does a function.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from analysis.cfa.graph import Cfa, Global
from analysis.model import ir

_TAKEN: weakref.WeakKeyDictionary[Cfa, Taken] = weakref.WeakKeyDictionary()  # most stay in the next revision


class Taken(NamedTuple):
    """The names of what a function takes the address of: its `own` parameters, locals and temporaries, variables with `static`
    storage, and `functions`."""

    own: frozenset[str]
    static: frozenset[str]
    functions: frozenset[str]


def taken_by(cfa: Cfa) -> Taken:
    """What a function takes the address of."""
    found = _TAKEN.get(cfa)
    if found is None:
        own, static, functions = set[str](), set[str](), set[str]()
        for parts in cfa.parts.values():
            for var in taken_among(parts):
                {"global": static, "function": functions}.get(var.scope, own).add(var.name)
        found = _TAKEN[cfa] = Taken(frozenset(own), frozenset(static), frozenset(functions))
    return found


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
    values = (value for one in variables for value in (one.initial, *(part.value for part in one.parts)))
    return frozenset(var.name for var in taken_in(values) if var.scope == "global")
