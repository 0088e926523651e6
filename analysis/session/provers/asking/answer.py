"""What a prover says to a question, as plain data: it goes between processes, and is kept in the store."""

from __future__ import annotations

from typing import Literal

import msgspec

from analysis.model.report import ProofReuse, SummaryRepair, SummaryWork, Within
from analysis.model.run_inputs import RunStart

Status = Literal["confirmed", "refuted", "possible"]
PARTLY_PARSED = "not all of the program's text parses"
"""Why nothing is said of what the text that does not parse could change."""


class Ran(msgspec.Struct, frozen=True):
    """One edge of a run: `depth` counts calls below its start; `values` are what it read and wrote, spelled for people."""

    function: str
    edge: int
    depth: int
    values: dict[str, str]


class Invariant(msgspec.Struct, frozen=True):
    """What holds whenever a run reaches the head of a loop, in C. `edge` is the position, among the function's edges, of the
    first one that leaves the head: ids can be others when the function is the same again."""

    edge: int
    text: str


class Part(msgspec.Struct, frozen=True):
    """What is said of one of several rules that were asked about together; the fields are those of `Decided`. `functions`: those
    of which it is said, where all functions were asked about; else none. `kept`: the proof, for the next revision; empty where it
    is kept elsewhere."""

    rule: str
    status: Status
    reason: str = ""
    observed: str = ""
    assumptions: tuple[str, ...] = ()
    steps: tuple[Ran, ...] = ()
    engine: str = ""
    certified: bool = False
    certificates: tuple[str, ...] = ()
    unreached: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    no_place: bool = False
    run: RunStart | None = None
    kept: bytes | None = None
    invariants: tuple[Invariant, ...] = ()


class Decided(msgspec.Struct, frozen=True):
    """What was asked about can happen (`confirmed`): `steps` is a run to it, that was executed, and `observed` what was seen at
    its end, and `run` what it was given. Or `refuted`: there is no such run. Or it stays `possible`, for the `reason`. Each
    under the `assumptions`.

    `certified`: a certificate of that was accepted; `certificates` are their texts, if they were asked for. `engine` said it.
    `final`: asking again could not give another answer. `tried`: the seconds of work for which it was looked for in vain, 0
    if the process was ended before; with no more patience, asking again is not worth its time. `looked`: the functions that
    were gone through, where that is not all of the program; as long as they are the same, it is not either. `states`,
    `queries` and `worked` are the abstract states, the questions to the solver, and the seconds of work that it took.
    `invariants` are those of a function that is proved. Where several rules were asked about, `parts` say what of each.
    `unreached` names the function of each place of the rule, of those that are proved, that no run reaches at all. `entries`:
    a refutation is about runs from these functions only; empty: whoever calls the function. `no_place`: nothing in the
    function could violate the rule. `within`: what is known of runs within a bound, if that was asked; `summaries` is what
    was done to summaries for it, and `repairs` the same by function. `kept` are the summaries, or the proofs, that it rests
    on, for the next revision, None if there are no new ones; `reuse` is what proofs took from earlier ones, and `broken` what
    does not hold any more of one that was not enough. `is_reused`: it rests on an earlier proof, without which it may not be
    found.
    """

    status: Status
    final: bool = True
    tried: float = 0.0
    reason: str = ""
    observed: str = ""
    assumptions: tuple[str, ...] = ()
    steps: tuple[Ran, ...] = ()
    looked: tuple[str, ...] = ()
    states: int = 0
    queries: int = 0
    worked: float = 0.0
    invariants: tuple[Invariant, ...] = ()
    engine: str = ""
    certified: bool = False
    certificates: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    unreached: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()
    no_place: bool = False
    within: Within | None = None
    kept: bytes | None = None
    summaries: SummaryWork = SummaryWork()
    repairs: dict[str, SummaryRepair] = {}
    reuse: ProofReuse = ProofReuse()
    broken: str = ""
    is_reused: bool = False
    run: RunStart | None = None

    def holds(self, seconds: float) -> bool:
        """Whether there is no use in asking again for so long."""
        return self.final or self.tried >= seconds > 0
