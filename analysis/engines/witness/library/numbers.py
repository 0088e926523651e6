"""Numbers (C11 7.22.6, 7.12) and characters (C11 7.4)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from analysis.engines.witness.arithmetic import overflow
from analysis.engines.witness.scalars import bounds_of
from analysis.model.c_types import INT, LONG_LONG, Integer, Type

if TYPE_CHECKING:
    from analysis.engines.witness.machine import Machine

Types = tuple[Type, ...]
Function = Callable[["Machine", list[Any], Types], Any]


def _absolute(type_: Integer | None) -> Function:
    def absolute(machine: Machine, arguments: list[Any], _types: Types) -> int:
        exact = type_ or machine.code.model.long
        if abs(arguments[0]) > bounds_of(exact)[1]:
            if machine.code.wraps:
                return int(arguments[0])
            overflow(f"abs({arguments[0]})", exact)
        return abs(int(arguments[0]))

    return absolute


def _of_doubles(compute: Callable[..., float]) -> Function:
    def run(_machine: Machine, arguments: list[Any], _types: Types) -> float:
        try:
            return float(compute(*arguments))
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return run


def _rounded(compute: Callable[[float], int]) -> Function:
    def run(_machine: Machine, arguments: list[Any], _types: Types) -> float:
        value = arguments[0]
        return float(value) if not math.isfinite(value) else math.copysign(float(compute(value)), value)

    return run


def _character(test: Callable[[str], bool]) -> Function:
    def run(_machine: Machine, arguments: list[Any], _types: Types) -> int:
        return int(0 <= arguments[0] < 128 and test(chr(arguments[0])))

    return run


def _lower(_machine: Machine, arguments: list[Any], _types: Types) -> int:
    value = int(arguments[0])
    return value + 32 if 65 <= value <= 90 else value


def _upper(_machine: Machine, arguments: list[Any], _types: Types) -> int:
    value = int(arguments[0])
    return value - 32 if 97 <= value <= 122 else value


MODELS: dict[str, Function] = {
    "abs": _absolute(INT),
    "labs": _absolute(None),
    "llabs": _absolute(LONG_LONG),
    "fabs": _of_doubles(abs),
    "fabsf": _of_doubles(abs),
    "sqrt": _of_doubles(math.sqrt),
    "fmod": _of_doubles(math.fmod),
    "copysign": _of_doubles(math.copysign),
    "floor": _rounded(math.floor),
    "ceil": _rounded(math.ceil),
    "trunc": _rounded(math.trunc),
    "isdigit": _character(str.isdigit),
    "isalpha": _character(str.isalpha),
    "isalnum": _character(str.isalnum),
    "isupper": _character(str.isupper),
    "islower": _character(str.islower),
    "isspace": _character(lambda c: c in " \t\n\v\f\r"),
    "isxdigit": _character(lambda c: c in "0123456789abcdefABCDEF"),
    "isprint": _character(lambda c: " " <= c <= "~"),
    "ispunct": _character(lambda c: "!" <= c <= "~" and not c.isalnum()),
    "iscntrl": _character(lambda c: c < " " or c == "\x7f"),
    "tolower": _lower,
    "toupper": _upper,
}
