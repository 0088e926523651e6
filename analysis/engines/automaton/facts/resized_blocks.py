"""What it means that `realloc` leaves the block that it is passed: it returned null, and was asked for more than nothing.

Of size 0 it may free the block and return null (C11 7.22.3.5; so does glibc). Functions of programs rely on that:
`r = realloc(p, n); if (!r && (!p || n)) give_up(); return r;`. So null for a size of 0 does not say that the block
is still there.
"""

from __future__ import annotations

from analysis.c.blocks import RESIZES
from analysis.cfa.graph import Program
from analysis.engines.automaton.functions.function_model import FunctionModel
from analysis.engines.automaton.functions.known_conditions import Known, bare
from analysis.model import ir
from analysis.model.intervals import NONZERO


def sizes_asked(program: Program, call: ir.Effect) -> tuple[ir.Expr, ...]:
    """The arguments whose product is the size that a call wants a block to have; none if it resizes no block."""
    name = ir.direct_callee(call) if isinstance(call, ir.Call) else None
    function = None if name is None or name not in RESIZES else program.known(name)
    if function is None or not isinstance(call, ir.Call):
        return ()
    return tuple(bare(call.arguments[at]) for at in function.sizes if at < len(call.arguments))


def is_of_no_size(program: Program, call: ir.Effect) -> bool:
    """Whether a call asks for a block of 0 bytes in place of another, as `realloc(p, 0)` does: then that may be freed."""
    return any(isinstance(size, ir.IntConst) and size.value == 0 for size in sizes_asked(program, call))


def where_left(model: FunctionModel, program: Program, call: ir.Call) -> Known:
    """What a fact says of the sizes that a call asks for, if the block is left as it was: none is 0."""
    numbers = model.conditions.numbers
    return {numbers[size]: NONZERO for size in sizes_asked(program, call) if size in numbers}
