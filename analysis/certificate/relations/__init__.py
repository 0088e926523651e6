"""Proves equalities and bounds between old and new state.

They say how what a function returns and writes relates to what was there when it was called.
At each location, a claim says three things of the runs that come there. *Values*: what variables and objects hold, as terms over
what parameters, variables and memory held at the entry. *Written*: all places that may have been written to since; what lies
elsewhere holds what it held. *Differences*: `a - b <= c`, of mathematical integers, for such terms and variables.

The *search* (`relation_search`) starts with all that holds on the first way to a location, and drops what does not hold on
others (Houdini), with bounds by parameters as candidates for variables that loops change. The *checker* (`relation_checker`)
believes none of it: each edge has to lead from what is claimed before it to what is claimed behind it.

    relation_search ──> relation_checker ──> relation_transfer ──> evaluation ──> differences, relation_state
                                                  └─> relation_contract (what calls may rely on)

Of functions that call each other, claims are checked with the contracts that they claim of each other (Hoare's rule of
recursion). Computation wraps, as gcc's code does: nothing rests on overflow that does not happen. Which objects a write may
change is what `nonzero.writes` says: it takes the classes of types (C11 6.5p7) for granted, as those proofs do. Of a `volatile`
object it is said what was stored there last; what is read from one is unknown.
"""
