"""Programs without `main` that are made to be used by several threads: what has to be assumed about their callers."""

from __future__ import annotations

from analysis.c.functions import known
from analysis.cfa.graph import Program
from analysis.model import ir
from analysis.model.assumptions import ONE_THREAD


def called_in_one_thread(program: Program) -> tuple[str, ...]:
    """The sentence, where nothing starts the program and it uses locks; else nothing. A program with `main` starts its threads
    itself, and what has no locks cannot be called in several threads where they share anything (C11 5.1.2.4p25)."""
    if "main" in program.functions:
        return ()
    is_locking = any(_uses_lock(program, edge.effect) for cfa in program.functions.values() for edge in cfa.calls)
    return (ONE_THREAD.sentence,) if is_locking else ()


def _uses_lock(program: Program, effect: ir.Effect) -> bool:
    if not isinstance(effect, ir.Call):
        return False
    functions = (known(name) for name in program.targets(effect) if name not in program.functions)
    return any(function is not None and function.positions("lock") for function in functions)
