"""The witness engine: runs CFAs on concrete inputs, and replays counterexamples (invariant I9).

A finding is `confirmed` only if `replay` says `Replayed` for it. `execute` runs a program freely, as the tests against a
compiler do.

    inputs ──> interpreter.execute ──> Run (how it ended, the path it took, which inputs it read)
    path + inputs + rule ──> replay.replay ──> Replayed (values at each step) | Diverged (where, and why)
"""

from analysis.interpreter.inputs import Fresh, Inputs, Object, Question, Script
from analysis.interpreter.interpreter import execute
from analysis.interpreter.outcome import Bounds, Diverged, Observation, Replayed, Run, Start, Step
from analysis.interpreter.replay import replay

__all__ = [
    "Bounds",
    "Diverged",
    "Fresh",
    "Inputs",
    "Object",
    "Observation",
    "Question",
    "Replayed",
    "Run",
    "Script",
    "Start",
    "Step",
    "execute",
    "replay",
]
