"""The symbolic engine: decides findings, and properties of whole programs, by runs, path formulas and symbolic execution.

task.Task ────────> decide.decide ────────> Confirmed (a replayed trace with values) | Refuted | Undecided (why)
task.ProgramTask ─> whole.decide_program ─┘
"""

from analysis.engines.symbolic.decide import decide
from analysis.engines.symbolic.task import Confirmed, Decision, Effort, ProgramTask, Refuted, Spent, Target, Task, Undecided
from analysis.engines.symbolic.whole import decide_program

__all__ = [
    "Confirmed",
    "Decision",
    "Effort",
    "ProgramTask",
    "Refuted",
    "Spent",
    "Target",
    "Task",
    "Undecided",
    "decide",
    "decide_program",
]
