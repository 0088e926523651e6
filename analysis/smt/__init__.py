"""Formulas (`logic`), solvers (`solving`), and C as formulas: of one path (`encoding`), of one step (`transitions`)."""
