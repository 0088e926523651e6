"""A function as it is run: each location, when it is first reached, becomes one Python function on registers.

This Python function executes the edge that is taken there, and returns the number of the edge. Edges that
change which function runs (calls of defined functions, calls through pointers, `setjmp`, returns) have the
highest numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from analysis.c.control import SETJMP
from analysis.cfa.addresses_taken import taken_by
from analysis.cfa.graph import Cfa, Edge
from analysis.cfa.linking.obstacle_words import is_open_order
from analysis.interpreter.argument_lists import begin, is_argument_list
from analysis.interpreter.arithmetic import Evaluate, Registers
from analysis.interpreter.expressions import Expressions
from analysis.interpreter.halting import EndError, not_modelled
from analysis.interpreter.library import modelled
from analysis.interpreter.objects import FIRST, Local, is_aggregate
from analysis.interpreter.open_orders import OpenOrders
from analysis.interpreter.outcome import Stuck
from analysis.interpreter.program_code import ProgramCode
from analysis.interpreter.stores import Stores, Write
from analysis.interpreter.text_room import staying_inside
from analysis.interpreter.unused_values import is_unused
from analysis.interpreter.used_results import comparisons
from analysis.model import ir
from analysis.model.c_types import Integer, Pointer, Type, Void

Node = Callable[[Registers], int]

_UNUSED: Evaluate = lambda _r: 1  # noqa: E731 - no run depends on it


class FunctionCode:
    """The code of one CFA. `first_special`: edges from this number on change the function that runs."""

    def __init__(self, code: ProgramCode, cfa: Cfa) -> None:
        self.name = cfa.name
        self.cfa = cfa
        self._program = code
        special = [edge for edge in cfa.edges if self._is_special(edge.effect)]
        plain = [edge for edge in cfa.edges if not self._is_special(edge.effect)]
        self.edges = (*plain, *special)
        self.first_special = len(plain)
        self.targets = [edge.target for edge in self.edges]
        self._numbers = {edge.id: number for number, edge in enumerate(self.edges)}
        self.nodes: dict[int, Node] = {}
        self.results: dict[int, Write] = {}
        self.slots: dict[str, int] = {}
        self.locals: dict[str, Local] = {}
        self._place_variables()
        self.expressions = Expressions(code, self.slots, self.locals)
        self._orders = OpenOrders(cfa, self.expressions)
        self._stores = Stores(self.expressions)
        self.blank: list[object] = [None] * (FIRST + len(self.slots))
        self.parameters = tuple(self._stores.write(parameter, parameter.type) for parameter in cfa.parameters)
        self.parameter_types = tuple(parameter.type for parameter in cfa.parameters)

    def _is_special(self, effect: ir.Effect) -> bool:
        if isinstance(effect, ir.Return):
            return True
        if not isinstance(effect, ir.Call):
            return False
        name = ir.direct_callee(effect)
        return name is None or name in self._program.functions or name in SETJMP

    def _place_variables(self) -> None:
        addressed = taken_by(self.cfa).own
        found: dict[str, ir.Var] = {parameter.name: parameter for parameter in self.cfa.parameters}
        for parts in self.cfa.parts.values():
            for part in parts:
                if isinstance(part, ir.Var) and part.scope not in ("global", "function"):
                    found.setdefault(part.name, part)
        for slot, (name, var) in enumerate(found.items(), FIRST):
            self.slots[name] = slot
            if name in addressed or is_aggregate(var.type):
                self.locals[name] = Local(name, slot, var.type, self._program.size(var.type))

    def node(self, location: int) -> Node:
        """The function of a location, made when it is first asked for."""
        found = self.nodes.get(location)
        if found is None:
            node = self._after_blocks(location, self._compile(self.cfa.outgoing.get(location, ())))
            found = self.nodes[location] = self._orders.checked(location, node)
        return found

    def _after_blocks(self, location: int, node: Node) -> Node:
        """The node, before which the variables end whose blocks are left on the way to the location (C11 6.2.4p5 to 7)."""
        ended = self._ended(location)
        if not ended:
            return node

        def leave(r: Registers) -> int:
            r[1].end_locals(r, ended)
            return node(r)

        return leave

    def _ended(self, location: int) -> tuple[int, ...]:
        """The registers of variables that an edge before the location can have, and no edge after it has."""
        inside = self.cfa.inside
        before = [inside.get(edge.id, ()) for edge in self.cfa.incoming.get(location, ())]
        after = [inside.get(edge.id) for edge in self.cfa.outgoing.get(location, ())]
        return tuple(
            local.slot
            for name, local in self.locals.items()
            if (block := self.cfa.blocks.get(name))
            and any(_is_in(one, block) for one in before)
            and not any(one is None or _is_in(one, block) for one in after)
        )

    def _compile(self, edges: Sequence[Edge]) -> Node:
        if not edges:
            return _stuck("nothing follows this place: an endless loop without effect, or code that is never reached")
        if all(isinstance(edge.effect, ir.Assume) for edge in edges):
            return self._branch(edges)
        if len(edges) > 1:
            not_modelled("several edges that are no branches leave one location")
        edge = edges[0]
        number = self._numbers[edge.id]
        match edge.effect:
            case ir.Assign(target, ir.Unknown() as value) if self._is_held(edge):
                return self._keep(target, value, number)
            case ir.Assign(target, value):
                return self._assign(target, value, number)
            case ir.Call():
                return self._call(edge.effect, number)
            case ir.Return(value):
                return self._return(value, number)
            case ir.Unsupported(reason) if is_open_order(reason):
                return self._orders.begin(edge.source, reason, number)
            case ir.Unsupported(reason):
                not_modelled(reason)
        raise AssertionError(edge)

    def _branch(self, edges: Sequence[Edge]) -> Node:
        tests: list[tuple[ir.Expr, dict[bool, int]]] = []
        for edge in edges:
            effect = edge.effect
            assert isinstance(effect, ir.Assume)
            if not tests or tests[-1][0] != effect.condition:
                tests.append((effect.condition, {}))
            tests[-1][1][effect.truth] = self._numbers[edge.id]
        if len(tests) == 1 and len(tests[0][1]) == 2:
            holds, yes, no = self.expressions.condition(tests[0][0]), tests[0][1][True], tests[0][1][False]
            return lambda r: yes if holds(r) else no
        return self._branch_among(tests)

    def _branch_among(self, tests: Sequence[tuple[ir.Expr, dict[bool, int]]]) -> Node:
        """Tries the conditions in turn; each is evaluated once. One side of a branch can lead to code that is never reached."""
        if not tests:
            return _stuck("no branch is taken")
        holds, targets, otherwise = self.expressions.condition(tests[0][0]), tests[0][1], self._branch_among(tests[1:])

        def branch(r: Registers) -> int:
            number = targets.get(bool(holds(r)))
            return otherwise(r) if number is None else number

        return branch

    def _assign(self, target: ir.Expr, value: ir.Expr, number: int) -> Node:
        if is_aggregate(target.type):
            return self._copy(target, value, number)
        slot = self.expressions.register(target)
        if isinstance(value, ir.Undefined):
            return self._declare(target, slot, number)
        evaluate = self.expressions.converted(value, target.type)
        if slot is not None:

            def assign(r: Registers) -> int:
                r[slot] = evaluate(r)
                return number

            return assign
        write = self._stores.write(target, target.type)

        def store(r: Registers) -> int:
            write(r, evaluate(r))
            return number

        return store

    def _is_held(self, edge: Edge) -> bool:
        """Whether the edge gives any value to a temporary into which a `volatile` object was read just before
        (`frontend.declarations`)."""
        before = self.cfa.incoming.get(edge.source, ())
        target = ir.target_of(edge.effect)
        return (
            isinstance(target, ir.Var)
            and target.scope == "temporary"
            and self.expressions.register(target) is not None
            and len(before) == 1
            and isinstance(before[0].effect, ir.Assign)
            and before[0].effect.target == target
            and isinstance(before[0].effect.value, ir.LVALUES)
        )

    def _keep(self, target: ir.Expr, value: ir.Unknown, number: int) -> Node:
        slot = self.expressions.register(target)
        assert slot is not None

        def keep(r: Registers) -> int:
            r[slot] = r[1].held(value.type, r[slot])
            return number

        return keep

    def _declare(self, target: ir.Expr, slot: int | None, number: int) -> Node:
        if slot is not None:

            def forget(r: Registers) -> int:
                r[slot] = None
                return number

            return forget
        return self._copy(target, ir.Undefined(target.type), number)

    def _copy(self, target: ir.Expr, value: ir.Expr, number: int) -> Node:
        if isinstance(value, ir.Unknown) and is_argument_list(target.type):
            return self._begin_list(target, value.arguments, number)
        contents, address = self.expressions.contents(value), self.expressions.address(target)
        size = self._program.size(target.type)
        if size is None:  # an array of variable length: its bytes are indeterminate when its block grows

            def allocate(r: Registers) -> int:
                address(r)
                return number

            return allocate
        text = isinstance(value, ir.StringConst)

        def copy(r: Registers) -> int:
            data, mask = contents(r)
            if text:
                data, mask = data[:size].ljust(size, b"\0"), mask[:1] * size
            r[0].write(address(r), data, mask)
            return number

        return copy

    def _begin_list(self, target: ir.Expr, copied: ir.Expr | None, number: int) -> Node:
        address, source = self.expressions.address(target), None if copied is None else self.expressions.value(copied)

        def start(r: Registers) -> int:
            begin(r[1], address(r), None if source is None else source(r))
            return number

        return start

    def _argument(self, argument: ir.Expr) -> Evaluate:
        if is_aggregate(argument.type):
            return self.expressions.contents(argument)
        return self.expressions.converted(argument, argument.type)

    def _call(self, call: ir.Call, number: int) -> Node:
        arguments = [
            _UNUSED if is_unused(self._program.functions, call, at) else self._argument(argument)
            for at, argument in enumerate(call.arguments)
        ]
        types = tuple(argument.type for argument in call.arguments)
        name = ir.direct_callee(call)
        if number < self.first_special:
            return self._external_call(call, name or "", arguments, types, number)
        if call.result is not None:
            self.results[number] = self._stores.write(call.result, self._returned(call))
        if name is not None and name in SETJMP:
            return self._setjmp(arguments[0], number)
        if name is not None:

            def enter(r: Registers) -> int:
                r[1].pending = name, [argument(r) for argument in arguments], types
                return number

            return enter
        callee = self.expressions.value(call.callee)

        def enter_through_pointer(r: Registers) -> int:
            r[1].pending = r[1].function_at(callee(r)), [argument(r) for argument in arguments], types
            return number

        return enter_through_pointer

    def _returned(self, call: ir.Call) -> Type:
        """The type of what a call returns."""
        type_ = call.callee.type
        type_ = getattr(type_, "target", type_)
        return getattr(type_, "result", call.result.type if call.result is not None else Void())

    def _setjmp(self, buffer: Evaluate, number: int) -> Node:
        def remember(r: Registers) -> int:
            r[1].remember(buffer(r), r, number)
            return number

        return remember

    def _external_call(
        self, call: ir.Call, name: str, arguments: Sequence[Evaluate], types: tuple[Type, ...], number: int
    ) -> Node:
        returned = self._returned(call)
        run = modelled(
            name, self._used_as(call, returned), comparisons(self._program, self.cfa, call.result), ends=self._program.ends(name)
        )
        run = staying_inside(self._program, call, name, run)
        write = None if call.result is None else self._stores.write(call.result, returned)
        wanted = write is not None

        def call_external(r: Registers) -> int:
            value = run(r[1], [argument(r) for argument in arguments], types, wanted)
            if write is not None:
                write(r, value)
            return number

        return call_external

    def _used_as(self, call: ir.Call, returned: Type) -> Type:
        """The type of a result: of one that an undeclared function returns as an integer, and that is made a pointer, that."""
        if not isinstance(call.result, ir.Var) or not isinstance(returned, Integer):
            return returned
        casts = (part for parts in self.cfa.parts.values() for part in parts if isinstance(part, ir.Cast))
        used = [cast.type for cast in casts if cast.operand == call.result]
        return used[0] if used and isinstance(used[0], Pointer) and call.result.scope == "temporary" else returned

    def _return(self, value: ir.Expr | None, number: int) -> Node:
        evaluate = None if value is None else self._argument(value)

        def leave(r: Registers) -> int:
            r[1].returned = None if evaluate is None else evaluate(r)
            return number

        return leave


def _is_in(place: tuple[int, ...], block: tuple[int, ...]) -> bool:
    return place[: len(block)] == block


def _stuck(reason: str) -> Node:
    end = Stuck(reason)

    def stop(_r: Registers) -> int:
        raise EndError(end)

    return stop
