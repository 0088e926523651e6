"""What a run was given that violates a rule, as plain data: enough to run the program again outside of the interpreter."""

from __future__ import annotations

from typing import Literal

import msgspec

from analysis.model.places import Place

InputKind = Literal["parameter", "expression", "result", "memory", "indeterminate", "allocation", "written"]


class RunInput(msgspec.Struct, frozen=True, gc=False):
    """One value. `kind` and `offset` are those of the question (`analysis.interpreter.inputs.Question`). `name`: the
    parameter, the function that is called, or the object; `call`: which call of the function it is, counted from 0.

    The value is a `number`; or `real`, if it `is_float`; or a new object of so many bytes (`fresh`), the next one in the order of
    the inputs; or it points into the `object` of that name, so many bytes from its beginning as `number` says. `size` is that of
    the value in bytes.
    """

    kind: InputKind
    name: str
    number: int = 0
    real: float = 0.0
    fresh: int | None = None
    object: str = ""
    offset: int = 0
    call: int = 0
    size: int = 8
    is_float: bool = False


class RunStart(msgspec.Struct, frozen=True, gc=False):
    """Where a run begins, by the function's linkage name, and what it was given, in the order in which it asked.

    `made`: where a block or resource is lost or left behind, the calls that were open when it was made, the innermost first, as
    functions and edges; `made_at`: the places of these, once the text is known. `asked`: the function and the edge of the call
    that asked for each input, -1 for the edge where no call did. Once the text is known, `asked_at` is in its place: the function
    and the place."""

    entry: str
    inputs: tuple[RunInput, ...] = ()
    made: tuple[tuple[str, int], ...] = ()
    made_at: tuple[Place, ...] = ()
    asked: tuple[tuple[str, int], ...] = ()
    asked_at: tuple[tuple[str, Place] | None, ...] = ()
