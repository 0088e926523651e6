"""Formulas, solvers, and C as formulas."""
