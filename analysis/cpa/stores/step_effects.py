"""What a step does to a store, for the value domains: each step is compiled once for each depth at which it is taken.

`writing` says what writes reach, `externals` what external functions do.
"""

from __future__ import annotations

from collections.abc import Callable

from immutables import Map

from analysis.cfa.graph import Global, Program
from analysis.cpa.framework.steps import Step
from analysis.cpa.stores.branch_refinement import Refine, refinement
from analysis.cpa.stores.evaluate import Algebra, Evaluator, Work
from analysis.cpa.stores.externals import external_change, external_result
from analysis.cpa.stores.scalar_values import Address, Value, bits_of, converted
from analysis.cpa.stores.store_memory import EMPTY_STORE, ZERO_CONTENTS, Store
from analysis.cpa.stores.variables import RESULT, Variables, global_root, local_root
from analysis.cpa.stores.writing import Writer
from analysis.model import ir
from analysis.model.c_types import DataModel, Type

Effect = Callable[[Work], bool]
"""Changes the work's store; False if no run can take the step."""


class Effects:
    """The steps of one program as changes of stores. `whole`: the exploration begins where the program does; otherwise it begins
    in the middle, where nothing is known of globals, and pointers may lead to them."""

    def __init__(self, program: Program, algebra: Algebra, model: DataModel, whole: bool) -> None:
        self.program = program
        self.whole = whole
        self.variables = Variables(program, model, whole)
        self.algebra = algebra
        self._evaluators: dict[tuple[str, int], Evaluator] = {}
        self.writer = Writer(self.variables, algebra)

    def initial(self) -> Store:
        """The store at the entry."""
        store, counters = EMPTY_STORE, Map[str, int]()
        if self.whole:
            for name in sorted(self.program.globals):
                work = Work(
                    EMPTY_STORE, counters, "start"
                )  # of its own: initial values are constants, and no write reaches others
                self._initialise(work, self.program.globals[name])
                counters = work.counters
                for root, value in work.store.items():
                    store = store.set(root, value)
        return store

    def _initialise(self, work: Work, variable: Global) -> None:
        """Gives a global what it starts with."""
        evaluator, root, initial = self.evaluator("", 0), global_root(variable.var.name), variable.initial
        if isinstance(initial, ir.Zero):
            work.store = work.store.set(root, ZERO_CONTENTS)
        elif isinstance(initial, ir.IntConst | ir.AddressOf | ir.StringConst | ir.Cast | ir.Unary | ir.Binary):
            value = evaluator.value(initial)(work)
            work.store = work.store.set(root, value if isinstance(value, int | Address) else None)
        for part in variable.parts:
            self.assign(evaluator, part.target, part.value)(work)

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
                return self._then_forget(self._return(evaluator, value), step, depth)
            case _:
                return _forget_all

    def _then_forget(self, effect: Effect, step: Step, depth: int) -> Effect:
        """The effect, after which variables that are not live any more are forgotten."""
        live = self.variables.live(step.function)
        before, after = live[step.edge.source], live[step.edge.target]
        written = ir.target_of(step.edge.effect)
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
            shared = self.algebra.symbolic_objects and self.writer.is_taken(root)

            def assign_variable(work: Work) -> bool:
                value = compute(work)
                if shared:
                    self.writer.forget_aliases(work, root)
                work.store = work.store.set(root, value)
                return True

            return assign_variable
        locate, write = evaluator.place(target), self.writer.write

        def assign(work: Work) -> bool:
            value = compute(work)
            write(work, locate(work), width, value)
            return True

        return assign

    def _assign_aggregate(self, evaluator: Evaluator, target: ir.Expr, value: ir.Expr) -> Effect:
        into = evaluator.place(target)
        source = evaluator.place(value) if isinstance(value, ir.LVALUES) else None
        type_, is_zero = target.type, isinstance(value, ir.Zero)

        def assign(work: Work) -> bool:
            self.writer.copy(work, into(work), None if source is None else source(work), type_, is_zero)
            return True

        return assign

    # -- branches, calls and returns ----------------------------------------------------------------------------

    def _assume(self, evaluator: Evaluator, effect: ir.Assume) -> Effect:
        condition, truth = evaluator.value(effect.condition), effect.truth
        refine: Refine | None = refinement(evaluator, effect, self.writer.write)

        def assume(work: Work) -> bool:
            value = condition(work)
            if type(value) is int:
                return (value != 0) == truth
            if type(value) is Address:
                return truth
            if value is None:
                return refine is None or refine(work)
            if isinstance(value, ir.Expr):
                work.assumed = (value, truth)
            return True

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
                self.writer.copy(work, (root, 0), None if source is None else source(work), type_, isinstance(argument, ir.Zero))
                return True

            return bind_aggregate
        value = argument if argument.type == type_ else ir.Cast(argument, type_)
        compute = evaluator.value(value)

        def bind(work: Work) -> bool:
            value = compute(work)  # first: it may name what it reads, in the store
            work.store = work.store.set(root, value)
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
                self.writer.copy(work, into(work), result, target.type, False)
                return True

            return take_aggregate
        root, algebra, same = result[0], self.algebra, target.type == type_
        conversion, bits = ir.Cast(ir.Unknown(type_), target.type), self.variables.pointer_bits

        def compute(work: Work) -> Value:
            value: Value = work.store.map.get(root)
            if value is None:
                return algebra.unknown(work, target.type)
            if same:
                return value
            known = converted(value, target.type, bits)
            return algebra.convert(work, conversion, value) if known is None else known

        return self._store(evaluator, target, width, compute)

    def _external(self, step: Step, call: ir.Call, depth: int) -> Effect:
        evaluator = self.evaluator(step.function, depth)
        is_meant = self._is_meant(evaluator, call, step.callee)
        change = external_change(self.writer, evaluator, step.callee, call)
        take = self._external_result(evaluator, step.callee, call.result)

        def apply(work: Work) -> bool:
            if not is_meant(work):
                return False
            change(work)
            return take(work)

        return apply

    def _external_result(self, evaluator: Evaluator, name: str, target: ir.Expr | None) -> Effect:
        if target is None:
            return lambda work: True
        width = bits_of(target.type, self.variables.pointer_bits)
        if width is None:
            return self._assign_aggregate(evaluator, target, ir.Unknown(target.type))
        return self._store(evaluator, target, width, external_result(self.algebra, name, target.type))


def _nothing(work: Work) -> Value:
    return None


def _forget_all(work: Work) -> bool:
    work.store = EMPTY_STORE
    return True
