"""What a run asks for: the values that come from outside the program.

A run is deterministic: the same program, start and answers give the same questions in the same order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

import msgspec

from analysis.model.c_types import Type

QuestionKind = Literal["parameter", "expression", "result", "memory", "indeterminate", "allocation", "written"]


class Question(msgspec.Struct, frozen=True):
    """A value of `type` is wanted, at edge `edge` of `function` (-1 before the first one), the run's step number `step`.

    - `parameter`: of the entry function; `name` is the parameter's.
    - `expression`: an `ir.Unknown`; `name` is empty.
    - `result`: what the external function `name` returns.
    - `memory`: what an object that was there before the run holds at `offset` bytes; `name` is the object spelled for people.
    - `indeterminate`: what the variable `name` holds, which has no value yet (only where `Start.past` says so).
    - `allocation`: whether `name` (`malloc`, `calloc`, ...) finds memory: 0 for no. No answer means that it does.
    - `written`: what the external function `name` leaves where its argument number `offset`, from 0, points. No answer: nothing.

    `number` counts the questions of this kind within the step, from 0. The value is not below `least`, nor above `greatest`, as
    far as more is known of it than its type; what is beyond counts as the nearer of the two. `held`: of an `expression` that is
    what a `volatile` object holds. No answer: what was stored there last, as nothing outside of the program changes it.
    """

    kind: QuestionKind
    type: Type
    name: str
    offset: int
    function: str
    edge: int
    step: int
    number: int
    least: int | None = None
    greatest: int | None = None
    held: bool = False

    def within(self, value: int) -> int:
        """The value, or the number next to it that the answer can be."""
        value = value if self.least is None else max(self.least, value)
        return value if self.greatest is None else min(self.greatest, value)


class Fresh(msgspec.Struct, frozen=True):
    """A pointer to a new object: `elements` elements of the pointer's target type, which are asked for as they are read."""

    elements: int = 1


class Object(msgspec.Struct, frozen=True):
    """A pointer to a global or function by linkage name, or into the N-th object made for a `Fresh`, from 0: "fresh N"."""

    name: str
    offset: int = 0


InputValue = int | float | Fresh | Object


class Inputs(Protocol):
    """Answers questions. Integers are brought into the range of the question's type, as C converts them."""

    def answer(self, question: Question) -> InputValue | None:
        """The value, None if there is none: the run then ends with `NoInput`, but for `allocation`, `written` and what is
        `held`."""


class Script:
    """Answers by position in the run: `at` by step, kind and number, then `values` in the order of the other questions (but those
    of kind `allocation` and `written`), then `rest`. One object is for one run: it counts what it has answered."""

    def __init__(
        self,
        values: Sequence[InputValue] = (),
        at: Mapping[tuple[int, QuestionKind, int], InputValue] | None = None,
        rest: InputValue | None = None,
    ) -> None:
        self._values = iter(values)
        self._at = dict(at or {})
        self._rest = rest

    def answer(self, question: Question) -> InputValue | None:
        """The value for the question."""
        key = question.step, question.kind, question.number
        if key in self._at:
            return self._at[key]
        if question.kind in ("allocation", "written"):
            return None
        return next(self._values, self._rest)
