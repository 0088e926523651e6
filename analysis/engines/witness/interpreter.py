"""Running a program from a function on."""

from __future__ import annotations

from analysis.cfa.graph import Program
from analysis.engines.witness.inputs import Inputs
from analysis.engines.witness.outcome import DEFAULT_BOUNDS, Bounds, Run, Start


def execute(program: Program, start: Start, inputs: Inputs, bounds: Bounds = DEFAULT_BOUNDS, *, record: bool = False) -> Run:
    """Runs the program from the start to the first observation or another end; `record` keeps the way. Never raises for what the
    program does. Raises KeyError if the program does not define the function."""
    raise NotImplementedError
