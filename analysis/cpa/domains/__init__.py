"""Defines the abstract domains, one file each; they do not import each other.

`location` and the call stack, `assumptions` (why a result is incomplete), `value`,
`symbolic_value`, `constraints`, `predicate` and `rule_automaton`. What two of them need is in
`analysis.cpa`.

`rule_automaton` tracks values, not access paths: an address, a number or a symbolic value.
`predicate` ends blocks at loop heads, optionally at function boundaries and joins; its abstraction
is boolean or cartesian.
"""
