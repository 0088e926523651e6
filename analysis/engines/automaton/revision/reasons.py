"""Why a revision looked at a function again. It costs a little for each such function, nothing for others.

A function's own text counts before what is around it; of what is around it, what came first does.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from analysis.cfa.graph import Cfa, Program
from analysis.engines.automaton.solver.changes import Repaired
from analysis.model import ir
from analysis.model.report import RecheckReason

Reasons = dict[str, tuple[RecheckReason, str]]  # by function, with the other function that was the cause


def from_scratch(program: Program) -> Reasons:
    """Every function was looked at."""
    return dict.fromkeys(program.functions, ("scratch", ""))


def from_scratch_as_small(program: Program, old: Mapping[str, Cfa]) -> Reasons:
    """Every function was, and `old` are those before: what was not edited is told apart from what was."""
    return {name: ("small" if cfa is old.get(name) else "text", "") for name, cfa in program.functions.items()}


def add_reasons(known: Reasons, old: Mapping[str, Cfa], program: Program, touched: Set[str], repaired: Repaired) -> None:
    """Adds those of one repair to what earlier ones left that nobody asked for. `old` are the functions before, `touched` those
    that were modelled anew."""
    functions = program.functions
    new: Reasons = {
        name: ("text", "") if functions[name] is not old.get(name) else ("callee", _callee_among(program, name, touched))
        for name in sorted(touched)
        if name in functions
    }
    for name, reason in repaired.reasons.items():
        new.setdefault(name, reason)
    for name in repaired.checked:
        new.setdefault(name, ("together", ""))
    for name, reason in new.items():
        if reason[0] == "text" or known.get(name, reason)[0] != "text":
            known[name] = reason


def _callee_among(program: Program, caller: str, names: Set[str]) -> str:
    """One of the functions that a function calls, nothing if it calls none of them."""
    calls = (edge.effect for edge in program.functions[caller].calls if isinstance(edge.effect, ir.Call))
    called = (name for call in calls for name in program.targets(call))
    return next((name for name in called if name in names and name != caller), "")
