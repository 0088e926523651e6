"""Mutexes and spin locks of POSIX threads, C11 7.26.4 and the Linux kernel, as one thread sees them.

A lock is known by its address. Taking one that is held, and releasing one that is not, are violations; of a lock about which
nothing is known, because the run began in the middle of a program's life, only what follows is. A mutex that is made with
attributes may be recursive, so that it is not looked at any more; nor is a lock that an external function was passed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from analysis.c.locks import (
    ENDS_LOCK,
    LOCKS,
    LOCKS_AT_ZERO,
    LOCKS_OTHERWISE,
    MAKES_ANY_LOCK,
    MAKES_LOCK,
    TRIES_AT_ZERO,
    TRIES_OTHERWISE,
    UNLOCKS,
    lock_of,
)
from analysis.interpreter.halting import ViolationError
from analysis.interpreter.memory import described
from analysis.interpreter.running_machine import LockState, RunningMachine
from analysis.model.c_types import INT, Type

Types = tuple[Type, ...]
Function = Callable[[RunningMachine, list[Any], Types, bool], Any]


def named(machine: RunningMachine, address: int) -> str:
    """The lock for people."""
    block = machine.memory.find(address)
    return f"the lock at {address:#x}" if block is None else f"the lock in {described(block)}"


def still_held(machine: RunningMachine) -> str | None:
    """A lock that is held, for people; None if there is none."""
    held = (address for address in machine.locks if _state(machine, address) == "held")
    return next((f"{named(machine, address)} is held" for address in held), None)


def expose(machine: RunningMachine, address: int) -> None:
    """An unknown function got a pointer: locks in that object are not looked at any more, since it could take or release them."""
    block = machine.memory.find(address)
    if block is not None:
        machine.exposed.add(block.base)


def _state(machine: RunningMachine, address: int) -> LockState | None:
    block = machine.memory.find(address)
    is_exposed = block is not None and block.base in machine.exposed
    return "recursive" if is_exposed else machine.locks.get(address)


def _take(machine: RunningMachine, address: int) -> None:
    state = _state(machine, address)
    if state == "held":
        raise ViolationError("lock-discipline", f"{named(machine, address)} is locked again while it is held")
    if state != "recursive":
        machine.locks[address] = "held"


def _takes_or_fails(name: str) -> Function:
    """If nobody asks whether it worked, it did."""

    def run(machine: RunningMachine, arguments: list[Any], _types: Types, wanted: bool) -> int:
        result = int(machine.ask("result", INT, name, 0)) if wanted else 0
        if result == 0:
            _take(machine, arguments[lock_of(name)])
        return result

    return run


def _tries(name: str, success: bool) -> Function:
    """`success`: whether a result other than zero says that the lock was taken. One that is held is not taken again."""

    def run(machine: RunningMachine, arguments: list[Any], _types: Types, wanted: bool) -> int:
        address = arguments[lock_of(name)]
        free = _state(machine, address) != "held"
        result = int(machine.ask("result", INT, name, 0)) if wanted and free else int(success == free)
        if free and (result != 0) == success:
            _take(machine, address)
        return result

    return run


def _counts(name: str) -> Function:
    """Takes the lock if a counter comes to zero; it waits for the lock."""

    def run(machine: RunningMachine, arguments: list[Any], _types: Types, wanted: bool) -> int:
        address = arguments[lock_of(name)]
        if _state(machine, address) == "held":
            _take(machine, address)
        result = int(machine.ask("result", INT, name, 0)) if wanted else 0
        if result:
            _take(machine, address)
        return result

    return run


def _releases(machine: RunningMachine, arguments: list[Any], _types: Types, _wanted: bool) -> int:
    address = arguments[0]
    state = _state(machine, address)
    if state == "released" or (state is None and not machine.start.any_globals):
        raise ViolationError("lock-discipline", f"{named(machine, address)} is unlocked, but it is not held")
    if state != "recursive":
        machine.locks[address] = "released"
    return 0


def _makes(name: str) -> Function:
    def run(machine: RunningMachine, arguments: list[Any], _types: Types, wanted: bool) -> int:
        plain = name not in MAKES_ANY_LOCK or len(arguments) < 2 or arguments[1] == 0
        result = int(machine.ask("result", INT, name, 0)) if wanted else 0
        if result == 0:
            machine.locks[arguments[0]] = "released" if plain else "recursive"
        return result

    return run


def _ends(machine: RunningMachine, arguments: list[Any], _types: Types, _wanted: bool) -> int:
    machine.locks.pop(arguments[0], None)
    return 0


MODELS: dict[str, Function] = {
    **{name: _takes_or_fails(name) for name in LOCKS | LOCKS_AT_ZERO},
    **{name: _tries(name, success=False) for name in TRIES_AT_ZERO},
    **{name: _tries(name, success=True) for name in TRIES_OTHERWISE},
    **{name: _counts(name) for name in LOCKS_OTHERWISE},
    **dict.fromkeys(UNLOCKS, _releases),
    **{name: _makes(name) for name in MAKES_LOCK},
    **dict.fromkeys(ENDS_LOCK, _ends),
}
"""What a call does; the last argument says whether its result is used."""
