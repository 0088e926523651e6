"""Symbolic values and constraints over them, and the composition that executes programs with them ([SYMCEGAR] sections 3.2.5
to 3.2.7)."""
