"""Formulas (`logic`), solvers (`solving`), and C as formulas: of a path (`encoding`), of a step (`transitions`).

An interrupted query, or one that ran out of budget, is an answer that is never kept (invariant I12).
"""
