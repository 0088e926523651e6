"""Refutes violations from where they are, backwards (goal-directed symbolic execution).

Nothing is assumed of the code before but that it did nothing undefined: the analysis goes from the violation
against the edges, through the function that it is in and then through its callers, and asks for what must
have held before. Where that cannot hold, no run comes from there. So what is looked at does not grow with the
program. The method is that of [THRESHER]. Starting in the middle, with everything before unknown, keeps
symbolic execution small [UNDER-CONSTRAINED].

search.refute ──> preimage (what must hold before an edge) ── rewriting, places (lvalues, what can be the same object)
     │                        └── writes (what functions can change, which can return)
     └── formulas (whether conditions can hold together)
"""

from analysis.engines.symbolic.backward.backward_search import Answer, Question, refute

__all__ = ["Answer", "Question", "refute"]
