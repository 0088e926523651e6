"""Whether a run violates the rule at the target: only what the interpreter observed there counts (invariant I9)."""

from __future__ import annotations

import msgspec

from analysis.cfa.graph import Edge, Program
from analysis.engines.symbolic.choices import MakeInputs, NeverFailing
from analysis.engines.symbolic.other_addresses import happens_elsewhere
from analysis.engines.symbolic.task import Target
from analysis.interpreter.interpreter import execute
from analysis.interpreter.outcome import (
    Bounds,
    Kind,
    Losses,
    Observation,
    Replayed,
    Run,
    Start,
    Step,
)
from analysis.interpreter.replay import described_end, replay
from analysis.model import ir

LEAKS = frozenset({"memory-leak", "resource-leak"})
_LEAK_PLACES = 4  # visits of the edge of a leak that are looked at


class Attempts:
    """Runs of one program against one target. `count` counts them; `fails`: allocations may."""

    def __init__(self, program: Program, target: Target, bounds: Bounds, *, fails: bool = True) -> None:
        self._program = program
        self._target = target
        self._bounds = bounds
        self._fails = fails
        self._kind = msgspec.convert(target.rule, Kind)
        self._losses = Losses(made=target.made)
        self._source = program.functions[target.function].by_id[target.edge].source
        self.count = 0

    def run(self, start: Start, make: MakeInputs, steps: int | None = None) -> tuple[Run, Replayed | None]:
        """A run from the start, and its replay with values if it violates the rule at the target. `steps`: fewer than usual."""
        self.count += 1
        make = make if self._fails else _never_failing(make)
        bounds = self._bounds if steps is None else msgspec.structs.replace(self._bounds, steps=min(steps, self._bounds.steps))
        run = execute(self._program, start, make(), bounds, record=True)
        if self._target.rule in LEAKS:
            return run, self._leak(start, run, make)
        if not isinstance(run.end, Observation) or run.end.kind != self._target.rule or not run.path:
            return run, None
        if not self._is_target(run.path[-1]):
            return run, None
        return run, self._replayed(start, run.path, make)

    def _is_target(self, step: Step) -> bool:
        """Whether it is the target's edge; of a branch, either edge violates with its condition."""
        if step.function != self._target.function:
            return False
        return self._program.functions[step.function].by_id[step.edge].source == self._source

    def _leak(self, start: Start, run: Run, make: MakeInputs) -> Replayed | None:
        wanted = Step(self._target.function, self._target.edge)
        places = [number for number, step in enumerate(run.path) if step == wanted]
        for number in places[:_LEAK_PLACES]:
            for last in dict.fromkeys((number, self._done(run.path, number))):
                found = self._replayed(start, run.path[: last + 1], make)
                if found is not None:
                    return found
        return None

    def _done(self, path: tuple[Step, ...], number: int) -> int:
        """The step with which a step is done: a call of a function of the program gives its result to the caller, in place of
        what was there, as it returns."""
        depth = 0
        for at in range(number, len(path)):
            effect = self._edge(path[at]).effect
            if isinstance(effect, ir.Return):
                depth -= 1
            elif isinstance(effect, ir.Call) and self._enters(effect, path[at + 1 : at + 2]):
                depth += 1
            if depth <= 0:
                return at
        return number

    def _enters(self, call: ir.Call, following: tuple[Step, ...]) -> bool:
        """Whether the next step is the first one of a function that the call can reach."""
        return any(
            step.function in self._program.targets(call)
            and self._edge(step).source == self._program.functions[step.function].entry
            for step in following
        )

    def _edge(self, step: Step) -> Edge:
        return self._program.functions[step.function].by_id[step.edge]

    def _replayed(self, start: Start, path: tuple[Step, ...], make: MakeInputs) -> Replayed | None:
        found = replay(self._program, start, path, make(), self._kind, self._bounds, losses=self._losses)
        if not isinstance(found, Replayed) or found.observation is None:
            return None
        again = happens_elsewhere(self._program, start, path, make(), self._kind, found, self._bounds, self._losses)
        return found if again else None


def _never_failing(make: MakeInputs) -> MakeInputs:
    return lambda: NeverFailing(make())


def described(run: Run) -> str:
    """How a run ended that did not violate the rule at the target."""
    return described_end(run.end)
