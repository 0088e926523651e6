"""The steps of a program as changes of symbolic states.

What is not encoded exactly is left open, so the states after a step include every state that a run can reach. `assumptions`
lists what is assumed, first of all what ends a run before (`model.assumptions` has all assumptions).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from analysis.c.blocks import ALLOCATIONS
from analysis.c.calls import leaves_values, written_arguments
from analysis.c.control import NEVER_RETURN
from analysis.c.functions import LIBRARY
from analysis.cfa.graph import Cfa, Edge, Program
from analysis.cfa.linking.evaluation_order import assumptions_of
from analysis.model import ir
from analysis.model.assumptions import BLOCKS, OUTSIDE
from analysis.model.c_types import BOOL, LP64, Array, DataModel, Integer, Pointer, Record, Type, Void, is_scalar
from analysis.smt.encoding.numbers.formula import Mode
from analysis.smt.logic import linear
from analysis.smt.logic.term_building import FALSE, and_, eq, ite, not_, number, or_
from analysis.smt.logic.terms import Term
from analysis.smt.transitions.access import Access
from analysis.smt.transitions.object_cells import MOST_CELLS, RESULT
from analysis.smt.transitions.transition_state import START, State, StateVariable, merged
from analysis.smt.transitions.vocabulary import Vocabulary

_MOST_BLOCK = 1 << 30  # bytes; larger blocks are said not to be found
_MOST_STATIC = 512  # assignments that the initial values of objects in memory are followed for
_MOST_PARTS = 256  # assignments of one initialiser; what longer ones say is left open
_NEXT = StateVariable("#next", Pointer(Void()))


class System:
    """The transitions of one program. `whole`: the entry is where the program starts, so that globals have their initial values.
    `exposed`: the variables with static storage that pointers from outside may lead to. `definedness`: flags say which local
    variables have a value. Raises TooLargeError."""

    def __init__(
        self,
        program: Program,
        mode: Mode = "int",
        model: DataModel = LP64,
        *,
        exposed: Collection[str],
        whole: bool = True,
        definedness: bool = False,
    ) -> None:
        self.program = program
        self._definedness = definedness
        self.whole = whole
        self.vocabulary = Vocabulary(program, mode, model, exposed)
        self.assumptions: dict[str, None] = dict.fromkeys(assumptions_of(program))
        self.is_deterministic = all(_is_deterministic(cfa) for cfa in program.functions.values())

    def merged(self, one: State, other: State) -> State:
        """The states of either, which were reached from the same ones on different paths."""
        choice = None if self.is_deterministic else self.vocabulary.inputs.choice()
        return merged(one, other, self.vocabulary, choice)

    def shared(self) -> Iterator[StateVariable]:
        """The state variables that all functions see: globals, memory, and where the next block will be."""
        vocabulary = self.vocabulary
        for name, type_ in vocabulary.objects.locals(""):
            kind = vocabulary.objects.kind("", ir.Var(name, "global", type_))
            if kind == "cells":
                for cell, of in vocabulary.objects.cells(f"@{name}", type_):
                    yield vocabulary.variable(cell, of)
            elif kind == "elements" and isinstance(type_, Array):
                yield vocabulary.variable(f"@{name}", type_.element, is_array=True)
        yield from vocabulary.heaps
        yield _NEXT

    # -- the start ----------------------------------------------------------------------------------------------

    def start(self, entry: str) -> State:
        """The states in which a function is entered when the program starts there, in context 0."""
        access = Access(self.vocabulary, START, entry, 0)
        first = number(self.vocabulary.first_block, self.vocabulary.pointer_sort)
        access.set(_NEXT, first)
        if self.whole:
            left = _MOST_STATIC
            for name, variable in sorted(self.program.globals.items()):
                is_in_memory = self.vocabulary.objects.kind("", variable.var) == "memory"
                if is_in_memory and left <= 0:
                    continue  # memory may hold anything at the start: the rest is left open
                left -= (1 + len(variable.parts)) if is_in_memory else 0
                self._initialise(access, name)
        return self._closed(START, access) or State((FALSE,), {})

    def _initialise(self, access: Access, name: str) -> None:
        variable = self.program.globals[name]
        initial = variable.initial
        if isinstance(initial, ir.Unknown) and not variable.parts:
            return
        leaves = self.vocabulary.objects.layout.leaves(variable.var.type)
        if len(variable.parts) > _MOST_PARTS:
            return
        is_large = self.vocabulary.objects.kind("", variable.var) == "memory" and (leaves is None or len(leaves) > MOST_CELLS)
        if is_large:
            return
        if variable.parts:
            self._assign(access, variable.var, ir.Zero(variable.var.type))
            for part in variable.parts:
                self._assign(access, part.target, part.value)
        else:
            self._assign(access, variable.var, initial)

    def _closed(self, state: State, access: Access) -> State | None:
        """The state with what was changed and constrained; None if it is plainly impossible."""
        self.assumptions.update(dict.fromkeys(access.ledger.assumptions))
        return State(state.guard, access.values).constrained(*access.ledger.constraints)

    # -- edges --------------------------------------------------------------------------------------------------

    def take(self, state: State, edge: Edge, function: str, context: int) -> State | None:
        """Over an edge that is no call: an assignment, a branch or a return. None if it cannot be taken."""
        access = Access(self.vocabulary, state, function, context)
        match edge.effect:
            case ir.Assign(target, value):
                self._assign(access, target, value)
            case ir.Assume(condition, truth):
                holds = access.expressions.truth(condition)
                access.ledger.constrain(holds if truth else not_(holds))
            case ir.Return(value):
                if value is not None:
                    self._assign(access, ir.Var(RESULT, "temporary", value.type), value)
            case ir.Call() | ir.Unsupported():
                raise ValueError("a call or an unsupported edge is not a plain assignment or branch")
        return self._closed(state, access)

    def _note(self, access: Access, target: ir.Expr, is_defined: Term | bool) -> None:
        """Notes that a variable as a whole has a value now, or has none any more."""
        if self._definedness and isinstance(target, ir.Var) and has_flag(target):
            flag = definedness_flag(self.vocabulary, access.name(target))
            sort = self.vocabulary.sort(flag)
            access.set(flag, number(int(is_defined), sort) if isinstance(is_defined, bool) else is_defined)

    def _is_defined(self, access: Access, value: ir.Expr) -> Term | bool:
        """Whether a value is one. A structure may be copied though parts of it have none (C11 6.2.6.1p6): then the copy lacks
        them, too. Of what pointers lead to it is not known."""
        if not self._definedness or not isinstance(value.type, Record):
            return not isinstance(value, ir.Undefined)
        value = ir.root(value)
        if isinstance(value, ir.Var) and has_flag(value):
            return access.get(definedness_flag(self.vocabulary, access.name(value)))
        return not isinstance(value, ir.Deref | ir.Undefined)

    def _assign(self, access: Access, target: ir.Expr, value: ir.Expr) -> None:
        self._note(access, target, self._is_defined(access, value))
        type_ = target.type
        if is_scalar(type_):
            if isinstance(value, ir.Zero):
                term = access.zero(type_)
            elif is_scalar(value.type):
                term = access.expressions.value(ir.Cast(value, type_) if _differs(value.type, type_) else value)
            else:
                term = access.expressions.value(value) if isinstance(type_, Pointer) else self.vocabulary.input(type_)
            access.write_at(access.place(target), 0, type_, term)
        elif isinstance(value, ir.Zero):
            element = type_.element if isinstance(type_, Array) else None
            zero = None if element is None or not is_scalar(element) else access.zero(element)
            access.fill(target, access.zero, zero)
        elif isinstance(value, ir.StringConst):
            access.spell(target, value.text)
        elif isinstance(value, ir.LVALUES):
            access.copy(target, value)
        else:
            access.fill(target, self.vocabulary.input, None)

    # -- calls --------------------------------------------------------------------------------------------------

    def enter(self, state: State, edge: Edge, function: str, context: int, callee: str, inner: int) -> State | None:
        """Into the body of a called function, whose activation is context `inner`."""
        call = edge.effect
        assert isinstance(call, ir.Call)
        access = Access(self.vocabulary, state, function, context)
        cfa = self.program.functions[callee]
        self._choose(access, call, callee)
        passed: list[Term | ir.Expr | None] = []
        for position, parameter in enumerate(cfa.parameters):
            argument = call.arguments[position] if position < len(call.arguments) else None
            if argument is None or not is_scalar(parameter.type):
                passed.append(argument)
            else:
                passed.append(
                    access.expressions.value(ir.Cast(argument, parameter.type))
                    if _differs(argument.type, parameter.type)
                    else access.expressions.value(argument)
                )
        before = self._closed(state, access)
        if before is None:
            return None
        body = Access(self.vocabulary, before, callee, inner)
        self._forget_locals(body, callee)
        for parameter, value in zip(cfa.parameters, passed, strict=True):
            if isinstance(value, Term):
                body.write_at(body.place(parameter), 0, parameter.type, value)
            elif value is not None and isinstance(value, ir.LVALUES):
                self._pass_object(body, parameter, Access(self.vocabulary, before, function, context), value)
                self._note(body, parameter, self._is_defined(access, value))
            elif value is not None or not is_scalar(parameter.type):
                body.fill(parameter, self.vocabulary.input, None)
        return self._closed(before, body)

    def _choose(self, access: Access, call: ir.Call, callee: str) -> None:
        """Constrains the pointer of a call through a pointer to this function."""
        if ir.direct_callee(call) is None and callee:
            type_ = self.program.function_type(callee)
            assert type_ is not None
            address = access.address(ir.Var(callee, "function", type_))
            access.ledger.constrain(eq(access.expressions.value(call.callee), address))

    def _forget_locals(self, body: Access, callee: str) -> None:
        """The objects of a new activation hold anything (C11 6.2.4p6)."""
        objects = self.vocabulary.objects
        for name, type_ in objects.locals(callee):
            if isinstance(type_, Void):
                continue
            var = ir.Var(name, "local", type_)
            self._note(body, var, False)
            if objects.kind(callee, var) == "memory":
                body.fill(var, self.vocabulary.input, None)
            elif is_scalar(type_):
                body.forget(self.vocabulary.variable(body.name(var), type_))
            else:
                body.fill(var, self.vocabulary.input, None)

    def _pass_object(self, body: Access, parameter: ir.Var, caller: Access, source: ir.Expr) -> None:
        """A structure that is passed by value."""
        leaves = self.vocabulary.objects.layout.leaves(parameter.type)
        if leaves is None or len(leaves) > MOST_CELLS:
            return
        caller.values = body.values
        one, other = body.place(parameter), caller.place(source)
        for offset, type_, value in [(at, type_, caller.read_at(other, at, type_)) for at, type_ in leaves]:
            body.write_at(one, offset, type_, value)
        for constraint in caller.ledger.constraints:
            body.ledger.constrain(constraint)

    def leave(self, state: State, edge: Edge, function: str, context: int, callee: str, inner: int) -> State | None:
        """Back from the body of a called function into the caller, where the result is assigned."""
        call = edge.effect
        assert isinstance(call, ir.Call)
        access = Access(self.vocabulary, state, function, context)
        if call.result is None:
            return state
        returned = self.program.functions[callee].type.result
        body = Access(self.vocabulary, state, callee, inner)
        result = ir.Var(RESULT, "temporary", returned)
        self._note(access, call.result, self._is_defined(body, result))
        if is_scalar(call.result.type) and is_scalar(returned):
            value = body.read_at(body.place(result), 0, returned)
            if _differs(returned, call.result.type):
                value = access.arithmetic.convert(value, returned, call.result.type)
            access.write_at(access.place(call.result), 0, call.result.type, value)
        else:
            self._return_object(access, call.result, body, result)
        for constraint in body.ledger.constraints:
            access.ledger.constrain(constraint)
        return self._closed(state, access)

    def _return_object(self, access: Access, target: ir.Expr, body: Access, result: ir.Var) -> None:
        leaves = self.vocabulary.objects.layout.leaves(target.type)
        if leaves is None or len(leaves) > MOST_CELLS or target.type != result.type:
            access.fill(target, self.vocabulary.input, None)
            return
        one, other = access.place(target), body.place(result)
        for offset, type_, value in [(at, type_, body.read_at(other, at, type_)) for at, type_ in leaves]:
            access.write_at(one, offset, type_, value)

    def external(self, state: State, edge: Edge, function: str, context: int, callee: str) -> State | None:
        """Over a call of an external function."""
        call = edge.effect
        assert isinstance(call, ir.Call)
        access = Access(self.vocabulary, state, function, context)
        self._choose(access, call, callee)
        known = self.program.externals.get(callee)
        if callee in NEVER_RETURN or (known is not None and known.noreturn):
            return None
        for argument in call.arguments:
            if is_scalar(argument.type):
                access.expressions.value(argument)  # for what evaluating it constrains
        if callee in ALLOCATIONS:
            self._allocate(access, call, callee)
            return self._closed(state, access)
        if not leaves_values(callee, call):
            access.forget_memory()
            if written_arguments(callee, call) is None:
                self._forget_globals(access)
                self.assumptions[OUTSIDE.sentence] = None
        if call.result is not None and not isinstance(call.result.type, Void):
            self._note(access, call.result, True)
            if is_scalar(call.result.type):
                access.write_at(access.place(call.result), 0, call.result.type, self.vocabulary.input(call.result.type))
            else:
                access.fill(call.result, self.vocabulary.input, None)
        return self._closed(state, access)

    def _forget_globals(self, access: Access) -> None:
        """What other files can name."""
        for name, variable in sorted(self.program.globals.items()):
            if "::" not in name and self.vocabulary.objects.kind("", variable.var) != "memory":
                if is_scalar(variable.var.type):
                    access.forget(self.vocabulary.variable(f"@{name}", variable.var.type))
                else:
                    access.fill(variable.var, self.vocabulary.input, None)

    def _allocate(self, access: Access, call: ir.Call, name: str) -> None:
        """A new block, which nothing else points into; what it holds is open."""
        self.assumptions[BLOCKS.sentence] = None
        address = access.get(_NEXT)
        sort = self.vocabulary.pointer_sort
        access.set(_NEXT, linear.add(address, number(self.vocabulary.slot, sort)))
        found = and_(self.vocabulary.inputs.choice(), self._fits(access, call, name))
        if call.result is not None:
            self._note(access, call.result, True)
            given = ite(found, address, number(0, sort))
            if isinstance(call.result.type, Pointer):
                access.write_at(access.place(call.result), 0, call.result.type, given)
            else:
                access.fill(call.result, self.vocabulary.input, None)

    def _fits(self, access: Access, call: ir.Call, name: str) -> Term:
        """The condition that the size which is asked for is not too large."""
        size_type = Integer(self.vocabulary.model.pointer_bits, False, "unsigned long")
        limit = access.arithmetic.constant(_MOST_BLOCK, size_type)
        sizes = [
            access.arithmetic.convert(access.expressions.value(argument), argument.type, size_type)
            for at, argument in enumerate(call.arguments)
            if at in LIBRARY[name].sizes and isinstance(argument.type, Integer)
        ]
        if len(sizes) == 2:  # neither may be too large, so that their product is what it is in C; 0 times anything is small
            sizes.append(access.arithmetic.binary("*", sizes[0], sizes[1], size_type))
            zero = access.arithmetic.constant(0, size_type)
            fits = and_(*(access.arithmetic.compare("<=", size, limit, size_type) for size in sizes))
            return or_(fits, *(access.arithmetic.compare("==", size, zero, size_type) for size in sizes[:2]))
        return and_(*(access.arithmetic.compare("<=", size, limit, size_type) for size in sizes))


def has_flag(variable: ir.Var) -> bool:
    """Whether there is a flag that says whether the variable has a value: for local variables, and for
    parameters and temporaries that hold a structure. (To pass or return anything else that has no value is a
    violation there.)"""
    return variable.scope == "local" or (variable.scope in ("parameter", "temporary") and isinstance(variable.type, Record))


def definedness_flag(vocabulary: Vocabulary, name: str) -> StateVariable:
    """The variable that is 1 when the variable whose state variables' names begin so has a value, else 0."""
    return vocabulary.variable(f"{name}?", BOOL)


def _is_deterministic(cfa: Cfa) -> bool:
    """Whether the same inputs always take the same edges. Where a location has several edges, they must be
    the two branches of one condition, or calls that the called pointer chooses between."""
    for edges in cfa.outgoing.values():
        effects = [edge.effect for edge in edges]
        if len(effects) == 1:
            continue
        branches = [effect for effect in effects if isinstance(effect, ir.Assume)]
        if len(effects) != 2 or len(branches) != 2 or branches[0].condition != branches[1].condition:
            return False
        if branches[0].truth == branches[1].truth:
            return False
    return True


def _differs(one: Type, other: Type) -> bool:
    return one != other and not (isinstance(one, Pointer) and isinstance(other, Pointer))
