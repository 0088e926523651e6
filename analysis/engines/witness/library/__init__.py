"""What external functions do: those of the C library that are modelled, and all others.

A model takes the machine, the arguments' values, their types, and whether the result is wanted; it gives the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from analysis.engines.witness.library import allocation, blocks, ending, files, locks, numbers, printing, strings
from analysis.engines.witness.library.unknown import unknown
from analysis.engines.witness.scalars import converter
from analysis.model.bit_counts import bit_count
from analysis.model.c_types import DOUBLE, LP64, Floating, Integer, Pointer, Type, Void
from analysis.model.spelling import display_name
from analysis.model.verifiers import is_assumption

if TYPE_CHECKING:
    from analysis.engines.witness.machine import Machine

Model = Callable[["Machine", list[Any], tuple[Type, ...], bool], Any]

ERRORS = ending.ERRORS
SETJMP = frozenset(("setjmp", "_setjmp", "__setjmp", "sigsetjmp", "__sigsetjmp"))
_MODELS: dict[str, Callable[[Machine, list[Any], tuple[Type, ...]], Any]] = {
    **allocation.MODELS,
    **blocks.MODELS,
    **ending.MODELS,
    **files.MODELS,
    **numbers.MODELS,
    **printing.MODELS,
    **strings.MODELS,
}


def modelled(name: str, returned: Type) -> Model:
    """What a call of the external function does, where it is declared to return the type."""
    fit = _fitting(returned)
    known, asking = _MODELS.get(name), locks.MODELS.get(name)
    if is_assumption(name):
        known = ending.assumption(name)
    elif known is None and bit_count(name, LP64) is not None:
        known = numbers.counted(name)
    if known is not None:
        return lambda machine, arguments, types, _wanted: fit(machine, known(machine, arguments, types))
    if asking is not None:
        return lambda machine, arguments, types, wanted: fit(machine, asking(machine, arguments, types, wanted))
    return unknown(display_name(name), returned)


def _fitting(returned: Type) -> Callable[[Machine, Any], Any]:
    """Brings a model's result into the type that the program declares for it."""

    def fit(machine: Machine, value: Any) -> Any:
        if isinstance(returned, Void) or value is None or isinstance(value, tuple):
            return value
        source: Type = DOUBLE if isinstance(value, float) else Integer(256, True, "result")
        if isinstance(source, Integer) and isinstance(returned, Pointer):
            return value & ((1 << machine.code.pointer_bits) - 1)
        if not isinstance(returned, Integer | Floating):
            return value
        convert = converter(source, returned, machine.code.pointer_bits)
        return value if convert is None else convert(value)

    return fit
