"""Mutexes and spin locks of POSIX threads, C11 7.26.4 and the Linux kernel, as one thread sees them.

A lock is identified by its address. It is a violation to take a lock that is held, and to release one that is not. Where a run
begins in the middle of a program's life, nothing is known of a lock until the run takes or releases it.

Locks that may be recursive are not followed: those made with attributes, and those whose initialiser names a kind. Neither are
those that an external function was passed. A lock from before the run is assumed not to be recursive.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from analysis.c.locks import (
    ENDS_LOCK,
    HAS_KINDS,
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
from analysis.interpreter.memory import ASKED, KNOWN, described
from analysis.interpreter.running_machine import LockState, RunningMachine
from analysis.model import ir
from analysis.model.c_types import INT, Pointer, Type

Types = tuple[Type, ...]
Function = Callable[[RunningMachine, list[Any], Types, bool], Any]
_KIND = " is not recursive"
_FAILS = " fails for a lock that this thread does not hold"
_ELSEWHERE = " fails because another thread holds its lock"


def named(machine: RunningMachine, address: int) -> str:
    """The lock for people."""
    block = machine.memory.find(address)
    return f"the lock at {address:#x}" if block is None else f"the lock in {described(block)}"


def still_held(machine: RunningMachine) -> str | None:
    """A lock that is held, for people; None if there is none."""
    held = (address for address in machine.locks if _state(machine, address) == "held")
    return next((f"{named(machine, address)} is held" for address in held), None)


def expose(machine: RunningMachine, address: int) -> None:
    """An unknown function got a pointer. It could take or release the locks in that object, so they are not followed any more."""
    block = machine.memory.find(address)
    if block is not None:
        machine.exposed.add(block.base)


def is_about_lock(assumption: str) -> bool:
    """Whether an assumption of a run is that a lock is not recursive, or that a free lock cannot be taken: no run shows that."""
    return assumption.endswith((_KIND, _FAILS))


def is_about_threads(assumption: str) -> bool:
    """Whether an assumption of a run is that another thread holds a lock."""
    return assumption.endswith(_ELSEWHERE)


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
    """A call whose result is not used succeeds. POSIX and C name no reason why a call that waits for a valid lock fails, so
    that a failure is an assumption."""

    def run(machine: RunningMachine, arguments: list[Any], _types: Types, wanted: bool) -> int:
        result = int(machine.ask("result", INT, name, 0)) if wanted else 0
        if result == 0:
            _take(machine, arguments[lock_of(name)])
        elif name in LOCKS:
            machine.assume(f"{name}(){_FAILS}")
        return result

    return run


def _tries(name: str, success: bool) -> Function:
    """`success`: whether a result other than zero says that the lock was taken. It cannot be taken while this thread holds it."""

    def run(machine: RunningMachine, arguments: list[Any], _types: Types, wanted: bool) -> int:
        address = arguments[lock_of(name)]
        free = _state(machine, address) != "held"
        result = int(machine.ask("result", INT, name, 0)) if wanted and free else int(success == free)
        if free and (result != 0) == success:
            _take(machine, address)
        elif free:
            machine.assume(f"{name}(){_ELSEWHERE}")
        return result

    return run


def _counts(name: str) -> Function:
    """Decrements a counter; when that gives zero, waits for the lock and takes it."""

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


def _noticing(name: str, model: Function) -> Function:
    """The model, which first finds out whether the lock may be recursive."""

    def run(machine: RunningMachine, arguments: list[Any], types: Types, wanted: bool) -> Any:
        address, type_ = arguments[lock_of(name)], types[lock_of(name)]
        if address not in machine.locks and isinstance(type_, Pointer) and _says_its_kind(machine, address, type_.target):
            machine.locks[address] = "recursive"
        if name in MAKES_LOCK:
            machine.found_locks.discard(address)
        elif address not in machine.locks and _was_there(machine, address):
            machine.found_locks.add(address)
        if address in machine.found_locks and _state(machine, address) == ("released" if name in UNLOCKS else "held"):
            machine.assume(f"{named(machine, address)}{_KIND}")
        return model(machine, arguments, types, wanted)

    return run


def _says_its_kind(machine: RunningMachine, address: int, type_: Type) -> bool:
    """Whether an initialiser names the kind of a lock: its bytes are not all 0 now. Where a run begins in the middle, those of
    the initialiser of its global count."""
    block = machine.memory.find(address)
    if block is None or not block.alive:
        return False
    start = address - block.base
    end = start + (machine.code.size(type_) or 0)
    if any(mask == KNOWN and byte for byte, mask in zip(block.data[start:end], block.mask[start:end], strict=True)):
        return True
    name = machine.code.static.name_at(block.base >> machine.memory.shift) if machine.start.any_globals else None
    known = None if name is None else machine.code.globals.get(name)
    return known is not None and not all(_is_zero(part.value) for part in known.parts)


def _is_zero(value: ir.Expr) -> bool:
    return isinstance(value, ir.Zero) or (isinstance(value, ir.IntConst) and value.value == 0)


def _was_there(machine: RunningMachine, address: int) -> bool:
    """Whether a lock comes from before the run, so that another function may have made it."""
    block = machine.memory.find(address)
    return block is not None and block.alive and block.mask[address - block.base] == ASKED


_MODELS: dict[str, Function] = {
    **{name: _takes_or_fails(name) for name in LOCKS | LOCKS_AT_ZERO},
    **{name: _tries(name, success=False) for name in TRIES_AT_ZERO},
    **{name: _tries(name, success=True) for name in TRIES_OTHERWISE},
    **{name: _counts(name) for name in LOCKS_OTHERWISE},
    **dict.fromkeys(UNLOCKS, _releases),
    **{name: _makes(name) for name in MAKES_LOCK},
    **dict.fromkeys(ENDS_LOCK, _ends),
}
MODELS = {name: _noticing(name, model) if name in HAS_KINDS else model for name, model in _MODELS.items()}
"""What a call does; the last argument says whether its result is used."""
