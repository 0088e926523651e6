"""Tasks of the symbolic engine (one finding, or a property of a whole program) and their answers, as immutable values
that can be pickled.

A task holds all that its answer depends on: an answer is a function of the task's content, so that it can be
kept under the content's digest and found again by any process. Only the budget of seconds depends on the
machine: what ran out of it is `Undecided`, and such an answer is not to be stored.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from analysis.cfa.graph import Program
from analysis.interpreter.inputs import InputValue, Question
from analysis.interpreter.outcome import Observation, ReplayedStep, Step
from analysis.model import ir
from analysis.model.c_types import LP64, DataModel

NOT_ASKED = "symbolic execution is not asked about "
"""How the reason begins of a proof that was not tried, since only other provers prove the rule."""


class Target(msgspec.Struct, frozen=True):
    """A violation of rule `rule` (its name) at an edge of a function (its linkage name). `expression`: the pointer that is
    dereferenced or the divisor, where it is known; None: any of those on the edge. `made`: of a leak, the call that has made
    what is lost, where it is known; None: whatever is lost there."""

    function: str
    edge: int
    rule: str
    expression: ir.Expr | None = None
    made: Step | None = None


class Effort(msgspec.Struct, frozen=True):
    """What deciding may cost. `seconds` of the clock for all of it, `query_milliseconds` for one question to the solver;
    `states`: abstract states; `run_steps`: edges of one run; `runs`: runs on inputs that were not computed; `recursion`: how many
    activations of one function are followed at first."""

    seconds: float = 10.0
    query_milliseconds: int = 1_000
    states: int = 100_000
    run_steps: int = 100_000
    runs: int = 64
    recursion: int = 30


def only_if(condition: str) -> str:
    """What to say of a violation that was seen in a run which may be none of the program's."""
    return f"it happens if {condition}, and it is not known whether that can happen"


def one_if(condition: str) -> str:
    """The same of a run against several rules."""
    return f"a run violates one of the rules if {condition}, and it is not known whether that can happen"


class Task(NamedTuple):
    """One finding to be decided. `entries`: the functions in which the program can begin. `path`: the edges that are claimed to
    lead to the violation, from the start of an entry, calls of defined functions opened or stepped over; () if none is known.
    `allocation_fails`: whether `malloc` and its like may find no memory; if not, no run in which they do is taken."""

    program: Program
    target: Target
    entries: tuple[str, ...]
    path: tuple[Step, ...] = ()
    effort: Effort = Effort()
    model: DataModel = LP64
    allocation_fails: bool = True


class ProgramTask(NamedTuple):
    """A property of a whole program: no run from `main` on violates one of the rules (names of `interpreter.outcome.Kind`),
    wherever. `allocation_fails`: whether `malloc` and its like may find no memory. `outside_writes`: whether functions without a
    body may write to globals; if not, that is assumed."""

    program: Program
    rules: frozenset[str]
    effort: Effort = Effort()
    model: DataModel = LP64
    allocation_fails: bool = True
    outside_writes: bool = True


class Spent(msgspec.Struct, frozen=True):
    """Work counters: runs of the interpreter, abstract states, candidate paths."""

    runs: int = 0
    states: int = 0
    paths: int = 0


class Confirmed(msgspec.Struct, frozen=True):
    """The violation was seen to happen. `steps` are the edges from the start of `entry` on, with the values at each; the last one
    is the target. `inputs` are the questions that the run asked, with the answers. `assumptions`: what the run takes for given,
    the arguments of an entry that is not `main` included."""

    entry: str
    steps: tuple[ReplayedStep, ...]
    inputs: tuple[tuple[Question, InputValue], ...]
    observation: Observation
    assumptions: tuple[str, ...]
    spent: Spent


class Refuted(msgspec.Struct, frozen=True):
    """No run from an entry violates the rule at the target, under the assumptions."""

    assumptions: tuple[str, ...]
    spent: Spent


class Undecided(msgspec.Struct, frozen=True):
    """It is not known; `reason` says why, for a person. `final`: more time would not change the answer. `looked`: the functions
    that were gone through, if the program is large and that is not all that could matter."""

    reason: str
    spent: Spent
    final: bool = False
    looked: tuple[str, ...] = ()


Decision = Confirmed | Refuted | Undecided
