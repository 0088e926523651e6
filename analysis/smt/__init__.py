"""Formulas (`logic`), solvers (`solving`), interpolants (`interpolants`), and C as formulas (`encoding`, `transitions`).

An interrupted query, or one that ran out of budget, is an answer that is never kept (invariant I12).
"""
