"""Proves bounds of integers: of results, and where operators need them.

For each location of a function, a claim has bounds of the integer variables that only the function's own edges change: those
whose address is never taken. The *search* (`range_search`) finds them by interval analysis with widening to constants of the
function, and narrowing. The *checker* (`range_checker`) believes none of it: the claim has
to hold where the function begins, and each edge has to lead from what is claimed before it to what is claimed behind it.

    functions, callees first ── range_search ──> FunctionRanges ── range_checker ──> bounds of results, rules kept
                                     │                                  │
                                     └──────── range_transfer ──────────┘   (what C means)

The bounds of the result are the contract of a function, and hold at its calls. Of functions that call each other, claims are
checked with the results that they claim of each other (Hoare's rule of recursion). What overflows may be anything of its type, as
gcc's code wraps it: no bound rests on undefined behaviour that does not happen.

Behind what is not supported, behind calls that may come back twice, and where a call among operands in an open order does not
return, a function is not followed: nothing is claimed of it.
"""
