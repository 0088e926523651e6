"""What a run is given besides its inputs, and what comes out of it: all values, never exceptions."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from analysis.c.undefined import ObservedRule
from analysis.interpreter.inputs import InputValue, Question
from analysis.model.c_types import LP64, DataModel

Kind = ObservedRule


class Step(NamedTuple):
    """One edge taken: the function's linkage name and the edge's id in it."""

    function: str
    edge: int


class Start(msgspec.Struct, frozen=True):
    """Where a run begins: the linkage name of a defined function.

    `any_globals`: the function is entered in the middle of a program's life, so that globals hold values that are asked for
    when they are first read (`Question.kind` "memory"); else they hold what the program starts with.

    `past` are violations that do not end the run, for programs that mean something by them: signed arithmetic and shifts wrap
    then (as with `gcc -fwrapv`), and an indeterminate value is asked for ("indeterminate", "memory"). When that happens it is
    among the run's assumptions.

    `elsewhere`: objects lie at other addresses, in the opposite order, and are aligned less.
    """

    function: str
    any_globals: bool = False
    data_model: DataModel = LP64
    past: tuple[Literal["signed-overflow", "uninitialized-read"], ...] = ()
    elsewhere: bool = False


class Bounds(msgspec.Struct, frozen=True):
    """How far a run may go: edges taken, calls deep, bytes in all objects together, characters printed that are kept."""

    steps: int = 1_000_000
    depth: int = 2_000
    memory: int = 64_000_000
    output: int = 0


DEFAULT_BOUNDS = Bounds()


class Losses(msgspec.Struct, frozen=True):
    """Which blocks and resources count as lost at the end of a path: those that the last step loses, and with `earlier` those
    that a step before has lost as well. `made`: only what was made in this call, of the library or of the program."""

    earlier: bool = False
    made: Step | None = None


LOST_HERE = Losses()


class Observation(msgspec.Struct, frozen=True):
    """A violation that was seen to happen. `kind` is the name of the rule it belongs to, or
    `memory-cleanup`: memory is still allocated when the program ends. `text` is one sentence with the values; `step` is the
    number of the edge during which it happened, from 0 on. It ends the run. `made`: the calls that were open when the block or
    resource was made that is lost or left behind, the innermost first."""

    kind: Kind
    text: str
    step: int
    made: tuple[Step, ...] = ()


class Returned(msgspec.Struct, frozen=True):
    """The entry function returned; `value` is None if that is no scalar."""

    value: int | float | None


class Exited(msgspec.Struct, frozen=True):
    """The program ended by `exit`, with this status, or by `abort` (None)."""

    status: int | None


class RanOut(msgspec.Struct, frozen=True):
    """A bound was reached: `of` is the name of the field of `Bounds`."""

    of: Literal["steps", "depth", "memory"]


class Stuck(msgspec.Struct, frozen=True):
    """Nothing follows: a loop without any effect, `__VERIFIER_assume(0)`, or a place that the program says is never reached."""

    reason: str


class NoInput(msgspec.Struct, frozen=True):
    """The inputs had no answer to a question."""

    question: Question


class NotModelled(msgspec.Struct, frozen=True):
    """The run came to something that the interpreter cannot execute faithfully."""

    reason: str


End = Observation | Returned | Exited | RanOut | Stuck | NoInput | NotModelled


class Run(msgspec.Struct, frozen=True):
    """What an execution did.

    `steps` counts the edges taken (the one during which it ended included); `path` are these edges, if they were to be recorded.
    `asked` are the questions in their order with the answers, numbers as values of the question's type. `assumptions` names what
    the run took for given although C says more about it (an argument list from outside, an initialiser that lowering does
    not keep). `output` is what was printed. `by_address`: it used the number of an address.
    """

    end: End
    steps: int
    path: tuple[Step, ...]
    asked: tuple[tuple[Question, InputValue], ...]
    assumptions: tuple[str, ...]
    output: str
    by_address: bool = False


class ReplayedStep(msgspec.Struct, frozen=True):
    """One step of a replayed path. `values` are what it reads, before it, and what it writes, after it, spelled for people:
    `{"p": "NULL", "n": "3", "q": "&x", "s": "heap block 2 (12 bytes)+4"}`. `depth` counts calls below the entry."""

    function: str
    edge: int
    depth: int
    values: dict[str, str]


class Replayed(msgspec.Struct, frozen=True):
    """The path was executed to its end, and `observation` happened there (None if none was asked for)."""

    steps: tuple[ReplayedStep, ...]
    observation: Observation | None
    asked: tuple[tuple[Question, InputValue], ...]
    assumptions: tuple[str, ...]
    by_address: bool = False


class Diverged(msgspec.Struct, frozen=True):
    """The execution left the path at `step` (an index into it), or its end there differs from the claimed one."""

    step: int
    why: str
