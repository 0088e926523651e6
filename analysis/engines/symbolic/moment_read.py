"""Runs that depend on when the program is translated. The text is preprocessed as of one moment (`c.translation_time`), at which
nobody compiles the program: what happens only then, no user will see. So a run confirms nothing that names such a text, but to
print it, which changes nothing."""

from __future__ import annotations

from analysis.c.functions import known
from analysis.cfa.graph import Program
from analysis.cfa.linking.evaluation_order import assumptions_of, initial_values, is_time
from analysis.interpreter.outcome import Replayed
from analysis.model import ir
from analysis.model.assumptions import TRANSLATION_TIME
from analysis.model.kept_with import kept_with


def moment_doubt(program: Program, replayed: Replayed) -> str:
    """Why what a run does may depend on when the program is translated; empty if it does not."""
    if TRANSLATION_TIME.sentence not in assumptions_of(program):
        return ""
    holders = _holders(program)
    for step in replayed.steps:
        effect = program.functions[step.function].by_id[step.edge].effect
        if not _prints(program, effect) and any(
            is_time(part) or (isinstance(part, ir.Var) and part.scope == "global" and part.name in holders)
            for expr in ir.expressions(effect)
            for part in ir.walk(expr)
        ):
            return "the program is compiled on 1 January 1970, as the run assumes where it names __DATE__ or __TIME__"
    return ""


@kept_with
def _holders(program: Program) -> frozenset[str]:
    """The variables that start with such a text, or with a pointer to one that does."""
    found: set[str] = set()
    before = -1
    while len(found) > before:
        before = len(found)
        for name, variable in program.globals.items():
            parts = (part for value in initial_values(variable) for part in ir.walk(value))
            if any(is_time(part) or (isinstance(part, ir.Var) and part.name in found) for part in parts):
                found.add(name)
    return frozenset(found)


def _prints(program: Program, effect: ir.Effect) -> bool:
    """Whether it is a call of a library function that prints: the texts are always equally long, and so is what is printed."""
    name = ir.direct_callee(effect) if isinstance(effect, ir.Call) else None
    function = None if name is None or name in program.functions else known(name)
    return function is not None and function.leaves_memory and (bool(function.positions("format")) or name in ("puts", "fputs"))
