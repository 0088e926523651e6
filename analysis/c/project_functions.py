"""What a project says of functions that it calls and does not define, and which declarations that can be of."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from analysis.c.functions import Argument, Function, described
from analysis.model import c_types

_NUMBER = frozenset(("n", "closed"))
_ANYTHING = frozenset(("n",))


class ProjectFunction(msgspec.Struct, frozen=True):
    """What a project says of a function: its `row`, in words that `functions.described` reads, and the numbers of the arguments
    that may not be null. `path`: the file that says so."""

    path: str
    row: str
    not_null: tuple[int, ...] = ()

    @property
    def function(self) -> Function:
        """The row as a record."""
        return described(self.row)


ProjectFunctions = Mapping[str, ProjectFunction]
"""By the names of the functions."""


def misfit(function: Function, type_: c_types.Function) -> str:
    """Why a declaration of this type is not one of the function, as a clause that begins with "it"; empty if it can be one."""
    fixed = function.arguments[:-1] if function.is_variadic else function.arguments
    if not type_.prototyped:
        return "it is declared without its parameters, or not at all"
    if len(fixed) != len(type_.parameters):
        return f"it is declared with {_counted(len(type_.parameters))}, not {len(fixed)}"
    if type_.variadic != function.is_variadic:
        return f"it is declared {'with' if type_.variadic else 'without'} further arguments"
    for number, (argument, given) in enumerate(zip(fixed, type_.parameters, strict=True), 1):
        if why := _misfit_argument(argument, given):
            return f"its argument {number} is {why}"
    return _misfit_result(function, type_)


def _counted(number: int) -> str:
    return f"{number} argument{'' if number == 1 else 's'}"


def _misfit_argument(argument: Argument, given: c_types.Type) -> str:
    if argument.uses == _ANYTHING:
        return ""
    if argument.uses == _NUMBER:
        return "" if isinstance(given, c_types.Integer) else "no descriptor"
    if not isinstance(given, c_types.Pointer):
        return "no pointer"
    is_code = isinstance(given.target, c_types.Function)
    if "code" in argument.uses:
        return "" if is_code or isinstance(given.target, c_types.Void) else "no pointer to a function"
    return "a pointer to a function" if is_code else ""


def _misfit_result(function: Function, type_: c_types.Function) -> str:
    result = type_.result
    if isinstance(result, c_types.Record | c_types.Array):
        return "it returns a structure, of which a contract says nothing"
    if function.result == "argument":
        passed = type_.parameters[function.of]
        is_alike = isinstance(result, c_types.Pointer) == isinstance(passed, c_types.Pointer)
        return "" if is_alike and not isinstance(result, c_types.Void) else "it does not return an argument"
    is_integer = function.result == "descriptor" or function.least is not None
    if is_integer and not isinstance(result, c_types.Integer):
        return "it does not return an integer"
    if isinstance(result, c_types.Integer) and not _holds_range(result, function):
        return f"it returns {result.name}, which does not hold all of {function.least} to {function.greatest}"
    if function.result in ("number", "descriptor"):
        return "it returns a pointer" if isinstance(result, c_types.Pointer) else ""
    return "" if isinstance(result, c_types.Pointer) else "it does not return a pointer"


def _holds_range(type_: c_types.Integer, function: Function) -> bool:
    """Whether an integer type has all numbers that the function is said to return: what is returned is converted to it, so that
    others come out as different numbers (C11 6.8.6.4p3)."""
    if function.least is None or function.greatest is None:
        return True
    bits = 1 if type_.name == "_Bool" else type_.bits - type_.signed
    return (-(1 << bits) if type_.signed else 0) <= function.least and function.greatest < 1 << bits
