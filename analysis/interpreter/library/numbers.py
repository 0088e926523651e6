"""Numbers (C11 7.22.6, 7.12) and characters (C11 7.4)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from analysis.interpreter.arithmetic import overflow
from analysis.interpreter.running_machine import RunningMachine
from analysis.model.bit_counts import bit_count
from analysis.model.c_types import INT, LONG_LONG, Integer, Type
from analysis.model.ranges import bounds

Types = tuple[Type, ...]
Function = Callable[[RunningMachine, list[Any], Types], Any]


def _absolute(type_: Integer | None) -> Function:
    def absolute(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
        exact = type_ or machine.code.model.long
        if abs(arguments[0]) > bounds(exact)[1]:
            if machine.code.wraps:
                return int(arguments[0])
            overflow(f"abs({arguments[0]})", exact)
        return abs(int(arguments[0]))

    return absolute


def _of_doubles(compute: Callable[..., float]) -> Function:
    def run(_machine: RunningMachine, arguments: list[Any], _types: Types) -> float:
        try:
            return float(compute(*arguments))
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return run


def _rounded(compute: Callable[[float], int]) -> Function:
    def run(_machine: RunningMachine, arguments: list[Any], _types: Types) -> float:
        value = arguments[0]
        return float(value) if not math.isfinite(value) else math.copysign(float(compute(value)), value)

    return run


def _character(test: Callable[[str], bool]) -> Function:
    def run(_machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
        return int(0 <= arguments[0] < 128 and test(chr(arguments[0])))

    return run


def _lower(_machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    value = int(arguments[0])
    return value + 32 if 65 <= value <= 90 else value


def _upper(_machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    value = int(arguments[0])
    return value - 32 if 97 <= value <= 122 else value


# the tests of <ctype.h>, with their bits in the table of glibc on little-endian machines
_CLASSES: tuple[tuple[int, Callable[[str], bool]], ...] = (
    (8, str.isupper),
    (9, str.islower),
    (10, str.isalpha),
    (11, str.isdigit),
    (12, lambda c: c in "0123456789abcdefABCDEF"),
    (13, lambda c: c in " \t\n\v\f\r"),
    (14, lambda c: " " <= c <= "~"),
    (15, lambda c: "!" <= c <= "~"),
    (0, lambda c: c in " \t"),
    (1, lambda c: c < " " or c == "\x7f"),
    (2, lambda c: "!" <= c <= "~" and not c.isalnum()),
    (3, str.isalnum),
)
_FIRST_CHARACTER, _CHARACTERS = -128, 384  # what glibc's tables of characters can be indexed by


def _table(size: int, entry: Callable[[int], int]) -> Function:
    """`__ctype_b_loc` and its like: the address of a pointer to the entry of character 0 in a table, made once a run."""

    def run(machine: RunningMachine, _arguments: list[Any], _types: Types) -> int:
        entries = range(_FIRST_CHARACTER, _FIRST_CHARACTER + _CHARACTERS)
        data = b"".join((entry(character) & ((1 << 8 * size) - 1)).to_bytes(size, "little") for character in entries)
        start = machine.literal(data) - _FIRST_CHARACTER * size
        return machine.literal(start.to_bytes(machine.code.pointer_bits // 8, "little"))

    return run


def _classes(character: int) -> int:
    if not 0 <= character < 128:
        return 0
    return sum(1 << bit for bit, test in _CLASSES if test(chr(character)))


def counted(name: str) -> Function:
    """A function that counts bits; what gives no defined count is an input."""

    def run(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
        count = bit_count(name, machine.code.model)
        found = None if count is None else count.of(arguments[0])
        return int(machine.ask("result", INT, name, 0)) if found is None else found

    return run


def _test(test: Callable[[float], bool]) -> Function:
    """A macro of C11 7.12.3; compilers give 1 where it holds."""
    return lambda _machine, arguments, _types: int(test(float(arguments[0])))


_TESTS: dict[str, Callable[[float], bool]] = {"isnan": math.isnan, "isfinite": math.isfinite}


def _errno(machine: RunningMachine, _arguments: list[Any], _types: Types) -> int:
    return machine.errno()


MODELS: dict[str, Function] = {
    "__ctype_b_loc": _table(2, _classes),
    "__ctype_tolower_loc": _table(4, lambda c: c + 32 if 65 <= c <= 90 else c),
    "__ctype_toupper_loc": _table(4, lambda c: c - 32 if 97 <= c <= 122 else c),
    "__errno_location": _errno,
    **{f"__builtin_{name}": _test(test) for name, test in _TESTS.items()},
    "__builtin_isinf_sign": lambda _machine, arguments, _types: (arguments[0] == math.inf) - (arguments[0] == -math.inf),
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
