"""One path through CFAs as a formula: what holds exactly of the runs that take it.

The values of variables are followed as terms over the path's inputs (the static single assignment of a path, with the definitions
put in), so that a formula has one conjunct for each branch and mentions only what branches depend on.
"""

from __future__ import annotations

from analysis.cfa.graph import Edge, Program
from analysis.model import ir
from analysis.model.c_types import LP64, DataModel, Floating, Integer, Pointer, is_scalar
from analysis.model.spelling import spell_expr
from analysis.smt.encoding.numbers import scalar_terms
from analysis.smt.encoding.numbers.formula import Condition, FailureKind, Formula, Input, Mode
from analysis.smt.encoding.numbers.integers import SignedOverflow
from analysis.smt.encoding.paths.assigned import Assigned, assigned
from analysis.smt.encoding.paths.failures import Failures
from analysis.smt.encoding.paths.frames import Frame
from analysis.smt.encoding.paths.library_failures import accesses_unknown, library_failure, may_fail_inside
from analysis.smt.encoding.paths.path_state import State
from analysis.smt.encoding.paths.unfollowed_calls import Calls
from analysis.smt.logic.term_building import FALSE, TRUE, and_, eq, not_, or_
from analysis.smt.logic.terms import Term
from analysis.smt.solving.solver import Model


