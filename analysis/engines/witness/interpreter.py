"""Running a program from a function on."""

from __future__ import annotations

from analysis.cfa.graph import Program
from analysis.engines.witness.inputs import Inputs
from analysis.engines.witness.machine import Machine
from analysis.engines.witness.outcome import DEFAULT_BOUNDS, Bounds, Run, Start, Step
from analysis.engines.witness.program_code import code_of


def execute(program: Program, start: Start, inputs: Inputs, bounds: Bounds = DEFAULT_BOUNDS, *, record: bool = False) -> Run:
    """Runs the program from the start to the first observation or another end; `record` keeps the way. Never raises for what the
    program does. Raises KeyError if the program does not define the function."""
    way: list[Step] | None = [] if record else None
    return Machine(code_of(program, start), start, inputs, bounds).run(way=way)
