"""Runs rule automata over a program and repairs the result after each edit ([ORION]).

Reading order: `functions`, `facts`, `solver`, `feasibility`, `revision`, `report`, `engine`.

A state is a *fact*: a rule, its state, and the access paths that hold the tracked value, or one of them
(`facts.outcomes`). `NOTHING`
is the fact that means only "reached"; all rules share it. `solver.full` computes which facts reach
which locations, for any `Delta`; `facts.product.ProgramDelta` is the one for C. A stretch of edges
that does not change a fact is one derivation (`Delta.quiet`).

Facts are path-insensitive. This keeps the graph small, and some error paths are infeasible. So
`feasibility` searches a path for each error. An error without a path is refuted. Programs of at
most `Limits.global_edges` edges are searched from their start. In larger ones a path begins where
the value begins to be tracked, and `report.beginnings` finds the calls that lead there.

After an edit, `revision` names what differs, `solver` repairs the graph, and `report` keeps the
paths through functions whose graph did not change. Theorems 1 to 3 of the paper are property-based
tests in `tests/engines`. This engine proves nothing (invariant I10).

Some decisions accept missed defects to avoid noise:

- A test for null or zero is evidence inside its function only (`local-states` in the rule). A
  helper that tests its argument says nothing about the caller.
- A result that is null or zero because an argument was is evidence only where the argument is known
  to be (`facts.call_mapping`). The same module follows a null result into the field where the call
  stores it, and null behind pointers across calls where something failed. Other nulls and zeros
  behind pointers cross calls through `*out` only.
- A call through a pointer reaches the functions whose addresses flow there, through variables, parameters, members and tables
  (`cfa.function_values`), or those of its type where the flow is not understood; along one path, the one that the pointer
  holds (`feasibility.path_values`). If it has several targets, it passes no null or zero (`facts.product`).
- Globals are followed from the program's start only in small programs (`facts.product`).
- Memory stored in an object that the function did not make, or in a global of a large program,
  counts as given away (`facts.outcomes`). Ownership is not tracked through the heap, but for members in which the whole program
  stores only what it has just allocated (`functions.owned_members`).
- There is one finding per function, rule, message and lost variable, at its first place (`report.findings`).
- An error is reported only with a path whose branches agree, found within a budget
  (`feasibility`). If the search gives up, the function's verdict says so.
- In large programs an assertion counts only where its failure is decided inside its function
  (`facts.transfer.asks_for_decision`).
- A null result is evidence at every call if the function returns it because something failed that
  may fail in any run, like `malloc`. If it depends on arguments or on state, it is evidence in
  small programs; in larger ones where the call tests it, or most other calls do, or there are no
  others (`functions.beliefs`).
- A global that changes only in functions that never return, and call nothing that mentions it, keeps its initial value
  (`functions.constant_globals`).
- A function that comes back only through `longjmp` does not return (`functions.cases`).
- Some library functions return a pointer into their argument, and only read it
  (`facts.ownership.handed_back`, `functions.footprint`).
- Where a call may have stored something else in one of the places that hold a block, nothing is said of its being lost. A call is
  taken to change nothing in a block that only one variable leads to (`functions.private_objects`).
- The object of a parameter, and those that its members lead to, are taken for different ones (`functions.variable_sources`).
- Memory that a function hands out by a pointer into it counts as given away: its user cannot know how to free it
  (`facts.interior`).
"""

from analysis.engines.automaton.engine import Algorithm, Analysis, AutomatonResult, Engine

__all__ = ["Algorithm", "Analysis", "AutomatonResult", "Engine"]
