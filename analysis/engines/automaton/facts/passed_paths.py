"""Access paths at a call: which ones of the caller and of the callee mean the same place, and which ones the call can change."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from analysis.cfa.graph import Edge
from analysis.engines.automaton.functions.access_paths import Path, path_cells, path_of, root_of
from analysis.engines.automaton.functions.footprint import addressed
from analysis.engines.automaton.functions.function_model import FunctionModel
from analysis.model import ir


class Argument(NamedTuple):
    """What a call passes for a `parameter`: the `path` of its value, if it has one. `is_computed`: it may point into an object of
    which another path is known."""

    parameter: str
    value: ir.Expr
    path: Path | None
    is_computed: bool


@lru_cache(maxsize=10_000)
def arguments_of(call: ir.Call, parameters: tuple[ir.Var, ...]) -> tuple[Argument, ...]:
    """The arguments of a call that a function has parameters for."""
    passed = zip(parameters, call.arguments, strict=False)
    return tuple(
        Argument(one.name, value, path_of(value), isinstance(ir.strip_casts(value), ir.AddressOf | ir.Binary))
        for one, value in passed
    )


def through_argument(path: Path, argument: Path | None, parameter: str) -> Path | None:
    """The callee's path to what the caller has at `path`, if the argument's value leads there."""
    if argument is None or argument[0] != path[0]:
        return None
    if path == argument:
        return (parameter,)
    if argument[-1] == "&":
        place = argument[:-1]
        if path[: len(place)] == place:
            return (parameter, "*", *path[len(place) :])
    elif path[: len(argument)] == argument:  # behind a pointer, or a part of a record that is passed by value
        return (parameter, *path[len(argument) :])
    return None


def is_out_parameter(model: FunctionModel, path: Path) -> bool:
    """Whether the path is what a parameter points to, `*out`: through it null and zero go from function to function."""
    return path[0] in model.parameters and path[1:] == ("*",)


@lru_cache(maxsize=10_000)
def temporaries(call: ir.Call) -> frozenset[Path]:
    """The paths of arguments that nothing uses after the call."""
    found = (path_of(a) for a in call.arguments if isinstance(a, ir.Var) and a.scope == "temporary")
    return frozenset(path for path in found if path is not None)


def is_own(path: Path, edge: Edge) -> bool:
    """Whether the path is a variable of the caller's whose address is not passed: the callee cannot change it."""
    if path[-1] == "&":
        return len(path) == 2 or not any(op[0] == "*" for op in path)
    if path[0][0] == "@" or any(op[0] == "*" for op in path):
        return False
    call = edge.effect
    assert isinstance(call, ir.Call)
    return path[0] not in {root_of(var) for argument in call.arguments if (var := addressed(argument)) is not None}


def rewritten(path: Path, written: Mapping[str, object] | frozenset[str]) -> bool:
    """Whether the value at the path can change where these cells are written."""
    return any(cell in written for cell in _changing(path))


@lru_cache(maxsize=20_000)
def _changing(path: Path) -> tuple[str, ...]:
    """The cells in which a write can change the value at the path."""
    is_constant = path[-1] == "&" and not any(op[0] == "*" for op in path)
    return () if is_constant else tuple(cell for cell in path_cells(path) if cell != "*")
