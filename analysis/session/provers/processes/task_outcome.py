"""What a task may take, and what becomes of it: values, never exceptions."""

from __future__ import annotations

import math
from typing import Any, Literal

import msgspec

End = Literal["", "time", "memory", "interrupted", "crashed", "failed", "refused", "lost"]


_OWN = 0.5  # of the time


class Budget(msgspec.Struct, frozen=True):
    """What one task may take: seconds of wall time, megabytes beyond what the process holds when it begins, and seconds of the
    processor, which are looked at with each sign of life."""

    seconds: float = 5.0
    megabytes: int = 1_000
    processor: float = math.inf


class Outcome(msgspec.Struct, frozen=True):
    """How the task with this ticket ended. `answer` is what the work gave, if `end` is empty; else `end` says why there is none:

    `time` or `memory`: it ran out of its budget. `interrupted`: it was cancelled. `crashed`: its process ended by itself, and did
    so again when it was tried once more. `failed`: the work raised an exception, which `detail` names.
    Of provers on other machines: `refused`, a worker cannot do it, and `lost`, there is nobody to do it; `detail` says why.
    `ms` is the time in milliseconds, of the last try; `worked` are the seconds of the processor in it, if a process that was
    asked to give up could say so.
    """

    ticket: int
    end: End
    answer: Any = None
    detail: str = ""
    ms: float = 0.0
    worked: float = 0.0


def had_the_processor(worked: float, passed: float) -> bool:
    """Whether a search that took `passed` seconds, and the processor for `worked` of them, had the time that it was given: on a
    machine that others use as well, the next one may come further. (A virtual one always takes some.)"""
    return worked >= _OWN * passed


def reason_of(outcome: Outcome, budget: Budget) -> str:
    """Says why there is no answer, in words that complete "not decided: "."""
    match outcome.end:
        case "time":
            return f"the budget of {min(budget.seconds, budget.processor):g} s was not enough"
        case "memory":
            return f"the budget of {budget.megabytes} MB was not enough"
        case "crashed":
            return "the prover crashed, twice"
        case "failed":
            return f"the prover failed by a defect of Everproof ({outcome.detail})"
        case "refused" | "lost":
            return outcome.detail
        case "interrupted":
            return "the proof was interrupted"
    return ""
