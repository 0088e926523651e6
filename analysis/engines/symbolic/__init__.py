"""Decides findings and properties of whole programs by runs, path formulas and symbolic execution.

    task.Task ────────> decide.decide ────────> Confirmed (a replayed trace) | Refuted | Undecided
    task.ProgramTask ─> whole.decide_program ─┘

**One finding.** `decide` tries these in turn: runs (`first_runs`) on few inputs, with single faults
(`single_faults`), and on random inputs (`random_inputs`); the claimed path as a formula (`candidates`); a
search backward from the violation (`backward`); symbolic execution towards it (`explore`, `distance`;
not in large programs). For a finding that stays open, `inside` runs its function alone, to report
what the violation would need.

- Only what the interpreter observed at the target is confirmed. Models of formulas are inputs to
  try.
- `violation_branches` makes the violation a location of its own, behind a branch such as "the
  pointer is null". These branches over-approximate.
- A finding is refuted if an exploration ended without a path to that location, if no path of the
  whole tree has a model, or if all runs of a program with few inputs were made. No bound may have
  been hit and no obstacle may be open. A state that covers another hides its paths, so only the tree
  refutes by formulas.
- A run is not a confirmation if it needs a null argument, the content of an object given to an
  entry, the result of an unknown function, or arguments that no system gives to `main` (`caller`,
  `start_of_main`).

**A whole program.** Does any run from `main` violate one of these rules? A run counts whatever it
violates (`program_runs`). `path_tree` follows each path exactly and forks where a branch, an
allocation or a call through a pointer has several outcomes. `explore` is used only where every
violation is a condition on an edge's operands. The two take turns with growing budgets. Some
violations show only at the end of a run, such as leaks; only runs confirm these.

**A function by itself.** `function_runs` runs it on random inputs, and believes what does not depend on
what it is passed.

**Proofs.** `cegar` proves properties by symbolic execution with CEGAR ([SYMCEGAR] sections 4.4 and
6): values and constraints each have a precision by location.
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
