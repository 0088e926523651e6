"""Solvers and what is asked of them: satisfiability, interpolants, Horn clauses. One module imports z3."""
