"""Numbers of lines in arguments: what `__FILE__, __LINE__` leaves in calls of functions that report where they were called.

Every line end that is typed changes these numbers in all that follows, and nothing that a program does depends on them. So they
are any value: an assertion is the same wherever it stands, and an edit above it changes no CFA.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from analysis.model import ir


def without_line_numbers(arguments: Sequence[ir.Expr], path: str) -> tuple[ir.Expr, ...]:
    """The arguments of a call in the file at `path`; an integer constant behind a string that ends in its name is unknown."""
    end = os.path.basename(path) + '"'
    found: list[ir.Expr] = []
    for before, argument in zip((None, *arguments), arguments, strict=False):
        name = None if before is None else ir.strip_casts(before)
        if isinstance(name, ir.StringConst) and name.text.endswith(end) and isinstance(ir.strip_casts(argument), ir.IntConst):
            argument = ir.Unknown(argument.type)
        found.append(argument)
    return tuple(found)
