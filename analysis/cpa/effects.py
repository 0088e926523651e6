"""What a step does to a store, for the value domains: each step is compiled once for each depth at which it is taken.

Writes that may reach several objects forget what all of them hold (a sound havoc): a write through an unknown pointer reaches
every object whose address is taken, a function without a body what `library` says. Accesses are assumed to stay inside the
variable that they begin in, as C11 6.5.6p8 demands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from analysis.cfa.graph import Program
from analysis.cpa import library
from analysis.cpa.evaluate import Algebra, Evaluator, Place, Work
from analysis.cpa.memory import EMPTY_STORE, UNKNOWN_CONTENTS, ZERO_CONTENTS, Contents, Store
from analysis.cpa.refinement import Refine, refinement
from analysis.cpa.steps import Step
from analysis.cpa.values import Address, Value, bits_of
from analysis.cpa.variables import RESULT, Variables, global_root, local_root
from analysis.model import ir
from analysis.model.c_types import LP64, Array, DataModel, Integer, Pointer, Record, Type

Effect = Callable[[Work], bool]
"""Changes the work's store; False if no run can take the step."""

LEAVES = 64
"""A record or array with more scalar members than this is copied as unknown, unless it is a whole variable."""


class Effects:
    """The steps of one program as changes of stores."""

    def __init__(self, program: Program, algebra: Algebra, model: DataModel = LP64) -> None:
        self.program = program
        self.variables = Variables(program, model)
        self.algebra = algebra
        self._evaluators: dict[tuple[str, int], Evaluator] = {}
        self._taken: dict[str, bool] = {}
        self._leaves: dict[Type, tuple[tuple[int, Type], ...] | None] = {}

    def initial(self, globals_initialised: bool) -> Store:
        """The store at the entry of the program; if not `globals_initialised`, at that of any function: nothing is known."""
        store = EMPTY_STORE
        if not globals_initialised:
            return store
        for name in sorted(self.program.globals):
            known = self.program.globals[name]
            if bits_of(known.var.type, self.variables.pointer_bits) is None:
                if isinstance(known.initial, ir.Zero):
                    store = store.set(global_root(name), ZERO_CONTENTS)
                continue
            if not isinstance(known.initial, ir.Unknown | ir.Undefined | ir.Zero | ir.FloatConst):
                value = self.evaluator("", 0).value(known.initial)(Work(store, None, ""))
                store = store.set(global_root(name), value if isinstance(value, int | Address) else None)
        return store

    def evaluator(self, function: str, depth: int) -> Evaluator:
        """The expressions of a function at a depth."""
        key = (function, depth)
        found = self._evaluators.get(key)
        if found is None:
            found = self._evaluators[key] = Evaluator(self.variables, self.algebra, function, depth)
        return found

    def compile(self, step: Step, depth: int) -> Effect:
        """The step's effect in an activation at this depth (that of the caller for `enter`, of the callee for `leave`)."""
        effect = step.edge.effect
        match step.kind:
            case "enter":
                return self._enter(step, depth)
            case "leave":
                return self._leave(step, depth)
            case "cut":
                return lambda work: True
            case "external":
                assert isinstance(effect, ir.Call)
                return self._then_forget(self._external(step, effect, depth), step, depth)
        evaluator = self.evaluator(step.function, depth)
        match effect:
            case ir.Assign(target, value):
                return self._then_forget(self.assign(evaluator, target, value), step, depth)
            case ir.Assume():
                return self._then_forget(self._assume(evaluator, effect), step, depth)
            case ir.Return(value):
                return self._return(evaluator, value)
            case _:
                return _forget_all

    def _then_forget(self, effect: Effect, step: Step, depth: int) -> Effect:
        """The effect, after which variables that are not live any more are forgotten."""
        live = self.variables.live(step.function)
        before, after = live[step.edge.source], live[step.edge.target]
        written = step.edge.effect.target if isinstance(step.edge.effect, ir.Assign) else None
        if isinstance(step.edge.effect, ir.Call):
            written = step.edge.effect.result
        names = set(before)
        if isinstance(written, ir.Var) and written.scope not in ("global", "function"):
            names.add(written.name)
        dead = tuple(local_root(step.function, depth, name) for name in sorted(names - after))
        if not dead:
            return effect

        def apply(work: Work) -> bool:
            possible = effect(work)
            if possible:
                work.store = work.store.without(dead)
            return possible

        return apply

    # -- assignments --------------------------------------------------------------------------------------------

    def assign(self, evaluator: Evaluator, target: ir.Expr, value: ir.Expr) -> Effect:
        """`target = value`, for scalars and aggregates."""
        width = bits_of(target.type, self.variables.pointer_bits)
        if width is None:
            return self._assign_aggregate(evaluator, target, value)
        compute = _nothing if isinstance(value, ir.Undefined | ir.Unknown) else evaluator.value(value)
        return self._store(evaluator, target, width, compute)

    def _store(self, evaluator: Evaluator, target: ir.Expr, width: int, compute: Callable[[Work], Value]) -> Effect:
        if isinstance(target, ir.Var):
            root = evaluator.root(target)

            def assign_variable(work: Work) -> bool:
                work.store = work.store.set(root, compute(work))
                return True

            return assign_variable
        locate, write = evaluator.place(target), self.write

        def assign(work: Work) -> bool:
            value = compute(work)
            write(work, locate(work), width, value)
            return True

        return assign

    def write(self, work: Work, place: Place, width: int, value: Value) -> None:
        """Writes a cell of this width, wherever it is."""
        if place is None:
            self.forget_reachable(work)
            return
        root, bit = place
        if bit is None:
            work.store = work.store.set(root, None)
            return
        type_ = self.variables.type_of(root)
        if type_ is not None:
            whole = bits_of(type_, self.variables.pointer_bits)
            if whole is not None:
                work.store = work.store.set(root, value if whole == width and bit == 0 else None)
                return
        found = work.store.map.get(root)
        contents: Contents = found if type(found) is Contents else UNKNOWN_CONTENTS
        work.store = work.store.set(root, contents.set(bit, width, value))

    def forget_reachable(self, work: Work) -> None:
        """What a write through an unknown pointer leaves: all objects whose address is taken are unknown."""
        work.store = work.store.without([root for root in work.store.map if self.is_taken(root)])

    def is_taken(self, root: str) -> bool:
        """`Variables.is_taken`, remembered."""
        found = self._taken.get(root)
        if found is None:
            found = self._taken[root] = self.variables.is_taken(root)
        return found

    def _assign_aggregate(self, evaluator: Evaluator, target: ir.Expr, value: ir.Expr) -> Effect:
        into = evaluator.place(target)
        source = evaluator.place(value) if isinstance(value, ir.LVALUES) else None
        type_, is_zero = target.type, isinstance(value, ir.Zero)

        def assign(work: Work) -> bool:
            self.copy(work, into(work), None if source is None else source(work), type_, is_zero)
            return True

        return assign

    def copy(self, work: Work, into: Place, source: Place, type_: Type, is_zero: bool) -> None:
        """Fills an aggregate at `into` with zeros, with a copy of the one at `source`, or, without either, with any values."""
        if into is None or into[1] is None:
            self.write(work, into, 8, None)
            return
        root, bit = into[0], into[1]
        size = self.variables.layout.size(type_)
        whole = bit == 0 and size is not None and self.variables.size_of(root) == size
        if whole and is_zero:
            work.store = work.store.set(root, ZERO_CONTENTS)
        elif whole and source is not None and source[1] == 0 and self.variables.size_of(source[0]) == size:
            work.store = work.store.set(root, work.store.map.get(source[0]))
        else:
            self._copy_leaves(work, root, bit, source, type_, is_zero)

    def _copy_leaves(self, work: Work, root: str, bit: int, source: Place, type_: Type, is_zero: bool) -> None:
        leaves = self.leaves(type_)
        size = self.variables.layout.size(type_)
        found = work.store.map.get(root)
        if leaves is None or size is None or (found is not None and type(found) is not Contents):
            work.store = work.store.set(root, None)
            return
        load, bits = self.evaluator("", 0).load, self.variables.pointer_bits
        values = []
        for offset, leaf in leaves:
            width = bits_of(leaf, bits) or 8
            value: Value = 0 if is_zero else None
            if source is not None and source[1] is not None:
                value = load(work.store, source[0], source[1] + offset, width)
            values.append((offset, width, value))
        contents: Contents = UNKNOWN_CONTENTS if found is None else found
        contents = contents.forget(bit, size * 8)
        for offset, width, value in values:
            contents = contents.set(bit + offset, width, value)
        work.store = work.store.set(root, contents)

    def leaves(self, type_: Type) -> tuple[tuple[int, Type], ...] | None:
        """The scalar members of an aggregate type, each with the bit that it begins at, those of unions left out; None if they
        are too many, or not known."""
        if type_ not in self._leaves:
            found: list[tuple[int, Type]] = []
            self._leaves[type_] = tuple(found) if self._collect(type_, 0, found) else None
        return self._leaves[type_]

    def _collect(self, type_: Type, bit: int, found: list[tuple[int, Type]]) -> bool:
        layout = self.variables.layout
        match type_:
            case Array(element, length):
                size = layout.size(element)
                if length is None or size is None or length > LEAVES:
                    return False
                return all(self._collect(element, bit + i * size * 8, found) for i in range(length))
            case Record(kind, key):
                definition = self.program.records.get(key)
                if definition is None:
                    return False
                return kind == "union" or all(self._collect_member(type_, member, bit, found) for member in definition.members)
        found.append((bit, type_))
        return len(found) <= LEAVES

    def _collect_member(self, record: Record, member: Any, bit: int, found: list[tuple[int, Type]]) -> bool:
        layout = self.variables.layout
        offset = layout.offset(record, member.name)
        if offset is not None:
            return self._collect(member.type, bit + offset * 8, found)
        distance = layout.bit_field(record, member.name)
        if distance is not None and isinstance(member.type, Integer):
            found.append((bit + distance, Integer(member.bits, member.type.signed, member.type.name)))
            return len(found) <= LEAVES
        return not member.name and member.bits is not None  # an anonymous record is not looked into

    # -- branches, calls and returns ----------------------------------------------------------------------------

    def _assume(self, evaluator: Evaluator, effect: ir.Assume) -> Effect:
        condition, truth = evaluator.value(effect.condition), effect.truth
        refine: Refine | None = refinement(evaluator, effect, self.write)

        def assume(work: Work) -> bool:
            value = condition(work)
            if type(value) is int:
                return (value != 0) == truth
            if type(value) is Address:
                return truth
            return value is not None or refine is None or refine(work)

        return assume

    def _return(self, evaluator: Evaluator, value: ir.Expr | None) -> Effect:
        if value is None:
            return lambda work: True
        result = ir.Var(RESULT, "temporary", value.type)
        return self.assign(evaluator, result, value)

    def _enter(self, step: Step, depth: int) -> Effect:
        call = step.edge.effect
        assert isinstance(call, ir.Call)
        evaluator, inside = self.evaluator(step.function, depth), self.evaluator(step.callee, depth + 1)
        parameters = self.program.functions[step.callee].parameters
        bindings = [
            self._bind(evaluator, inside.root(parameter), parameter.type, argument)
            for parameter, argument in zip(parameters, call.arguments, strict=False)
        ]
        is_meant = self._is_meant(evaluator, call, step.callee)

        def bind(work: Work) -> bool:
            return is_meant(work) and all(binding(work) for binding in bindings)

        return self._then_forget_but_result(bind, step, depth)

    def _then_forget_but_result(self, effect: Effect, step: Step, depth: int) -> Effect:
        """As `_then_forget`, at the beginning of a call: what the lvalue that takes the result needs is kept."""
        live = self.variables.live(step.function)
        call = step.edge.effect
        assert isinstance(call, ir.Call)
        needed = set() if call.result is None else {var.name for var in ir.variables(call.result)}
        names = sorted(live[step.edge.source] - live[step.edge.target] - needed)
        dead = tuple(local_root(step.function, depth, name) for name in names)

        def apply(work: Work) -> bool:
            possible = effect(work)
            work.store = work.store.without(dead)
            return possible

        return apply if dead else effect

    def _bind(self, evaluator: Evaluator, root: str, type_: Type, argument: ir.Expr) -> Effect:
        if bits_of(type_, self.variables.pointer_bits) is None:
            source = evaluator.place(argument) if isinstance(argument, ir.LVALUES) else None

            def bind_aggregate(work: Work) -> bool:
                self.copy(work, (root, 0), None if source is None else source(work), type_, isinstance(argument, ir.Zero))
                return True

            return bind_aggregate
        value = argument if argument.type == type_ else ir.Cast(argument, type_)
        compute = evaluator.value(value)

        def bind(work: Work) -> bool:
            work.store = work.store.set(root, compute(work))
            return True

        return bind

    def _is_meant(self, evaluator: Evaluator, call: ir.Call, callee: str) -> Effect:
        """Whether the called pointer can be that of the function, where it is known."""
        if ir.direct_callee(call) is not None:
            return lambda work: True
        pointer = call.callee.pointer if isinstance(call.callee, ir.Deref) else call.callee
        compute = evaluator.value(pointer)
        possible = {"&" + name for name in self.program.targets(call)}

        def is_meant(work: Work) -> bool:
            value = compute(work)
            return type(value) is not Address or value.root == "&" + callee or value.root not in possible

        return is_meant

    def _leave(self, step: Step, depth: int) -> Effect:
        call = step.edge.effect
        assert isinstance(call, ir.Call)
        callee = self.program.functions[step.callee]
        frame = tuple(local_root(step.callee, depth, name) for name in self.variables.of_function(step.callee))
        outside = self.evaluator(step.function, depth - 1)
        result = local_root(step.callee, depth, RESULT)
        take = self._take_result(outside, call.result, (result, 0), callee.type.result)

        def leave(work: Work) -> bool:
            take(work)
            work.store = work.store.without(frame)
            return True

        return self._then_forget(leave, step, depth - 1)

    def _take_result(self, evaluator: Evaluator, target: ir.Expr | None, result: tuple[str, int], type_: Type) -> Effect:
        if target is None:
            return lambda work: True
        width = bits_of(target.type, self.variables.pointer_bits)
        if width is None:
            into = evaluator.place(target)

            def take_aggregate(work: Work) -> bool:
                self.copy(work, into(work), result, target.type, False)
                return True

            return take_aggregate
        root, algebra, same = result[0], self.algebra, target.type == type_
        conversion = ir.Cast(ir.Unknown(type_), target.type)

        def compute(work: Work) -> Value:
            value: Value = work.store.map.get(root)
            if value is None:
                return algebra.unknown(work, target.type)
            return value if same else algebra.convert(work, conversion, value)

        return self._store(evaluator, target, width, compute)

    # -- functions without a body -------------------------------------------------------------------------------

    def _external(self, step: Step, call: ir.Call, depth: int) -> Effect:
        evaluator = self.evaluator(step.function, depth)
        is_meant = self._is_meant(evaluator, call, step.callee)
        change = self._external_change(evaluator, step.callee, call)
        result = self._external_result(evaluator, step.callee, call)

        def apply(work: Work) -> bool:
            if not is_meant(work):
                return False
            change(work)
            result(work)
            return True

        return apply

    def _external_change(self, evaluator: Evaluator, name: str, call: ir.Call) -> Effect:
        if library.is_harmless(name) or name in library.ALLOCATORS | library.STACK_ALLOCATORS:
            return lambda work: True
        known = self.program.externals.get(name)
        if name in library.WRITES_FIRST | library.RELEASES and call.arguments:
            return self._forget_argument(evaluator, call.arguments[:1])
        if known is not None and known.system and not any(self._leads_on(a) for a in call.arguments):
            return self._forget_argument(evaluator, call.arguments)

        def forget(work: Work) -> bool:
            self.forget_reachable(work)
            roots = work.store.map
            work.store = work.store.without([root for root in roots if root[0] == "@" and "::" not in root])
            return True

        return forget

    def _leads_on(self, argument: ir.Expr) -> bool:
        """Whether what the argument points to can itself hold a pointer to memory of the program."""
        type_ = argument.type
        if not isinstance(type_, Pointer):
            return not isinstance(type_, Integer) and bits_of(type_, 64) is None
        target: Type = ir.strip_casts(argument).type
        target = target.target if isinstance(target, Pointer) else type_.target
        while isinstance(target, Array):
            target = target.element
        return not isinstance(target, Integer) and bits_of(target, 64) != 64

    def _forget_argument(self, evaluator: Evaluator, arguments: Sequence[ir.Expr]) -> Effect:
        computed = [evaluator.value(a) for a in arguments if isinstance(a.type, Pointer)]

        def forget(work: Work) -> bool:
            for compute in computed:
                value = compute(work)
                if type(value) is Address:
                    work.store = work.store.set(value.root, None)
                elif value != 0 or type(value) is not int:
                    self.forget_reachable(work)
            return True

        return forget

    def _external_result(self, evaluator: Evaluator, name: str, call: ir.Call) -> Effect:
        if call.result is None:
            return lambda work: True
        target = call.result
        width = bits_of(target.type, self.variables.pointer_bits)
        if width is None:
            return self._assign_aggregate(evaluator, target, ir.Unknown(target.type))
        unknown = self.algebra.unknown
        return self._store(evaluator, target, width, lambda work: unknown(work, target.type))


def _nothing(work: Work) -> Value:
    return None


def _forget_all(work: Work) -> bool:
    work.store = EMPTY_STORE
    return True
