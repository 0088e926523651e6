"""What a program does with the result of a call: `comparisons`."""

from __future__ import annotations

from analysis.cfa.graph import Cfa
from analysis.interpreter.program_code import ProgramCode
from analysis.model import ir
from analysis.model.c_types import Integer
from analysis.model.comparisons import COMPARISONS, MIRRORED

_INT = 32  # bits of the results that are followed


def comparisons(code: ProgramCode, cfa: Cfa, result: ir.Expr | None) -> frozenset[tuple[str, int]] | None:
    """The comparisons that decide what becomes of a result of type int: operators with the constants on their right. The result
    is followed through variables, and to the callers of the function. None if it is used otherwise, too."""
    if result is None:
        return frozenset()
    uses = _Uses(code)
    return frozenset(uses.found) if _is_plain(result) and uses.follow(cfa, result) else None


def _is_plain(expr: ir.Expr) -> bool:
    """Whether it is a variable that only its function can name."""
    return isinstance(expr, ir.Var) and expr.scope in ("local", "parameter", "temporary") and _keeps(expr.type)


def _keeps(type_: object) -> bool:
    """Whether each int keeps its value in the type."""
    return isinstance(type_, Integer) and type_.signed and type_.bits >= _INT


class _Uses:
    """The uses of results, as far as they were followed."""

    def __init__(self, code: ProgramCode) -> None:
        self._code = code
        self._seen: set[tuple[str, str]] = set()
        self.found: set[tuple[str, int]] = set()

    def follow(self, cfa: Cfa, held: ir.Expr) -> bool:
        """Whether a variable is only compared with constants, wherever it goes."""
        assert isinstance(held, ir.Var)
        if (cfa.name, held.name) in self._seen:
            return True
        self._seen.add((cfa.name, held.name))
        return all(self._follow_effect(cfa, edge.effect, held) for edge in cfa.edges)

    def _follow_effect(self, cfa: Cfa, effect: ir.Effect, held: ir.Var) -> bool:
        match effect:
            case ir.Assign(target, value) if self._is_held(value, held):
                return (target == held or not self._uses(target, held)) and _is_plain(target) and self.follow(cfa, target)
            case ir.Assign(target, value):
                return self._is_compared(value, held) and (target == held or not self._uses(target, held))
            case ir.Assume(condition) if self._is_held(condition, held):
                self.found.add(("!=", 0))
                return True
            case ir.Return(value) if value is not None and self._is_held(value, held):
                return self._follow_return(cfa)
            case ir.Call(callee, arguments, result):
                others = result is None or result == held or not self._uses(result, held)
                return others and all(self._is_compared(expr, held) for expr in (callee, *arguments))
        return all(self._is_compared(expr, held) for expr in ir.expressions(effect))

    def _follow_return(self, cfa: Cfa) -> bool:
        if cfa.name in self._code.address_taken or not _keeps(cfa.type.result):
            return False
        results = [(caller, call.result) for caller, call in self._code.callers(cfa.name) if call.result is not None]
        return all(_is_plain(result) and self.follow(caller, result) for caller, result in results)

    def _is_compared(self, expr: ir.Expr, held: ir.Var) -> bool:
        """Whether an expression has the variable only in comparisons with constants."""
        waiting = [expr]
        while waiting:
            part = waiting.pop()
            found = self._comparison(part, held)
            if found is not None:
                self.found.add(found)
                continue
            if isinstance(part, ir.Var) and part == held:
                return False
            waiting.extend(ir.operands(part))
        return True

    def _comparison(self, part: ir.Expr, held: ir.Var) -> tuple[str, int] | None:
        match part:
            case ir.Unary("!", operand) if self._is_held(operand, held):
                return "==", 0
            case ir.Cast(operand, Integer(name="_Bool")) if self._is_held(operand, held):
                return "!=", 0
            case ir.Binary(operator, left, ir.IntConst(value)) if operator in COMPARISONS and self._is_held(left, held):
                return operator, value
            case ir.Binary(operator, ir.IntConst(value), right) if operator in COMPARISONS and self._is_held(right, held):
                return MIRRORED[operator], value
        return None

    def _is_held(self, expr: ir.Expr, held: ir.Var) -> bool:
        """Whether it is the variable's value."""
        while isinstance(expr, ir.Cast) and _keeps(expr.type):
            expr = expr.operand
        return expr == held

    def _uses(self, expr: ir.Expr, held: ir.Var) -> bool:
        return any(variable == held for variable in ir.variables(expr))
