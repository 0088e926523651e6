"""`vprintf` and its like (C11 7.21.6.8 to 7.21.6.14): they print as `printf` and its like do, with the arguments of a list."""

from __future__ import annotations

from typing import Any

from analysis.interpreter.library.open_results import Model
from analysis.interpreter.library.printing import MODELS as PRINTING
from analysis.interpreter.library.unknown import unknown
from analysis.interpreter.running_machine import RunningMachine
from analysis.model.c_types import Type

NAMES = frozenset(f"v{name}" for name in ("printf", "fprintf", "sprintf", "snprintf", "asprintf"))


def printing(name: str, returned: Type) -> Model:
    """What a call of one of these functions does. Of a list from outside, nothing is known, so neither of what is printed."""
    known, otherwise = PRINTING[name.removeprefix("v")], unknown(name, returned)

    def run(machine: RunningMachine, arguments: list[Any], types: tuple[Type, ...], wanted: bool) -> Any:
        found = machine.lists.pop(arguments[-1], None) if arguments else None  # the list is of no use any more (7.16p3)
        if found is None:
            return otherwise(machine, arguments, types, wanted)
        return known(machine, [*arguments[:-1], *found.values], (*types[:-1], *found.types))

    return run
