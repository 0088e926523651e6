"""Automaton checking with a derivation graph (ORION).

Reading order: `paths` and `facts` (what an automaton state is), `conditions`, `footprint`, `matching` and `function_model`
(what is known of a function beforehand), `transfer` and `calls` (the transition relation), `delta` (both together,
memoised), `full` (the algorithm), `changes`, `incr_fwd`, `incr_back` and `retrace` (repair), `revision` (what changed),
`feasibility` (which errors have a path), `chains`, `trace` and `engine` (answers).
"""

from analysis.engines.automaton.engine import Algorithm, Analysis, AutomatonResult, Engine

__all__ = ["Algorithm", "Analysis", "AutomatonResult", "Engine"]
