"""What calls, and branches on their results, say of values: in terms of the caller, by what is known of the called functions."""

from __future__ import annotations

from collections.abc import Iterator, Set

from analysis.cfa.graph import Cfa, Edge
from analysis.engines.automaton.facts.product import ProgramDelta
from analysis.engines.automaton.feasibility.path_values import is_noted
from analysis.engines.automaton.feasibility.renaming import substitute
from analysis.engines.automaton.functions.known_conditions import Condition, bare, condition_of
from analysis.model import ir
from analysis.model.intervals import ZERO
from analysis.model.kept_with import kept_with


class CallValues:
    """What is said by the calls of one program, revision by revision."""

    def __init__(self, delta: ProgramDelta) -> None:
        self._entering: dict[tuple[str, int, str], tuple[tuple[ir.Expr, ir.Expr], ...]] = {}
        self.revise(delta)

    def revise(self, delta: ProgramDelta) -> None:
        """Takes the next revision."""
        self._delta = delta
        self._known_told: dict[tuple[str, int], tuple[Condition, ...]] = {}
        self._known_parts: dict[str, tuple[tuple[int, frozenset[ir.Expr]], ...]] = {}
        self._formulas: dict[tuple[str, int], ir.Expr | None] = {}

    def forget(self, functions: Set[str]) -> None:
        """The models of these functions are other ones."""
        gone = [key for key in self._entering if key[0] in functions or key[2] in functions]
        for key in gone:
            del self._entering[key]

    def formula(self, function: str, edge: Edge, call: ir.Call) -> ir.Expr | None:
        """The result of a call as an expression of the caller, if the called function only computes it."""
        key = function, edge.id
        if key not in self._formulas:
            callee = ir.direct_callee(call)
            cfa = None if callee is None else self._delta.program.functions.get(callee)
            formula = None if cfa is None else self._delta.model(cfa.name).cases.formula
            arguments: dict[ir.Expr, ir.Expr] = {}
            if cfa is not None:
                arguments.update(zip(cfa.parameters, call.arguments, strict=False))
            self._formulas[key] = None if formula is None else substitute(formula, arguments)
        return self._formulas[key]

    def told(self, function: str, edge: Edge) -> tuple[Condition, ...]:
        """What a branch says besides, if it tests the result of the call right before it: what that tells of the arguments."""
        key = function, edge.id
        found = self._known_told.get(key)
        if found is None:
            found = self._known_told[key] = tuple(self._told_by_result(function, edge))
        return found

    def _told_by_result(self, function: str, edge: Edge) -> Iterator[Condition]:
        effect = edge.effect
        condition = condition_of(effect) if isinstance(effect, ir.Assume) else None
        before = self._delta.program.functions[function].incoming.get(edge.source, ())
        call = before[0].effect if len(before) == 1 else None
        if condition is None or not isinstance(call, ir.Call) or call.result is None or condition[0] != call.result:
            return
        callee = self._delta.program.functions.get(ir.direct_callee(call) or "")
        truth = False if condition[1] == ZERO else True if condition[1].nonzero else None
        if callee is None or truth is None or any(call.result in ir.walk(argument) for argument in call.arguments):
            return
        arguments: dict[ir.Expr, ir.Expr] = dict(zip(callee.parameters, call.arguments, strict=False))
        for key, interval in self._delta.model(callee.name).cases.told[truth]:
            outer = substitute(key, arguments)
            if outer is not None:
                yield bare(outer), interval

    def told_parts(self, function: str) -> tuple[tuple[int, frozenset[ir.Expr]], ...]:
        """The branches of a function that tell something of other expressions than they test, and all parts of these."""
        found = self._known_parts.get(function)
        if found is None:
            branches = ((edge, self.told(function, edge)) for edge in self._delta.program.functions[function].edges)
            each = ((edge.id, frozenset(part for key, _ in told for part in ir.walk(key))) for edge, told in branches if told)
            found = self._known_parts[function] = tuple(each)
        return found

    def entering(self, function: str, edge: Edge, callee: str) -> tuple[tuple[ir.Expr, ir.Expr], ...]:
        """Pairs of the callee's expressions at its entry and the caller's for them."""
        key = function, edge.id, callee
        found = self._entering.get(key)
        if found is None:
            call = edge.effect
            assert isinstance(call, ir.Call)
            inner = self._delta.model(callee)
            arguments: dict[ir.Expr, ir.Expr] = dict(zip(inner.cfa.parameters, call.arguments, strict=False))
            pairs = ((expr, substitute(expr, arguments)) for expr in told_at_calls(inner.cfa))
            found = self._entering[key] = tuple((expr, outer) for expr, outer in pairs if outer is not None)
        return found


@kept_with
def told_at_calls(cfa: Cfa) -> tuple[ir.Expr, ...]:
    """The expressions of a function that a caller can know something of: parameters and what is tested or stored."""
    exprs: dict[ir.Expr, None] = dict.fromkeys(cfa.parameters)
    for edge in cfa.edges:
        for expr in ir.expressions(edge.effect):
            for part in ir.walk(expr):
                if is_noted(part) and all(v.scope in ("global", "parameter") for v in ir.variables(part)):
                    exprs[part] = None
    return tuple(exprs)


def called_pointer(edge: Edge) -> ir.Expr | None:
    """The pointer through which the edge calls a function, None where it names one."""
    call = edge.effect
    if not isinstance(call, ir.Call) or ir.direct_callee(call) is not None:
        return None
    return call.callee.pointer if isinstance(call.callee, ir.Deref) else call.callee
