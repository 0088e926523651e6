"""Formulas, solvers, and C as formulas (DESIGN.md section 7)."""
