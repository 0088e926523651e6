"""Asks solvers for satisfiability, interpolants and solutions of Horn clauses; one module imports z3.

`interpolation` tries weakest preconditions over an unsatisfiable core first, because these
generalise over loops, then Spacer. Bitwuzla's interpolants of bit-vectors are an option. Each
interpolant is checked.
"""
