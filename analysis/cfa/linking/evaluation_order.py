"""What every proof about a program takes for granted. Where the order of evaluation could matter, nothing is proved at all
(`cfa.linking.open_order`); what that rests on is reported where operands with side effects are beside others."""

from __future__ import annotations

from analysis.cfa.graph import Program
from analysis.model.assumptions import BEFORE, ORDER


def granted(program: Program) -> tuple[str, ...]:
    """What every proof about the program takes for granted."""
    is_open = any(cfa.unordered for cfa in program.functions.values())
    return (BEFORE.sentence, ORDER.sentence) if is_open else (BEFORE.sentence,)
