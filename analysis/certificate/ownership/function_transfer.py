"""The successors of memory states, edge by edge of one function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from analysis.c.control import UNMODELLED
from analysis.certificate.ownership.block_changes import drop_at_return, drop_lost
from analysis.certificate.ownership.called_functions import call_defined
from analysis.certificate.ownership.contracts import Contract
from analysis.certificate.ownership.expression_values import assign, compared, value
from analysis.certificate.ownership.library_calls import Ends, call_library, call_unknown
from analysis.certificate.ownership.memory_state import (
    GONE,
    NULL,
    OTHER,
    PASSED,
    RESULT,
    Memory,
    MemoryState,
    at,
    block_of,
    is_own,
    is_start,
)
from analysis.certificate.ownership.obligations import RULES, Condition, Obligations
from analysis.certificate.ownership.open_operands import OpenOperands
from analysis.certificate.ownership.step import Step
from analysis.certificate.ownership.tracked_variables import read_later, tracked
from analysis.cfa.graph import Cfa, Edge, Program
from analysis.cfa.linking.obstacle_words import OPEN_ORDER
from analysis.cpa.obstacles.completeness import not_supported
from analysis.model import ir
from analysis.model.c_types import Pointer
from analysis.model.spelling import display_name


class FunctionTransfer:
    """What the edges of one function do to memory states, by the contracts of what it calls. `found` is what that shows."""

    def __init__(self, program: Program, cfa: Cfa, contracts: Mapping[str, Contract]) -> None:
        self._program, self._cfa, self._contracts = program, cfa, contracts
        self._names, self._read_later = tracked(cfa), read_later(cfa)
        self._orders = OpenOperands(cfa, self._names)
        self.found = Obligations()
        for edge in cfa.unsupported:
            if isinstance(edge.effect, ir.Unsupported) and not self._orders.is_followed(edge):
                self.found.broken = not_supported(cfa.name, edge.effect.reason)

    def initial(self) -> MemoryState:
        """The state at the entry: each parameter is null, or leads to a block of the caller's, or anywhere."""
        memory = Memory(MemoryState())
        for one in self._cfa.parameters:
            if one.name in self._names:
                memory.blocks[one.name] = PASSED
                memory.hold(one.name, at(one.name))
        return memory.state(self._read_later[self._cfa.entry])

    def successors(self, state: MemoryState, edge: Edge) -> Iterable[MemoryState]:
        """The states in which the edge can be left; none if it cannot be taken."""
        step = Step(self._program, self._cfa, self._names, edge, Memory(state), self.found)
        ends = list(self._ends(step))
        if self._orders.is_amid(edge):
            self._check_order(step, Memory(state), ends)
        return [self._finished(step._replace(memory=memory)) for memory in ends]

    def _check_order(self, step: Step, before: Memory, ends: list[Memory]) -> None:
        """Among operands in an open order, what is seen from left to right must show what happens in each order. Behind a call
        that does not come back other operands are not seen, nor what they pass to functions: but they tell callers nothing, as
        the run ends in each order."""
        name, is_call = display_name(self._cfa.name), isinstance(step.edge.effect, ir.Call)
        if is_call and not ends:
            step.refuse(RULES, f"{name}() contains {OPEN_ORDER}, with a call that does not return,")
            self.found.hidden = f"contains {OPEN_ORDER}, with a call that does not return, at {step.place}"
        if any(self._orders.met(step.edge, before, after) for after in ends):
            self.found.broken = f"{name}() contains {OPEN_ORDER}, and what two operands use is changed at {step.place}"

    def _finished(self, step: Step) -> MemoryState:
        later = self._read_later[step.edge.target]
        if step.edge.target == self._cfa.exit:
            returned = step.memory.value(RESULT)
            self.found.returns_new |= is_own(block_of(returned) or "")
            drop_at_return(step, returned)
            step.memory.clear()
            step.memory.hold(RESULT, returned)
            return step.memory.state((RESULT,))
        drop_lost(step, later)
        return step.memory.state(later.union(self._orders.kept(step.edge.target)))

    def _ends(self, step: Step) -> Iterator[Memory]:
        match step.edge.effect:
            case ir.Assign(target, given):
                assign(step, target, step.memory.current(value(step, given)), given)
                yield step.memory
            case ir.Assume(condition, truth):
                yield from self._branch(step, condition, truth=truth)
            case ir.Call() as call:
                yield from self._call(step, call)
            case ir.Return(given):
                returned = OTHER if given is None else step.memory.current(value(step, given))
                if returned == GONE:
                    step.take_ended()
                step.memory.hold(RESULT, returned)
                yield step.memory
            case ir.Unsupported() if self._orders.is_followed(step.edge):
                self._orders.begin(step.edge, step.memory)
                yield step.memory
            case _:
                step.refuse(RULES, "there is something that is not supported")

    def _branch(self, step: Step, condition: ir.Expr, *, truth: bool) -> Iterator[Memory]:
        compared(step, condition)
        tested = _tested(condition)
        if tested is not None and tested[0] in step.names:
            name, null_if = tested
            found = step.memory.value(name)
            block = block_of(found)
            is_never_null = block is not None and is_own(block)
            if (null_if == truth and is_never_null) or (null_if != truth and found == NULL):
                return
            if null_if == truth:
                step.memory.hold(name, NULL)
                if block is not None and is_start(found):
                    step.memory.be_null(block)
        yield step.memory

    def _call(self, step: Step, call: ir.Call) -> Iterator[Memory]:
        name = ir.direct_callee(call)
        if name is None:
            compared(step, call.callee)
        first = [value(step, argument) for argument in call.arguments]
        given = [step.memory.current(found) for found in first]
        ended = False
        for memory, result in self._ends_of_call(step, call, name, given):
            after = step._replace(memory=memory)
            if name is not None and self._ends_there(name):
                continue
            ended = True
            if call.result is not None:
                assign(after, call.result, memory.current(result))
            yield memory
        if not ended:
            drop_lost(step, frozenset())

    def _ends_of_call(self, step: Step, call: ir.Call, name: str | None, given: list[str]) -> Ends:
        """The ways in which a call can end. What a pointer leads to is not known: it may come from outside."""
        if name is None:
            if not UNMODELLED.isdisjoint(self._program.targets(call)):
                step.found.broken = f"a function whose effects are not known may be called at {step.place}"
            why = "a function is called through a pointer, and which it is is not followed,"
            return call_unknown(step, call, given, why, Condition("through", call.callee))
        callee = self._program.functions.get(name)
        if callee is not None:
            return call_defined(step, call, callee, self._contracts.get(name), given)
        return call_library(step, call, name, given)

    def _ends_there(self, name: str) -> bool:
        """Whether an external function is declared not to come back."""
        external = self._program.externals.get(name)
        return external is not None and external.noreturn and name not in self._program.functions


def _tested(condition: ir.Expr) -> tuple[str, bool] | None:
    """The variable that a condition compares with null, and whether it is null where the condition holds."""
    match condition:
        case ir.Binary("==" | "!=" as operator, left, right):
            for one, other in ((left, right), (right, left)):
                bare = _variable(one)
                if bare is not None and isinstance(other, ir.IntConst) and other.value == 0 and isinstance(other.type, Pointer):
                    return bare, operator == "=="
            return None
        case _:
            bare = _variable(condition)
            return None if bare is None else (bare, False)


def _variable(expr: ir.Expr) -> str | None:
    while isinstance(expr, ir.Cast) and isinstance(expr.type, Pointer) and isinstance(expr.operand.type, Pointer):
        expr = expr.operand
    return expr.name if isinstance(expr, ir.Var) and isinstance(expr.type, Pointer) else None
