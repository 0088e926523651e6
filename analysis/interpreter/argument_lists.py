"""The arguments of `...`: what `va_start` begins to read, `va_arg` reads next, and `va_copy` copies (C11 7.16).

A list is known by the address of its `va_list`, which holds nothing that a program could look at. A list that nothing of the run
has begun comes from outside: what is read of it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from analysis.interpreter.halting import not_modelled
from analysis.interpreter.inputs import QuestionKind
from analysis.model.c_types import VA_LIST, Integer, Pointer, Type, spell
from analysis.model.ranges import wrapped

LIST_BYTES = 24
"""The size of a `va_list` in runs; that of x86-64."""

Arguments = Sequence[tuple[Type, Any]]


class ArgumentList:
    """The arguments that are left to be read, with their types after the default promotions."""

    def __init__(self, arguments: Arguments) -> None:
        self._left = list(arguments)

    def copy(self) -> ArgumentList:
        """Another list, that begins where this one is."""
        return ArgumentList(self._left)

    @property
    def values(self) -> list[Any]:
        """The values that are left."""
        return [value for _, value in self._left]

    @property
    def types(self) -> list[Type]:
        """Their types."""
        return [type_ for type_, _ in self._left]

    def next(self, type_: Type, assume: Callable[[str], None]) -> Any:
        """The next argument, which must be of the type, but for the sign of an integer, or what a pointer leads to
        (C11 7.16.1.1p2 allows little more). Of a wider integer the low part is read, as the usual systems do; that is assumed."""
        if not self._left:
            not_modelled("va_arg where no argument is left")
        passed, value = self._left.pop(0)
        if isinstance(type_, Integer) and isinstance(passed, Integer) and passed.bits >= type_.bits:
            if passed.bits > type_.bits:
                assume(f"va_arg of type {spell(type_)} reads the low part of {spell(passed)}")
            return wrapped(value, type_)
        if passed != type_ and not (isinstance(passed, Pointer) and isinstance(type_, Pointer)):
            not_modelled(f"va_arg of type {spell(type_)} where {spell(passed)} was passed")
        return value


class Reader(Protocol):
    """What reading lists uses of the machine that runs the program."""

    lists: dict[int, ArgumentList]
    further: dict[int, Arguments]
    frames: list[Any]

    def look_only(self) -> None:
        """Called by what is not done while values are only looked at."""

    def assume(self, text: str) -> None:
        """Notes what the run takes for given."""

    def ask(self, kind: QuestionKind, type_: Type, name: str, offset: int) -> Any:
        """The answer of the inputs to a question, as a value of the type."""


def is_argument_list(type_: Type) -> bool:
    """Whether it is `va_list`, or what is inside of it."""
    return type_ in (VA_LIST, VA_LIST.element)


def begin(machine: Reader, address: int, copied: int | None) -> None:
    """`va_start`, or with an address of another list `va_copy`."""
    machine.look_only()
    machine.lists.pop(address, None)
    passed = machine.further.get(len(machine.frames)) if copied is None else None
    if passed is not None:
        machine.lists[address] = ArgumentList(passed)
    elif copied in machine.lists:
        machine.lists[address] = machine.lists[copied].copy()


def next_argument(machine: Reader, address: int, type_: Type) -> Any:
    """`va_arg` of a scalar type."""
    machine.look_only()
    known = machine.lists.get(address)
    return machine.ask("expression", type_, "", 0) if known is None else known.next(type_, machine.assume)


def next_object(machine: Reader, address: int, type_: Type) -> tuple[bytes, bytes] | None:
    """The same of a structure: its bytes and their masks; None where it is one from outside."""
    machine.look_only()
    known = machine.lists.get(address)
    return None if known is None else known.next(type_, machine.assume)
