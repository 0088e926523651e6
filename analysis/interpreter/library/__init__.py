"""Executes calls of external functions: models of C library functions, and one for all others.

A model takes the machine, the arguments' values, their types, and whether the result is wanted. It
returns the result.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from analysis.c.functions import known
from analysis.interpreter.halting import EndError
from analysis.interpreter.library import (
    allocation,
    blocks,
    descriptors,
    ending,
    files,
    listed_printing,
    locks,
    numbers,
    printing,
    reading,
    scanning,
    strings,
)
from analysis.interpreter.library.open_results import Compared, Model, noting_open
from analysis.interpreter.library.unknown import unknown
from analysis.interpreter.outcome import Stuck
from analysis.interpreter.running_machine import RunningMachine
from analysis.interpreter.scalars import converter
from analysis.model.bit_counts import bit_count
from analysis.model.c_types import DOUBLE, LP64, Floating, Integer, Pointer, Type, Void
from analysis.model.spelling import display_name
from analysis.model.verifiers import is_assumption

_MODELS: dict[str, Callable[[RunningMachine, list[Any], tuple[Type, ...]], Any]] = {
    **allocation.MODELS,
    **blocks.MODELS,
    **ending.MODELS,
    **files.MODELS,
    **numbers.MODELS,
    **printing.MODELS,
    **reading.MODELS,
    **scanning.MODELS,
    **strings.MODELS,
}
MODELLED = frozenset((*_MODELS, *locks.MODELS, *listed_printing.NAMES))
"""The functions that are executed; `analysis.c.functions` describes them."""


_ONLY_BY: dict[str, frozenset[str]] = {
    "lock-discipline": frozenset(locks.MODELS),
    "lock-at-exit": frozenset(locks.MODELS),
    "resource-leak": frozenset(files.MODELS),
    "use-after-close": frozenset(files.MODELS),
}


def can_violate(rule: str, called: Collection[str]) -> bool:
    """Whether a run in which these external functions are called can violate the rule: some are about a few functions only."""
    return rule not in _ONLY_BY or not _ONLY_BY[rule].isdisjoint(map(display_name, called))


def modelled(name: str, returned: Type, compared: Compared | None = None, *, ends: bool = False) -> Model:
    """What a call of the external function does, where it is declared to return the type. Functions of the library may leave
    anything in `errno`, also where they succeed (C11 7.5p3). `compared` is all that the program does with the result: it is
    compared with these constants; None if it does more, or that is not known. `ends`: a declaration, or a contract of the
    project, says that it never returns."""
    if ends:
        return _never_returning(name, modelled(name, returned, compared))
    function = known(name)
    model = _modelled(name, returned)
    if function is not None and name in MODELLED:
        model = noting_open(model, function, compared)
    model = descriptors.failing(name, model)
    if function is not None and "keeps-errno" in function.besides:
        return model
    handles = () if function is None else function.positions("handle")
    closed = () if function is None else tuple(at for at in function.positions("closed") if "n" in function.arguments[at].uses)
    nullable = function is not None and any(function.argument(at).nullable for at in handles)

    def run(machine: RunningMachine, arguments: list[Any], types: tuple[Type, ...], wanted: bool) -> Any:
        used = [arguments[at] for at in handles if at < len(arguments)]
        files.check_open(machine, used, nullable=nullable)
        reading.note_use(machine, name, used)
        machine.closed.update(arguments[at] for at in closed if at < len(arguments))
        machine.errno_may_change()
        result = model(machine, arguments, types, wanted)
        descriptors.note_opened(machine, name, arguments, result)
        return result

    return run


def _never_returning(name: str, model: Model) -> Model:
    def run(machine: RunningMachine, arguments: list[Any], types: tuple[Type, ...], wanted: bool) -> Any:
        model(machine, arguments, types, wanted)
        raise EndError(Stuck(f"{display_name(name)}() does not return"))

    return run


def _modelled(name: str, returned: Type) -> Model:
    fit = _fitting(returned)
    if name in listed_printing.NAMES:
        listed = listed_printing.printing(name, returned)
        return lambda machine, arguments, types, wanted: fit(machine, listed(machine, arguments, types, wanted))
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


def _fitting(returned: Type) -> Callable[[RunningMachine, Any], Any]:
    """Brings a model's result into the type that the program declares for it."""

    def fit(machine: RunningMachine, value: Any) -> Any:
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