class PathEncoder:
    """Follows a path and says what must hold for it to be taken.

        encoder = PathEncoder(program, "int")
        encoder.start("main")
        encoder.take(edge)              # assignments, branches, returns, calls that are not followed
        encoder.enter(edge, "callee")   # a call edge into a body
        ...
        encoder.take(return_edge)
        encoder.leave()                 # back in the caller, the result is assigned

    The caller is responsible for the order of the edges: it is not checked that each starts where the one before ended.

    `signed_overflow` says what `+`, `-`, `*` do when the result does not fit: by default `int` assumes that they do not (a
    constraint, and a sentence among the assumptions), `bv` wraps.
    """

    def __init__(
        self,
        program: Program,
        mode: Mode = "int",
        model: DataModel = LP64,
        signed_overflow: SignedOverflow | None = None,
    ) -> None:
        self.program = program
        self.mode: Mode = mode
        self.model = model
        self._state = State(program, mode, model, signed_overflow or ("assume" if mode == "int" else "wrap"))

    def start(self, function: str, globals_initialised: bool = True) -> None:
        """Begins a path at the entry of a function; its parameters are inputs. Globals have the values that they start with, or,
        if not `globals_initialised` (the function is not where the program starts), any.

        Raises KeyError when the program does not define the function.
        """
        state = self._state
        state.globals_known = globals_initialised
        frame = state.open_frame(function, None)
        for parameter in frame.cfa.parameters:
            if isinstance(parameter.type, Integer | Floating | Pointer):
                name = f"{parameter.name}@0:{scalar_terms.kind(parameter.type)}"
                state.assign(parameter, state.memory.fills.symbol(name, parameter.type, "parameter", 0, parameter.name))
            else:
                state.fill(parameter, "unknown")

    def take(self, edge: Edge, found: bool | None = None) -> None:
        """Goes over an edge of the current function. A call that is taken so is not followed: what it returns and what it can
        write becomes unknown, library functions that are known do what the C standard says. `found`: whether an allocation finds
        memory; None: either, and the formula says which."""
        state = self._state
        match edge.effect:
            case ir.Assign(target, value):
                state.assign_value(target, value)
            case ir.Assume(condition, truth):
                holds = state.places.expressions.truth(condition)
                state.ledger.constrain(holds if truth else not_(holds))
            case ir.Call() as call:
                name = ir.direct_callee(call)
                Calls(state).take(call, name, name in self.program.functions, found)
            case ir.Return(value):
                if value is not None:
                    self._return(value)
            case ir.Unsupported(reason):
                state.forget_everything(f"not modelled: {reason}")
        state.next_step()

    def _return(self, value: ir.Expr) -> None:
        frame = self._state.frames[-1]
        frame.returned = result_variable(value)
        self._state.assign_value(frame.returned, value)

    def enter(self, edge: Edge, function: str) -> None:
        """Goes over a call edge into the body of a function; its parameters get the arguments.

        Raises ValueError when the edge is no call, KeyError when the program does not define the function.
        """
        call = edge.effect
        if not isinstance(call, ir.Call):
            raise ValueError("only a call edge leads into a function")
        state = self._state
        cfa = self.program.functions[function]
        if ir.direct_callee(call) is None:
            address = state.memory.address(state.region_of(ir.Var(function, "function", cfa.type)))
            state.ledger.constrain(eq(state.places.expressions.value(call.callee), address))
        values: list[Term | None] = []
        for parameter, argument in zip(cfa.parameters, call.arguments, strict=False):
            has_value = is_scalar(parameter.type)
            converted = ir.Cast(argument, parameter.type) if argument.type != parameter.type and has_value else argument
            values.append(state.places.expressions.value(converted) if has_value else None)
        state.memory.expose(state.handed_over(call.arguments[len(cfa.parameters) :]))  # `va_arg` can give any of them
        caller = state.frames[-1]
        frame = state.open_frame(function, edge)
        for parameter, argument, passed in zip(cfa.parameters, call.arguments, values, strict=False):
            if passed is not None:
                state.assign(parameter, passed)
            else:
                self._pass_object(parameter, argument, caller, frame)
        state.next_step()

    def _pass_object(self, parameter: ir.Var, argument: ir.Expr, caller: Frame, frame: Frame) -> None:
        """A structure passed by value: read in the caller, written in the callee."""
        state = self._state
        region = state.region_of(parameter)
        state.frames[-1] = caller
        if isinstance(argument, ir.LVALUES):
            size = state.memory.layout.bytes(parameter.type)
            source = state.places.spots(argument, state.places.tag(argument))
            state.copy_memory(((TRUE, state.memory.spot_at(region)),), source, size, parameter.type, 1 << 16)
        state.frames[-1] = frame

    def before_result(self) -> PathEncoder:
        """A copy that is back in the caller, after a return edge, where the result is not assigned yet."""
        other = self.fork()
        other._state.close_frame()
        return other

    def leave(self) -> None:
        """Goes back to the caller, after a return edge. ValueError in the function that the path started in."""
        state = self._state
        frame = state.frames[-1]
        if frame.call is None or not isinstance(frame.call.effect, ir.Call):
            raise ValueError("the path started in this function")
        returned, source = frame.returned, None
        if returned is not None and is_scalar(returned.type):
            source = state.places.read(returned)
        state.close_frame()
        target = frame.call.effect.result
        self._assign_result(target, frame, source)
        for region in frame.variables.values():
            state.memory.discard(region)

    def _assign_result(self, target: ir.Expr | None, frame: Frame, value: Term | None) -> None:
        state, returned = self._state, frame.returned
        if target is None:
            return
        if returned is None:
            state.fill(target, "undefined")
        elif value is not None and isinstance(target.type, Integer | Floating | Pointer):
            if not isinstance(target.type, Pointer) or not isinstance(returned.type, Pointer):
                value = state.arithmetic.convert(value, returned.type, target.type)
            state.assign(target, value)
        else:
            size = state.memory.layout.bytes(target.type)
            source = ((TRUE, state.memory.spot_at(frame.variables[returned.name])),)
            state.copy_memory(state.places.spots(target, state.places.tag(target)), source, size, target.type, 1 << 16)

    @property
    def depth(self) -> int:
        """How many calls are open: 0 in the function that the path started in."""
        return len(self._state.frames) - 1

    @property
    def function(self) -> str:
        """The function that the path is in."""
        return self._state.frames[-1].cfa.name

    def formula(self) -> Formula:
        """What holds if and only if the path is taken so far (see Formula for what is approximated)."""
        ledger = self._state.ledger
        return Formula(tuple(ledger.constraints), ledger.approximations, ledger.assumptions)

    def conjuncts(self, since: int = 0) -> list[Term]:
        """The conjuncts of `formula`, without as many as `since` says of the first ones: they only grow in number."""
        return self._state.ledger.constraints[since:]

    def condition_at(self, edge: Edge, kind: FailureKind) -> Condition | None:
        """The condition that the path is taken so far and the edge, taken next, fails in this way; None when
        it cannot, by its form alone."""
        found = Failures(self._state).condition(edge, kind)
        if not isinstance(edge.effect, ir.Call):
            return found
        state = self._state.fork()
        before = len(state.ledger.constraints)
        inside = library_failure(state, edge, kind)
        if inside is FALSE:
            return found
        formula = self.formula() if found is None else found.formula
        own = formula.conjuncts[len(self._state.ledger.constraints) :]
        failure = and_(*state.ledger.constraints[before:], inside)
        either = or_(failure, and_(*own)) if own else failure
        approximations = tuple(dict.fromkeys((*formula.approximations, *state.ledger.approximations)))
        assumptions = tuple(dict.fromkeys((*formula.assumptions, *state.ledger.assumptions)))
        conjuncts = (*self._state.ledger.constraints, either)
        text = f"{spell_expr(edge.effect.callee)}() accesses more than there is" if found is None else found.text
        return Condition(kind, Formula(conjuncts, approximations, assumptions), text)

    def may_fail_inside(self, edge: Edge, kind: FailureKind) -> bool:
        """Whether the edge calls a library function in which this can happen without a formula that says when."""
        return may_fail_inside(self._state, edge, kind)

    def reaches_unknown(self, edge: Edge) -> bool:
        """Whether the edge, taken next, may access an object of which the size is not known, or one outside of the program: by
        itself, or in a library function that is passed its address with a number of bytes."""
        return Failures(self._state).reaches_unknown(edge) or accesses_unknown(self._state, edge)

    def ends_unknown(self, edge: Edge) -> bool:
        """Whether the edge, taken next, may end a block that no call on the path gave: what an external function returned
        need not be a block."""
        return Failures(self._state).ends_unknown(edge)

    def reached_variables(self, edge: Edge) -> set[tuple[str, str]]:
        """The local variables, each with its function, that the edge, taken next, may access through pointers: by itself, or in a
        function that it calls with them."""
        return Failures(self._state).reached_variables(edge)

    def same_object(self, one: ir.Expr, other: ir.Expr) -> bool:
        """Whether two pointers lead into the same known object at the current point, so that comparing them tells the same
        wherever objects lie."""
        state = self._state.fork()
        found = [state.memory.objects_of(state.places.expressions.value(expr)) for expr in (one, other)]
        return found[0] == found[1] and None not in found[0] and len(found[0]) == 1

    def remaining(self) -> Term:
        """The condition that some allocated block was not freed on the path."""
        return self._state.memory.remaining()

    def assume(self, condition: Term) -> None:
        """Narrows the path to the runs for which a term of sort Bool holds."""
        self._state.ledger.constrain(condition)

    def value(self, expr: ir.Expr) -> Term:
        """A scalar expression at the current point; evaluating it does not change the path."""
        return self._state.fork().places.expressions.value(expr)

    def inputs(self) -> tuple[Input, ...]:
        """The inputs so far, in the order in which a run needs them."""
        return self._state.inputs()

    def assigned(self, model: Model) -> tuple[Assigned, ...]:
        """Returns the values that a model of the formula, or of a condition, gives the inputs, in the order in which a
        run asks for them."""
        return assigned(self._state, model)

    def fork(self) -> PathEncoder:
        """An independent copy, for the other branch. Cheap: what is common is shared."""
        other = object.__new__(PathEncoder)
        other.program, other.mode, other.model = self.program, self.mode, self.model
        other._state = self._state.fork()
        return other


def result_variable(value: ir.Expr) -> ir.Var:
    """The variable of a frame that holds what the function returns."""
    return ir.Var("$result", "temporary", value.type)
