"""Numbers of lines in arguments: what `__FILE__, __LINE__` leaves in calls of functions that report where they were called.

Every line end that is typed changes these numbers in all that follows, and hardly anything that a program does depends on
them. So they are any value: an assertion is the same wherever it stands, and an edit above it changes no CFA. Where a run depends
on one, it asks for it (`analysis.interpreter.unused_values`), and is not confirmed.
"""

from __future__ import annotations

import os

from analysis.c.control import FAILED_ASSERTIONS
from analysis.c.functions import known
from analysis.model import ir


def without_line_numbers(callee: ir.Expr, arguments: tuple[ir.Expr, ...], path: str) -> tuple[ir.Expr, ...]:
    """The arguments of a call in the file at `path`; an integer constant behind a string that ends in its name is unknown. But
    functions of the library get lines only where an assertion failed, or to print them: `strrchr(__FILE__, '/')` has none."""
    if isinstance(callee, ir.Var) and callee.scope == "function" and not _may_report(callee.name):
        return arguments
    end = os.path.basename(path) + '"'
    found: list[ir.Expr] = []
    for before, argument in zip((None, *arguments), arguments, strict=False):
        name = None if before is None else ir.strip_casts(before)
        if isinstance(name, ir.StringConst) and name.text.endswith(end) and isinstance(ir.strip_casts(argument), ir.IntConst):
            argument = ir.Unknown(argument.type)
        found.append(argument)
    return tuple(found)


def _may_report(name: str) -> bool:
    function = known(name)
    return function is None or name in FAILED_ASSERTIONS or function.format is not None
