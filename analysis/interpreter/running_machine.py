"""What functions of the library, and objects with static storage, use of the machine that runs the program."""

from __future__ import annotations

from typing import Any, Literal, Protocol

from analysis.interpreter.argument_lists import ArgumentList
from analysis.interpreter.inputs import QuestionKind
from analysis.interpreter.memory import Block, BlockKind, Memory
from analysis.interpreter.outcome import Start
from analysis.interpreter.program_code import ProgramCode
from analysis.model.c_types import Type

LockState = Literal["held", "released", "recursive"]


class RunningMachine(Protocol):
    """One run of a program, as far as its external functions and its static objects go (`machine.Machine` is one)."""

    code: ProgramCode
    memory: Memory
    start: Start
    blocks: list[Block]
    """Those of the function that runs: they end with it."""
    locks: dict[int, LockState]
    """By address."""
    found_locks: set[int]
    """The addresses of locks that were there before the run."""
    exposed: set[int]
    """The addresses of objects that external functions were given."""
    lists: dict[int, ArgumentList]
    """By the address of each `va_list` that the run has begun."""
    closed: set[int]
    """The descriptors that were closed."""
    unreadable: set[int]
    """The descriptors that were opened only for writing."""
    stdin: int
    """The address of the stream `stdin`; 0 until the program uses the variable."""
    next: dict[int, frozenset[int]]
    """The characters that can come next from a stream, with -1 for its end, where the last function that read from it says so;
    by address, and 0 for `stdin`."""
    at_exit: list[int]
    """The functions that `atexit` was given, by address."""

    tokens: int
    """The address where `strtok` goes on; 0 if there is nothing left, or nothing was begun."""

    def ask(
        self, kind: QuestionKind, type_: Type, name: str, offset: int, least: int | None = None, greatest: int | None = None
    ) -> Any:
        """The answer of the inputs to a question, as a value of the type, and between the bounds."""

    def optional(self, kind: Literal["allocation", "written"], type_: Type, name: str, offset: int) -> Any:
        """The answer to a question that need not have one, as a value of the type; None where there is none."""

    def store(self, type_: Type, address: int, value: Any) -> None:
        """Stores a value of the type."""

    def assume(self, text: str) -> None:
        """Notes what the run takes for given."""

    def new_block(self, kind: BlockKind, size: int, fill: int, type_: Type | None = None) -> int:
        """The address of a new object on the heap, or of another that is known by number; its size in bytes."""

    def literal(self, data: bytes) -> int:
        """The address of a string literal; equal ones are one object."""

    def errno(self) -> int:
        """The address of `errno`."""

    def errno_may_change(self) -> None:
        """A function of the library runs: what `errno` holds from now on is an input."""

    def print(self, text: str) -> None:
        """Keeps what is printed, up to the bound."""
