"""Proves that values are not zero, or null, where a function needs that.

The rules are null-dereference and division-by-zero. A function is followed from its entry, forward, without a
solver. At each location it is known which lvalues are zero, which are not, and which variables equal what; in a
few states, so that flags are followed. What an edge needs (a pointer that is followed, a divisor, an argument of
a library function) must be known not to be zero.

    requirement_search ──> requirement_checker ──> followed ──> walk ──> transfer ──> conditions ──> main_arguments ──> values
                                                      │          │          └─> needed_values, writes, open_orders
                                                      │          └─> callee_contracts
                                                      └─> called_contexts

Where it is not known, the function may *need* it of its callers: that parameters, or what they lead to, are
not zero. Calls have to keep what the called function needs. What callers may rely on is the *contract* of the
function: what it needs, whether it returns, whether its result may be zero, and which objects it writes, and clears.
A call that does not keep what is needed is followed by itself, with the constants that it passes. If that does not help,
what holds of the function without its needs is known, up to where it violates the rule.
Functions that call each other assume contracts of each other that follow from themselves (Hoare's rule of
recursion).

What a member of a structure or a variable holds is known where the program keeps *invariants*: values that are never zero, in all
of the program, from `main` on. Every write and every construction of an object is checked.

    invariant_candidates ──> kept_invariants ──> walk ──> transfer ──> construction
      └─> left_out_records ──> other_accesses        └─> unfollowed_edges      │
                                     └──> overwritten <───────────────────────┘

A claim is only what each function needs. The checker follows all functions again, and finds each call itself.
"""
