"""Library functions that keep objects of the program, or functions of it: later calls of others write to these, or call them.

A stream writes to the buffer that `setvbuf` gave it (C11 7.21.5.6), and one of `fopencookie` calls functions of the program. So
what is proved of a function as if nothing ran before it holds only if it does nothing with streams, or if none is like that.
"""

from __future__ import annotations

from collections.abc import Iterable

from analysis.c.calls import is_null
from analysis.c.control import KEEPS_BUFFERS
from analysis.c.functions import known
from analysis.cfa.graph import Program
from analysis.model import ir
from analysis.model.kept_with import kept_with


@kept_with
def keeping_buffers(program: Program) -> str:
    """A function that the program calls, and that keeps something; empty if there is none."""
    for name in sorted(KEEPS_BUFFERS & program.address_taken):
        if name not in program.functions:
            return name
    effects = (edge.effect for cfa in program.functions.values() for edge in cfa.calls)
    calls = ((ir.direct_callee(call) or "", call) for call in effects if isinstance(call, ir.Call))
    return next((name for name, call in calls if name not in program.functions and _keeps(name, call)), "")


def _keeps(name: str, call: ir.Call) -> bool:
    """Whether a call keeps anything: `setvbuf(file, NULL, ...)` does not."""
    if name not in KEEPS_BUFFERS:
        return False
    function = known(name)
    if function is None or not function.positions("handle"):
        return True
    return not all(at < len(call.arguments) and is_null(call.arguments[at]) for at in function.positions("kept"))


def may_use_buffers(called: Iterable[str]) -> bool:
    """Whether one of these external functions may write to what others kept. Those that keep `errno` do no input or output."""
    functions = (known(name) for name in called)
    return any(one is None or "keeps-errno" not in one.besides for one in functions)
