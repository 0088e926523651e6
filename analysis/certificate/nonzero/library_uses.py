"""What calls of external functions do with the objects to which their arguments lead."""

from __future__ import annotations

from typing import Literal

from analysis.cfa.graph import Program
from analysis.model import ir

Use = Literal["kept", "written", "forgotten"]
_READS = frozenset(("n", "any", "in", "copied", "text", "size", "freed", "format", "..."))
_WRITES = _READS | {"out", "inout", "one"}


def use_of(program: Program, call: ir.Call, position: int) -> Use:
    """What a call does with the object that an argument leads to: it overwrites it, or forgets the pointer and leaves the object
    alone, or frees it; else the pointer may be kept, by a function of the program, for example, or one that is not known."""
    targets = program.targets(call)
    found = {_of(program, call, target, position) for target in targets}
    if len(found) != 1:
        return "kept"
    return next(iter(found))


def _of(program: Program, call: ir.Call, target: str, position: int) -> Use:
    function = None if target in program.functions else program.known(target)
    if function is None or not function.is_complete:
        return "kept"
    uses = function.argument(position).uses
    is_passed_on = function.result in ("argument", "into") and function.of == position and call.result is not None
    if is_passed_on or not uses <= _WRITES or "elsewhere" in function.besides:
        return "kept"
    return "forgotten" if uses <= _READS else "written"
