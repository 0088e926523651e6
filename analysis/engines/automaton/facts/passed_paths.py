"""Access paths at a call: which ones of the caller and of the callee mean the same place, and which ones the call can change."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.cfa.graph import Edge
from analysis.engines.automaton.functions.access_paths import Path, path_cells, path_of, root_of
from analysis.engines.automaton.functions.footprint import addressed
from analysis.engines.automaton.functions.function_model import FunctionModel
from analysis.model import ir


def through_argument(path: Path, argument: Path | None, parameter: str) -> Path | None:
    """The callee's path to what the caller has at `path`, if the argument's value leads there."""
    if argument is None:
        return None
    if path == argument:
        return (parameter,)
    if argument[-1] == "&":
        place = argument[:-1]
        if path[: len(place)] == place:
            return (parameter, "*", *path[len(place) :])
    elif path[: len(argument)] == argument and path[len(argument)][0] == "*":
        return (parameter, *path[len(argument) :])
    return None


def apply_operations(base: Path | None, operations: Path) -> Path | None:
    """The path that leads on from a value by operations, the first of which follows the pointer."""
    if base is None or not operations:
        return base
    if base[-1] != "&":
        return (*base, *operations)
    return (*base[:-1], *operations[1:]) if operations[0] == "*" else None


def is_out_parameter(model: FunctionModel, path: Path) -> bool:
    """Whether the path is what a parameter points to, `*out`: through it null and zero go from function to function."""
    return path[0] in model.parameters and path[1:] == ("*",)


def temporaries(call: ir.Call) -> set[Path]:
    """The paths of arguments that nothing uses after the call."""
    found = (path_of(a) for a in call.arguments if isinstance(a, ir.Var) and a.scope == "temporary")
    return {path for path in found if path is not None}


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
    if path[-1] == "&" and not any(op[0] == "*" for op in path):
        return False
    return any(cell in written for cell in path_cells(path) if cell != "*")
