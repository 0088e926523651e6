"""Refutes violations by a search backward from where they are (goal-directed symbolic execution).

The search assumes nothing about the code before, except that it did nothing undefined. It goes
from the violation against the edges, through its function and then through the callers, and
computes what must have held before. If that cannot hold, no run reaches the violation. So the work
does not grow with the program. The method is that of [THRESHER]; starting in the middle with
everything before unknown is that of [UNDER-CONSTRAINED].

    backward_search ──> preimage (what must hold before an edge) ── rewriting (lvalues)
         │                  └── cpa.effects (what functions can change, which can return)
         └── preimage_formulas (whether conditions can hold together)

A state is a set of conditions at a location. Parameters and pointers may be aliases, memory may
hold anything, and calls change what `cpa.effects.writes` says. `preimage` only weakens: an unknown value becomes
a symbol, and dropping a condition is always sound. Loops drop conditions that change from round to
round. `statics` goes from a static variable to its last writes. The search gives up where code may
run that edges do not show: threads, signal handlers that write, functions called from outside,
unsupported statements, `setjmp`. It uses types to tell accesses apart (C11 6.5p7) and assumes that
accesses stay in their variables; the answer reports both.
"""

from analysis.engines.symbolic.backward.backward_search import Answer, Question, refute

__all__ = ["Answer", "Question", "refute"]
