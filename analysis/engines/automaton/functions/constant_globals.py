"""Globals that keep the value they start with, as far as anything goes on after they get another.

A flag that a signal handler sets before it ends the program is zero everywhere else; an option that no code sets is what its
initialiser says. A global counts when it has a constant initialiser, its address is not taken, and every assignment of
something else is in a function that never returns and calls nothing that mentions the global. (Inside such a function the
answer is wrong; findings there are given up for it. But a server may do all of its work in one: what that calls is followed.)
"""

from __future__ import annotations

from collections.abc import Container, Mapping

import msgspec

from analysis.cfa.addresses_taken import taken_by
from analysis.cfa.callgraph import callees
from analysis.cfa.graph import Cfa, Program
from analysis.model import ir
from analysis.model.c_types import Integer, Pointer
from analysis.model.intervals import Interval


class Spoiled(msgspec.Struct, frozen=True):
    """What a function does to globals that ends their being constant: taking the address, and assigning (the constant, None for
    anything else). `mentions`: the globals that it reads or assigns."""

    addresses: frozenset[str]
    writes: frozenset[tuple[str, int | None]]
    mentions: frozenset[str]


def spoiled_by(cfa: Cfa) -> Spoiled:
    """What one function spoils."""
    writes = set()
    for edge in cfa.edges:
        match edge.effect:
            case ir.Assign(ir.Var(written, "global"), value):
                constant = ir.strip_casts(value)
                writes.add((written, constant.value if isinstance(constant, ir.IntConst) else None))
            case ir.Call(_, _, ir.Var(written, "global")):
                writes.add((written, None))
    named = (found for parts in cfa.parts.values() for found in parts if isinstance(found, ir.Var) and found.scope == "global")
    mentions = frozenset(found.name for found in named).union(written for written, _ in writes)
    return Spoiled(taken_by(cfa).static, frozenset(writes), mentions)


def constant_globals(
    program: Program, returning: Container[str], spoiled: Mapping[str, Spoiled], initial: Mapping[str, Interval]
) -> dict[str, Interval]:
    """The constant globals of a program that has a `main`, by linkage name, with their values; `spoiled` is by function, and
    `initial` are the `initial_values`."""
    if "main" not in program.functions:
        return {}
    found = dict(initial)
    for name, what in spoiled.items():
        for address in what.addresses:
            found.pop(address, None)
        changed = {written for written, constant in what.writes if written in found and constant != found[written].low}
        if changed and name not in returning:
            changed &= frozenset().union(*(spoiled[called].mentions for called in _called_from(program, name)))
        for written in changed:
            del found[written]
    return found


def _called_from(program: Program, function: str) -> set[str]:
    """The other functions with a body that a function leads to."""
    called, found, waiting = callees(program), set[str](), [function]
    while waiting:
        new = {name for name in called[waiting.pop()] if name in program.functions} - found
        found |= new
        waiting.extend(new)
    return found - {function}


def initial_values(program: Program) -> dict[str, Interval]:
    """What the scalar globals with a constant initialiser are when the program starts, by linkage name."""
    return {
        name: Interval(value.initial.value, value.initial.value, value.initial.value != 0)
        for name, value in program.globals.items()
        if isinstance(value.initial, ir.IntConst) and isinstance(value.var.type, Integer | Pointer)
    }
