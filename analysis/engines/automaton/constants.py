"""Globals that keep the value they start with, as far as anything goes on after they get another.

A flag that a signal handler sets before it ends the program is zero everywhere else; an option that no code sets is what its
initialiser says. A global counts when it has a constant initialiser, its address is not taken, and every assignment of
something else is in a function that never returns. (Inside such a function, and what it calls, the answer is wrong; findings
there are given up for it.)
"""

from __future__ import annotations

from collections.abc import Container

from analysis.cfa.graph import Program
from analysis.engines.automaton.footprint import base_variable
from analysis.model import ir
from analysis.model.c_types import Integer, Pointer
from analysis.model.intervals import Interval


def constant_globals(program: Program, returning: Container[str]) -> dict[str, Interval]:
    """The constant globals of a program that has a `main`, by linkage name, with their values."""
    if "main" not in program.functions:
        return {}
    found = {name: interval.low for name, interval in initial_values(program).items()}
    for name, cfa in program.functions.items():
        for edge in cfa.edges:
            for expr in ir.expressions(edge.effect):
                for part in ir.walk(expr):
                    if isinstance(part, ir.AddressOf) and (var := base_variable(part.lvalue)) is not None:
                        found.pop(var.name, None)
            if name not in returning:
                continue
            match edge.effect:
                case ir.Assign(ir.Var(written), value):
                    constant = ir.strip_casts(value)
                    if not isinstance(constant, ir.IntConst) or constant.value != found.get(written):
                        found.pop(written, None)
                case ir.Call(_, _, ir.Var(written)):
                    found.pop(written, None)
    return {name: Interval(value, value, value != 0) for name, value in found.items()}


def initial_values(program: Program) -> dict[str, Interval]:
    """What the scalar globals with a constant initialiser are when the program starts, by linkage name."""
    return {
        name: Interval(value.initial.value, value.initial.value, value.initial.value != 0)
        for name, value in program.globals.items()
        if isinstance(value.initial, ir.IntConst) and isinstance(value.var.type, Integer | Pointer)
    }
