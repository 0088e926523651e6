"""Paths through control-flow automata as formulas, with calls, and with the conditions under which an edge fails."""
