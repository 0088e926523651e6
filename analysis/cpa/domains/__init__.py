"""Defines the abstract domains, one file each; they do not import each other.

`location` and the call stack, `assumptions` (why a result is incomplete), `value`,
`symbolic_value`, `constraints` and `predicate`. What two of them need is in `analysis.cpa`.

`predicate` ends blocks at loop heads, optionally at function boundaries and joins; its abstraction
is boolean or cartesian.
"""
