"""Runs of a whole program against several rules: what any run violates first is what counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from analysis.cfa.linking.obstructed import MAIN
from analysis.engines.symbolic.caller import doubts
from analysis.engines.symbolic.choices import MakeInputs, NeverFailing
from analysis.engines.symbolic.other_addresses import happens_elsewhere
from analysis.engines.symbolic.task import ProgramTask, Target
from analysis.interpreter.expressions import ADDRESSES
from analysis.interpreter.inputs import Inputs
from analysis.interpreter.interpreter import execute_to_end
from analysis.interpreter.leaks import AT_END
from analysis.interpreter.outcome import Bounds, Kind, Losses, Observation, Replayed, Run, Start, Step
from analysis.interpreter.replay import replay

_MEMORY = 32_000_000
_AT_END = Losses(earlier=True)


class ProgramRuns:
    """`count` counts the runs; `doubt` is why the last violation that was seen did not count."""

    def __init__(self, task: ProgramTask) -> None:
        self._task = task
        self._program = task.program
        self._kinds: tuple[Kind, ...] = tuple(kind for kind in get_args(Kind) if kind in task.rules)
        self._at_end = tuple(kind for kind in self._kinds if kind in AT_END)
        self.count = 0
        self.doubt = ""

    def run(self, make: MakeInputs, steps: int) -> tuple[Run, Replayed | None]:
        """A run, and its replay with values if it violates a rule. Where an object without a value is read and that violates
        none of the rules, the run is made once more, with the value as an input."""
        run, found = self._run(Start(MAIN, data_model=self._task.model), make, steps)
        if found is None and isinstance(run.end, Observation) and run.end.kind == "uninitialized-read" not in self._kinds:
            run, found = self._run(Start(MAIN, data_model=self._task.model, past=("uninitialized-read",)), make, steps)
        return run, found

    def _run(self, start: Start, make: MakeInputs, steps: int) -> tuple[Run, Replayed | None]:
        self.count += 1
        bounds = Bounds(steps=steps, memory=_MEMORY)
        run, kind = execute_to_end(self._program, start, self._inputs(make), bounds, self._at_end)
        if isinstance(run.end, Observation) and run.end.kind in self._kinds:
            kind = run.end.kind
        if kind is None or not run.path:
            return run, None
        found = replay(self._program, start, run.path, self._inputs(make), kind, bounds, losses=_AT_END)
        if not isinstance(found, Replayed) or found.observation is None:
            return run, None
        last = run.path[-1]
        if ADDRESSES in found.assumptions:
            self.doubt = f"it depends on that {ADDRESSES}"
            return run, None
        again = self._inputs(make)
        if not happens_elsewhere(self._program, start, run.path, again, kind, found, bounds, _AT_END):
            self.doubt = "objects lie at the addresses that the run gives them"
            return run, None
        self.doubt = doubts(self._program, MAIN, found, Target(last.function, last.edge, kind), start.data_model)
        return run, None if self.doubt else found

    def _inputs(self, make: MakeInputs) -> Inputs:
        return make() if self._task.allocation_fails else NeverFailing(make())


def path_of(found: Replayed) -> Sequence[Step]:
    """The edges of a replayed run."""
    return [Step(step.function, step.edge) for step in found.steps]
