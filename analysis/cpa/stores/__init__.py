"""Holds and updates the values of objects for the value domains.

`store_memory` keeps objects by root and cells by their extent in bits. `evaluate` and
`step_effects` compile each step once per call depth to Python functions; an `Algebra` defines the
operations on unknown values. `writing` finds the objects that a write can reach, `variables` those
that are live or have their address taken. `branch_refinement` uses what an equality implies.
"""
