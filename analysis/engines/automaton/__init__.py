"""Automaton checking with a derivation graph (ORION)."""
