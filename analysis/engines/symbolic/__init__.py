"""The symbolic engine: decides findings by runs, path formulas and symbolic execution (DESIGN.md sections 7, 8 and 11).

task.Task ──> decide.decide ──> Confirmed (a replayed trace with values) | Refuted | Undecided (why)
"""

from analysis.engines.symbolic.decide import decide
from analysis.engines.symbolic.task import Confirmed, Decision, Effort, Refuted, Spent, Target, Task, Undecided

__all__ = ["Confirmed", "Decision", "Effort", "Refuted", "Spent", "Target", "Task", "Undecided", "decide"]
