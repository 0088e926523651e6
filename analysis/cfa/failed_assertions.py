"""The condition of an assertion, as the program has it: functions such as `__assert_fail` are passed its text."""

from __future__ import annotations

import re

from analysis.c.control import ERRORS, FAILED_ASSERTIONS
from analysis.model import ir
from analysis.model.spelling import display_name

LONGEST = 100
"""The characters of a condition in a message, at most."""

_LITERAL = re.compile(r'"((?:[^"\\`]|\\.)+)"')
_ESCAPED = re.compile(r'\\(["\\])')  # what `#` puts a backslash before (C11 6.10.3.2p2)


def failed_condition(effect: ir.Effect) -> str | None:
    """The text of the condition that is false where a call says that an assertion has failed; None where the effect is no such
    call, or has no text, or a long one.

    Headers pass the condition first (glibc, musl, Windows), or last (Darwin and BSD, behind the function, the file and the line).
    """
    if not isinstance(effect, ir.Call) or not isinstance(effect.callee, ir.Var):
        return None
    name, arguments = display_name(effect.callee.name), effect.arguments
    if name not in FAILED_ASSERTIONS - ERRORS or not arguments:
        return None
    argument = arguments[-1 if name == "__assert_rtn" else 0]
    while isinstance(argument, ir.Cast):
        argument = argument.operand
    literal = _LITERAL.fullmatch(argument.text) if isinstance(argument, ir.StringConst) else None
    if literal is None or not 0 < len(literal[1]) <= LONGEST:
        return None
    return _ESCAPED.sub(r"\1", literal[1])
