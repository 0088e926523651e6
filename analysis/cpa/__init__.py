"""Configurable program analysis (CPA): the framework, and the abstract domains that it composes ([SYMCEGAR] section 3).

An analysis is put together from operators and run by `framework.algorithm.explore` from any
reached set and waitlist. Whether it ends at a target, out of budget or cancelled, the reached set
and the waitlist are enough to resume.

    steps (interprocedural edges) ──> domains.location selects the next steps
       ──> framework.composite steps the other components, strengthens each with the states of all,
           merges, and tests coverage
       ──> framework.reachability (nodes by partition and rank; only smaller ranks can cover)

`stores` and `symbolic_values` hold what the value domains share, `predicates` what the predicate
domain and the certificates share. `obstacles` finds what a proof must not overlook.
`accessed_pointers` finds variables that surely point to an existing object.

All domains assume, and report, that accesses stay in the variable they begin in, and that an
external function calls no function of the program. Formulas give each object an address that no
other object ever has. So nothing is proved where a dangling pointer may be compared with another
pointer (`obstacles.ended_pointers`), nor where pointers to different objects may be compared and one
may be one past its end, or the comparison is `<` or a difference (`obstacles.compared_objects`).

To add a domain: one file in `domains`, and a case in `tests/cpa/test_domains.py`, which runs the
contract over all domains. Theorems are property-based tests: every run of a random program has an
abstract path, and resuming gives the same reached set.
"""
