"""What the validation of a revision has done."""

from __future__ import annotations

import msgspec


class Work(msgspec.Struct):
    """What was done, as keys of calls, in order: those whose summaries were `validated` against their bodies, and of these those
    that `held`; those whose summaries were `weakened`, `strengthened` (given one, if they had none), or lost (`invalid`).

    `bodies` are those whose bodies were in a check. `checks` counts the questions to the solver, but not those for
    interpolants."""

    validated: list[str] = msgspec.field(default_factory=list)
    held: list[str] = msgspec.field(default_factory=list)
    weakened: list[str] = msgspec.field(default_factory=list)
    strengthened: list[str] = msgspec.field(default_factory=list)
    invalid: list[str] = msgspec.field(default_factory=list)
    bodies: list[str] = msgspec.field(default_factory=list)
    checks: int = 0
