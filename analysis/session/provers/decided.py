"""What a prover says of one finding, as plain data: it goes between processes, and is kept in the store."""

from __future__ import annotations

from typing import Literal

import msgspec


class Ran(msgspec.Struct, frozen=True):
    """One edge of a run: `depth` counts calls below its start; `values` are what it read and wrote, spelled for people."""

    function: str
    edge: int
    depth: int
    values: dict[str, str]


class Invariant(msgspec.Struct, frozen=True):
    """What holds whenever a run comes to the head of a loop, in C. `edge` is the position, among the function's edges, of the
    first one that leaves the head: ids can be others when the function is the same again."""

    edge: int
    text: str


class Decided(msgspec.Struct, frozen=True):
    """A finding is `confirmed`: `steps` is a run to it, that was executed, and `observed` what was seen at its end. Or `refuted`:
    there is no such run. Or it stays `possible`, for the `reason`. Each under the `assumptions`.

    `final`: asking again could not give another answer. `tried`: the seconds that it was looked for in vain, 0 if others had the
    processor meanwhile; with no more patience, asking again is not worth its time. `looked`: the functions that were gone
    through, where that is not all of the program; as long as they are the same, it is not either. `states` and `queries` are the
    abstract states and the questions to the solver that it took.

    It also says whether a whole function can violate a rule: `refuted` then means that it is proved, with a certificate that was
    accepted, and `invariants` are those of the function's loops.
    """

    status: Literal["confirmed", "refuted", "possible"]
    final: bool = True
    tried: float = 0.0
    reason: str = ""
    observed: str = ""
    assumptions: tuple[str, ...] = ()
    steps: tuple[Ran, ...] = ()
    looked: tuple[str, ...] = ()
    states: int = 0
    queries: int = 0
    invariants: tuple[Invariant, ...] = ()

    def holds(self, seconds: float) -> bool:
        """Whether there is no use in asking again for so long."""
        return self.final or self.tried >= seconds > 0
