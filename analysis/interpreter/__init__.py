"""Runs CFAs on concrete inputs and replays counterexamples (invariant I9).

A finding is `confirmed` only if `replay` returns `Replayed`. `execute` runs a program freely.

    inputs ──> interpreter.execute ──> Run (how it ended, its path, the inputs that it read)
    path + inputs + rule ──> replay.replay ──> Replayed (values at each step) | Diverged (where, why)

    program_code ── function_code (a Python function per location, made on first use) ── machine
                      │ expressions, objects, arithmetic, scalars       │ questions ──> inputs
                      │ library (external functions)                    │ memory (blocks of bytes)
    replay ── watches the machine before each edge ── shown (values for people), leaks

- A scalar whose address is never taken is in a register. All else is bytes in *blocks*; each byte is
  indeterminate, known, or an input that is asked for when it is read. A pointer is an address. No
  address is given out twice, so the address identifies its object through casts, unions and
  `memcpy`, also after the object is gone.
- A run is deterministic: the same program, start and answers give the same questions in the same
  order. Every end is a value (`outcome.End`); no exception leaves the package. Recursion in C uses
  no Python frames.
- A violation ends the run (`Start.past` names two that need not). What cannot be executed
  faithfully ends it as `NotModelled`. What is assumed, such as the result of an external function,
  is in the run's `assumptions`.
- Operands that C may evaluate in either order are evaluated from left to right; where the order could matter, the run ends
  (`open_orders`). What a `volatile` object holds is an input, and without one what was stored there last.
- Locks are identified by address (`library.locks`). Functions given to `atexit` run.

Not modelled: `long double` and complex arithmetic, vectors, alignment of variables, records whose
attributes are not understood, arguments of `...` that an entry is given, tables of more than
4096 initialisers, effective types. A block ends between two rounds of a loop only if something
outside of it runs in between; `cpa.obstacles.lifetimes` keeps proofs away from such pointers.

`benchmarks.interpreted` compares runs of random programs with code compiled under sanitizers.
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
