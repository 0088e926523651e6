"""Descriptors (POSIX 2.14): no negative number is one, and nothing can be read from one that was opened only for writing."""

from __future__ import annotations

from typing import Any

from analysis.c.functions import all_with
from analysis.c.opening import purpose_of_flags
from analysis.interpreter.halting import not_modelled
from analysis.interpreter.library.open_results import Model
from analysis.interpreter.running_machine import RunningMachine
from analysis.model.c_types import Type

_FLAGS = {"open": 1, "open64": 1, "openat": 2}
"""Functions that are passed what a descriptor is opened for, with the number of that argument."""
_MAKE_OF_ONE = frozenset(("dup", "accept", "accept4", "fdopen", "fdopendir"))
"""Functions that make a descriptor, a stream or a directory of the descriptor that is their first argument."""
_STREAMS = all_with(lambda one: one.result in ("stream", "directory"))


def is_none(machine: RunningMachine, descriptor: int, name: str) -> bool:
    """Whether a number is no descriptor, for certain; it is not followed which of those that were closed are open again."""
    if descriptor in machine.closed:
        not_modelled(f"{name}() with a descriptor that was closed")
    return descriptor < 0


def failing(name: str, model: Model) -> Model:
    """The model of a function, which fails where it needs a descriptor and is passed a negative number."""
    if name not in _MAKE_OF_ONE:
        return model

    def run(machine: RunningMachine, arguments: list[Any], types: tuple[Type, ...], wanted: bool) -> Any:
        if arguments and is_none(machine, arguments[0], name):
            return 0 if name in _STREAMS else -1
        return model(machine, arguments, types, wanted)

    return run


def note_opened(machine: RunningMachine, name: str, arguments: list[Any], result: Any) -> None:
    """Notes of a descriptor that a function has opened whether nothing can be read from it."""
    at = _FLAGS.get(name)
    flags = None if at is None or at >= len(arguments) else arguments[at]
    if name == "creat" or (isinstance(flags, int) and purpose_of_flags(flags) == "write"):
        machine.unreadable.add(result)
