"""Running a program from a function on."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.cfa.graph import Program
from analysis.interpreter.inputs import Inputs
from analysis.interpreter.leaks import missing
from analysis.interpreter.machine import Machine
from analysis.interpreter.outcome import DEFAULT_BOUNDS, Bounds, Exited, Kind, Returned, Run, Start, Step
from analysis.interpreter.program_code import code_of


def execute(program: Program, start: Start, inputs: Inputs, bounds: Bounds = DEFAULT_BOUNDS, *, record: bool = False) -> Run:
    """Runs the program from the start to the first observation or another end; `record` keeps the path. Never raises for what the
    program does. Raises KeyError if the program does not define the function."""
    path: list[Step] | None = [] if record else None
    return Machine(code_of(program, start), start, inputs, bounds).run(path=path)


def execute_to_end(
    program: Program, start: Start, inputs: Inputs, bounds: Bounds, kinds: Sequence[Kind]
) -> tuple[Run, Kind | None]:
    """Like `execute`, with the path. If the program ends by itself, the first of the kinds that its state then violates
    (`leaks.missing`); of a program that aborts, nothing is asked."""
    path: list[Step] = []
    machine = Machine(code_of(program, start), start, inputs, bounds)
    run = machine.run(path=path)
    if not isinstance(run.end, Returned) and not (isinstance(run.end, Exited) and run.end.status is not None):
        return run, None
    return run, next((kind for kind in kinds if missing(machine, kind, ended=True) is not None), None)
