"""Replays traces with a memory of its own, nothing of it the engine's: what branches said, until that can have changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analysis.cfa.graph import Cfa, Program
from analysis.engines.automaton.functions.footprint import address_taken
from analysis.engines.automaton.report.trace import Taken
from analysis.model import ir


class _Frame:
    """A call: what branches said of expressions, and which constants they left out."""

    def __init__(self, cfa: Cfa) -> None:
        self.cfa = cfa
        self._exposed = address_taken(cfa)
        self._said: dict[ir.Expr, bool] = {}
        self._constant: dict[ir.Expr, int] = {}
        self._other: dict[ir.Expr, set[int]] = {}

    def branch(self, condition: ir.Expr, truth: bool) -> bool:
        """Takes a branch; whether that contradicts what was said before."""
        while isinstance(condition, ir.Unary) and condition.operator == "!":
            condition, truth = condition.operand, not truth
        if self._said.setdefault(condition, truth) != truth:
            return False
        if not isinstance(condition, ir.Binary) or not isinstance(condition.right, ir.IntConst):
            return True
        left, constant = condition.left, condition.right.value
        if condition.operator not in ("==", "!="):
            return True
        if (condition.operator == "==") == truth:
            return self._constant.setdefault(left, constant) == constant and constant not in self._other.get(left, ())
        self._other.setdefault(left, set()).add(constant)
        return self._constant.get(left) != constant

    def forget(self, target: ir.Expr | None, by_call: bool) -> None:
        """Something is written: a variable that only this function can name, or else anything that others can name."""
        private = isinstance(target, ir.Var) and self._is_private(target)
        for table in (self._said, self._constant, self._other):
            for expr in list(table):
                names = list(ir.variables(expr))
                changed = target in names or ((by_call or not private) and not self._is_own(expr, names))
                if changed:
                    del table[expr]

    def _is_own(self, expr: ir.Expr, names: Iterable[ir.Var]) -> bool:
        plain = not any(isinstance(part, ir.Deref | ir.Index | ir.Field) for part in ir.walk(expr))
        return plain and all(map(self._is_private, names))

    def _is_private(self, var: ir.Var) -> bool:
        return var.scope not in ("global", "function") and var.name not in self._exposed


def contradiction(program: Program, steps: Sequence[Taken]) -> str | None:
    """The first branch of a path that contradicts, within its call, what was said before; None if none does."""
    frames: list[_Frame] = []
    for taken in steps:
        if taken.edge < 0:
            frames = [_Frame(program.functions[taken.function])]
            continue
        while len(frames) > taken.depth + 1:
            frames.pop()
        while len(frames) < taken.depth + 1:
            frames.append(_Frame(program.functions[taken.function]))
        frame = frames[-1]
        assert frame.cfa.name == taken.function, "a call leads to the function of the next step"
        effect = frame.cfa.by_id[taken.edge].effect
        if isinstance(effect, ir.Assume):
            if not frame.branch(effect.condition, effect.truth):
                return f"{taken.function}: {effect}"
        elif isinstance(effect, ir.Call):
            if taken.event != "descent":
                frame.forget(effect.result, by_call=True)
        elif (target := ir.target_of(effect)) is not None:
            frame.forget(target, by_call=False)
    return None
