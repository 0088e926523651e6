"""Automaton checking with a derivation graph (ORION).

Reading order: `functions` (what is known of a function beforehand), `facts` (what an automaton state is, and the transition
relation), `solver` (Full, and the repair of its graph), `revision` (what changed), `feasibility` (which errors have a path),
`report` (findings, traces, verdicts), `engine` (all of it together).
"""

from analysis.engines.automaton.engine import Algorithm, Analysis, AutomatonResult, Engine

__all__ = ["Algorithm", "Analysis", "AutomatonResult", "Engine"]
