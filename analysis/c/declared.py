"""Which declarations of a function are those of the library function of that name.

A row of the tables holds for a name. A program may declare a function of its own by the same name, and define it in a file that
is not checked: C reserves only the names of its own library, and names that begin with an underscore (C11 7.1.3).
"""

from __future__ import annotations

from collections.abc import Sequence

from analysis.c.functions import LIBRARY, Argument, Function, known
from analysis.model import c_types
from analysis.model.verifiers import CHECKS, is_assumption, is_input

_TEXTS = frozenset(("text", "format", "scan"))
_CODE = frozenset(("code", "later", "starts"))
_CLOSED = frozenset(("closed",))
_NUMBERS = _CLOSED | {"n", "size"}
_TRANSPARENT = "attribute transparent_union"
"""Stands in the key of a union that parameters of glibc's sockets have: what is passed for one is a pointer."""


def is_reserved(name: str) -> bool:
    """Whether no program may define the function, so that who declares it means the library's (C11 7.1.3)."""
    return name.startswith("_") or _is_of_c(LIBRARY.get(name))


def is_library(name: str, type_: c_types.Function) -> bool:
    """Whether a declaration outside of the system's headers means the library function all the same: its name is reserved to the
    C library, and its type is that of the library's (C11 7.1.3p1, 7.1.4p2)."""
    return _is_of_c(LIBRARY.get(name)) and agrees(name, type_)


def _is_of_c(function: Function | None) -> bool:
    return function is not None and function.described.startswith("C")


def agrees(name: str, type_: c_types.Function) -> bool:
    """Whether a declaration of this type can be that of the library function of this name: the number of arguments, which of
    them are pointers, and whether the result is one. A function without a row agrees with everything. Of a type without a
    prototype only the result is compared; `call_agrees` compares the arguments of a call."""
    function = known(name)
    if function is None:
        return True
    if not _result_agrees(function, type_.result):
        return False
    return not type_.prototyped or _fit(function, type_.parameters, variadic=type_.variadic)


def call_agrees(name: str, arguments: Sequence[c_types.Type | None]) -> bool:
    """Whether arguments of these types can be passed to the library function of this name. None stands for a type that fits."""
    function = known(name)
    return function is None or _fit(function, arguments, variadic=function.is_variadic)


def _result_agrees(function: Function, result: c_types.Type) -> bool:
    if is_input(function.name):
        return not isinstance(result, c_types.Void)
    if "or-number" in function.besides:
        return not isinstance(result, c_types.Void)
    is_number = function.result in ("number", "descriptor")
    return isinstance(result, c_types.Pointer) != is_number


def _fit(function: Function, given: Sequence[c_types.Type | None], *, variadic: bool) -> bool:
    """Whether these can be the types of all parameters, but for further ones."""
    if _takes_condition(function.name):  # any scalar is a condition (C11 7.2.1.1); some take a message, too
        most = 2 if function.name in CHECKS - {"assert"} else 1
        return 1 <= len(given) <= most and not variadic
    fixed = function.arguments[:-1] if function.is_variadic else function.arguments
    further = len(given) - len(fixed)
    if further < 0 or ((further > 0 or variadic) and not function.is_variadic):
        return False
    return all(type_ is None or _fits(one, type_) for one, type_ in zip(fixed, given, strict=False))


def _takes_condition(name: str) -> bool:
    """Whether it is a function of verifiers, or of the library, whose first argument is true or false."""
    return name in CHECKS or (is_assumption(name) and is_reserved(name))


def _fits(argument: Argument, given: c_types.Type) -> bool:
    """A number is no pointer. Text is one to characters, code is one to a function, and all others are to objects."""
    if "va" in argument.uses:
        return True
    if argument.uses <= _NUMBERS and argument.uses != _CLOSED:
        return not isinstance(given, c_types.Pointer)
    if isinstance(given, c_types.Record) and _TRANSPARENT in given.key:  # pointers of several types (GCC, "Type Attributes")
        return True
    if not isinstance(given, c_types.Pointer):
        return False
    if argument.uses & _CODE:
        return isinstance(given.target, c_types.Function | c_types.Void)
    if argument.uses & _TEXTS:
        return isinstance(given.target, c_types.Void) or (isinstance(given.target, c_types.Integer) and given.target.bits == 8)
    return not isinstance(given.target, c_types.Function)
