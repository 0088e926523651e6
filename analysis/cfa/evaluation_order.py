"""Where the order matters in which operands and arguments are evaluated. C leaves it open (C11 6.5p2-3, 6.5.2.2p10).
Lowering goes from left to right, and compilers do as they like: gcc evaluates arguments from right to left on most machines.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from analysis.cfa.graph import Cfa, Program
from analysis.model import ir
from analysis.model.assumptions import BEFORE, ORDER

_ORDERED: WeakKeyDictionary[Cfa, bool] = WeakKeyDictionary()


def granted(program: Program) -> tuple[str, ...]:
    """What every proof about the program takes for granted."""
    return (BEFORE.sentence, ORDER.sentence) if any(map(_is_ordered, program.functions.values())) else (BEFORE.sentence,)


def _is_ordered(cfa: Cfa) -> bool:
    """Whether a function has an operand with a side effect: its value is kept in a variable that lowering makes."""
    known = _ORDERED.get(cfa)
    if known is None:
        known = _ORDERED[cfa] = any(_keeps_value(edge.effect) for edge in cfa.edges)
    return known


def _keeps_value(effect: ir.Effect) -> bool:
    target = effect.result if isinstance(effect, ir.Call) else effect.target if isinstance(effect, ir.Assign) else None
    return isinstance(target, ir.Var) and target.scope == "temporary"
