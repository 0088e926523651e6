"""Proves properties by predicate analysis with CEGAR.

`predicate_search` alternates abstraction and refinement by interpolants. `clauses` gives the whole
program to Spacer as Horn clauses; `procedure_proof` does so for recursive programs. `predicate_proof`
says when each has its turn. A small program goes to Spacer after a short search, for a tenth of the
time, and again if refinement does not end. With
*global guidance* Spacer finds invariants of sums that it otherwise enumerates value by value; the
last attempt runs without it.

From revision to revision, what is left of a proof comes before all of that (`reuse`).
"""
