"""Whether a finding has a way that its branches allow: a search over the derivation graph with values, refined on demand.

The automaton knows little of values, so that it is fast (`conditions`). For the few errors that it finds, this module looks
for a way through the slice of the derivation graph that leads to them (`slices`), with a store of values along it
(`values`). What the store follows grows by counterexample-guided refinement, as in explicit-value CEGAR (SYMCEGAR, section
3.2.3; Beyer and Loewe, FASE 2013): the shortest way is run with everything followed; if its branches contradict each other,
the expressions to blame are followed in the next search. The search ends with a way whose branches do not contradict each other
(then it is the finding's trace, the shortest one such), or without any: then the error is refuted. When the budget runs out, the
error stays as it was.

It refutes soundly as far as the derivation graph and the cells of `paths` are sound: stores only forget.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

import msgspec

from analysis.cfa.graph import Edge
from analysis.engines.automaton.conditions import condition_of, expr_cells, pointers_followed
from analysis.engines.automaton.delta import ProgramDelta
from analysis.engines.automaton.footprint import base_variable
from analysis.engines.automaton.full import DerivationGraph, Entry, pack, unpack
from analysis.engines.automaton.function_model import FunctionModel
from analysis.engines.automaton.slices import Parents, Slice, Via, opened
from analysis.engines.automaton.trace import Taken
from analysis.engines.automaton.values import Item, Store
from analysis.model import ir
from analysis.model.intervals import ANY

_DEPTH = 6
_REFINEMENTS = 12
_STATES = 6_000


class _Frame(msgspec.Struct, frozen=True):
    """A call that is open: the caller and its configuration, the call edge, what is derived after it, and the summary."""

    function: str
    configuration: int
    edge: int
    derived: int
    via: Via


class Way(msgspec.Struct, frozen=True):
    """What the search found: the steps of a feasible way from the entry `start` (None: there is none), or that it gave up."""

    steps: tuple[Taken, ...] | None
    start: Entry | None = None
    decided: bool = True


class _State:
    """A node of the search: open calls, configuration, store, and how it was reached."""

    __slots__ = ("before", "configuration", "depth", "frames", "function", "steps", "store")

    def __init__(
        self,
        frames: tuple[_Frame, ...],
        depth: int,
        function: str,
        configuration: int,
        store: Store,
        before: _State | None,
        steps: tuple[Taken, ...],
    ) -> None:
        self.frames = frames
        self.depth = depth
        self.function = function
        self.configuration = configuration
        self.store = store
        self.before = before
        self.steps = steps


class Feasibility:
    """Decides errors of one derivation graph."""

    def __init__(self, graph: DerivationGraph, delta: ProgramDelta) -> None:
        self._graph = graph
        self._delta = delta
        self._parents = Parents(graph)
        self._inside: dict[Via, set[int]] = {}
        self._numbers: dict[ir.Expr, int] = {}
        self._known: dict[str, tuple[ir.Expr, ...]] = {}
        self._ways: dict[tuple[str, int, int, int], list[tuple[Edge, ...]]] = {}

    def way(self, function: str, errors: frozenset[int]) -> Way:
        """A feasible way to one of the error configurations, all of one function."""
        part = Slice(self._graph, self._parents, function, sorted(errors))
        followed: set[Item] = set()
        states = 0
        for _ in range(_REFINEMENTS):
            search = _Search(self, part, errors, frozenset(followed), _STATES - states)
            end = search.run()
            states += search.states
            if end is None:
                return Way(None, decided=part.complete and not search.exhausted)
            steps, start = _path(end)
            blamed = self.contradiction(start[0], steps)
            if blamed is None:
                return Way(steps, start)
            if blamed <= followed:
                break
            followed |= blamed
        return Way(None, decided=False)

    def contradiction(self, start: str, steps: tuple[Taken, ...]) -> frozenset[Item] | None:
        """What makes a way infeasible, when everything is followed; None if nothing does."""
        store = self.store(start, lambda function, expr: self.cells(function, expr) is not None)
        for index, taken in enumerate(steps):
            following = steps[index + 1].function if index + 1 < len(steps) else ""
            if not self.advance(store, taken, following):
                return store.contradiction
        return None

    def store(self, function: str, follows: Callable[[str, ir.Expr], bool]) -> Store:
        """The store where ways begin."""
        store = Store(function, follows)
        if function == "main":
            globals_ = self._delta.program.globals
            store.begin((globals_[name].var, value) for name, value in self._delta.initial_values.items())
        return store

    # -- steps --------------------------------------------------------------------------------------------------

    def advance(self, store: Store, taken: Taken, callee: str) -> bool:
        """Takes one step; False when the store contradicts it. `callee` is the function entered by a call or descent."""
        edge = self.edge(taken)
        model = self._delta.model(taken.function)
        match taken.event:
            case "call" | "descent":
                store.enter(callee, self._entering(edge, callee, model))
                if taken.event == "descent":
                    store.drop_callers()
            case "return":
                self._leave(store, taken, edge, model)
            case _:
                return self._pass(store, taken.function, edge, model)
        return True

    def edge(self, taken: Taken) -> Edge:
        """The edge of a step."""
        return self._delta.program.functions[taken.function].by_id[taken.edge]

    def _pass(self, store: Store, function: str, edge: Edge, model: FunctionModel) -> bool:
        effect = edge.effect
        for pointer in pointers_followed(effect):
            store.follow(pointer)
        if isinstance(effect, ir.Assume):
            return store.assume(effect)
        if isinstance(effect, ir.Assign):
            store.assign(effect.target, effect.value, self._kill(function, edge, model))
        elif isinstance(effect, ir.Call):
            arguments = [store.value(argument) for argument in effect.arguments]
            items = frozenset(item for _, some in arguments for item in some)
            result = model.result_of(effect, [value for value, _ in arguments])
            if result is None:
                store.contradiction = items
                return False
            store.havoc(self._kill(function, edge, model))
            if effect.result is not None and result != ANY:
                store.put(effect.result, result, items)
        elif isinstance(effect, ir.Return) and effect.value is not None:
            store.keep_result(effect.value)
        return True

    def touches(self, function: str, edge: Edge, followed: frozenset[ir.Expr]) -> bool:
        """Whether the edge can change or test one of the expressions."""
        effect = edge.effect
        if isinstance(effect, ir.Return):
            return True
        kill = self._kill(function, edge, self._delta.model(function))
        if any(kill(expr) for expr in followed):
            return True
        parts = {part for expr in ir.expressions(effect) for part in ir.walk(expr)}
        if isinstance(effect, ir.Assume) and (condition := condition_of(effect)) is not None:
            parts.add(condition[0])
        return not followed.isdisjoint(parts)

    def _kill(self, function: str, edge: Edge, model: FunctionModel) -> Callable[[ir.Expr], bool]:
        written = model.written[edge.id]

        def changed(expr: ir.Expr) -> bool:
            cells = self.cells(function, expr)
            return cells is None or not cells.isdisjoint(written)

        return changed

    def cells(self, function: str, expr: ir.Expr) -> frozenset[str] | None:
        """The cells that an expression of the function reads, None if it reads what has no name."""
        cells = _cells(expr, self._delta.model(function).address_taken)
        return None if "?" in cells else cells

    def _entering(self, edge: Edge, callee: str, model: FunctionModel) -> Iterator[tuple[ir.Expr, ir.Expr]]:
        """Pairs of the callee's expressions at its entry and the caller's for them."""
        call = edge.effect
        assert isinstance(call, ir.Call)
        inner = self._delta.model(callee)
        arguments: dict[ir.Expr, ir.Expr] = dict(zip(inner.cfa.parameters, call.arguments, strict=False))
        for expr in self._expressions(inner):
            outer = substitute(expr, arguments)
            if outer is not None:
                yield expr, outer

    def _leave(self, store: Store, taken: Taken, edge: Edge, model: FunctionModel) -> None:
        call = edge.effect
        assert isinstance(call, ir.Call)
        inner = self._delta.model(store.function)
        kill = self._kill(taken.function, edge, model)
        kept: dict[ir.Expr, ir.Expr] = {
            parameter: argument
            for parameter, argument in zip(inner.cfa.parameters, call.arguments, strict=False)
            if parameter.name not in inner.reassigned
            and parameter.name not in inner.address_taken
            and (is_constant_address(argument) or not kill(argument))
        }
        if call.result is not None and store.returned is not None:
            kept[store.returned] = call.result
        pairs = [(e, outer) for e in store.expressions() if isinstance(outer := substitute(e, kept), ir.LVALUES)]
        store.leave(call.result, kill, pairs)

    def _expressions(self, model: FunctionModel) -> tuple[ir.Expr, ...]:
        """The expressions of a function that a caller can know something of: parameters and what is tested or stored."""
        found = self._known.get(model.cfa.name)
        if found is None:
            exprs: dict[ir.Expr, None] = dict.fromkeys(model.cfa.parameters)
            for edge in model.cfa.edges:
                for expr in ir.expressions(edge.effect):
                    for part in ir.walk(expr):
                        if isinstance(part, ir.LVALUES) and all(v.scope in ("global", "parameter") for v in ir.variables(part)):
                            exprs[part] = None
            found = self._known[model.cfa.name] = tuple(exprs)
        return found

    # -- the graph ----------------------------------------------------------------------------------------------

    @property
    def graph(self) -> DerivationGraph:
        """The derivation graph."""
        return self._graph

    @property
    def delta(self) -> ProgramDelta:
        """The transition relation."""
        return self._delta

    def inside(self, via: Via) -> set[int]:
        """The configurations of a callee on ways from its entry to an exit state."""
        found = self._inside.get(via)
        if found is None:
            callee, entry, exit_ = via
            end = pack(self._delta.exit(callee), entry, exit_)
            found = self._inside[via] = self._parents.closure(callee, (end,))
        return found

    def number(self, expr: ir.Expr) -> int:
        """A number for an expression, the same each time."""
        return self._numbers.setdefault(expr, len(self._numbers))

    def stretches(self, function: str, edge: int, state: int, place: int) -> list[tuple[Edge, ...]]:
        """The ways from an edge to the place to which its derivation leads, over locations that are left out of the graph."""
        first = self._delta.program.functions[function].by_id[edge]
        if first.target == place:
            return [(first,)]
        key = (function, edge, state, place)
        found = self._ways.get(key)
        if found is None:
            found = self._ways[key] = self._delta.stretches(function, first, state, place)
        return found


class _Search:
    """One breadth-first search through a slice, following the given items."""

    def __init__(self, owner: Feasibility, part: Slice, errors: frozenset[int], followed: frozenset[Item], budget: int) -> None:
        self._owner = owner
        self._part = part
        self._errors = errors
        self._followed = followed
        self._budget = budget
        self._seen: set[object] = set()
        self._effective: dict[tuple[str, int], bool] = {}
        self._queue: deque[_State] = deque()
        self.states = 0
        self.exhausted = False

    def run(self) -> _State | None:
        """The end of a shortest way, None if there is none or the budget is used up (`exhausted`)."""
        for function, entry in self._part.starts:
            configuration = pack(self._owner.delta.entry(function), entry, entry)
            self._add(_State((), 0, function, configuration, self._owner.store(function, self._follows), None, ()))
        while self._queue:
            state = self._queue.popleft()
            if not state.frames and state.configuration in self._errors:
                return state
            if self.states > self._budget:
                self.exhausted = True
                return None
            self._expand(state)
        return None

    def _follows(self, function: str, expr: ir.Expr) -> bool:
        return (function, expr) in self._followed

    def _add(self, state: _State) -> None:
        key = (state.frames, state.function, state.configuration, state.store.key(self._owner.number))
        if key not in self._seen:
            self._seen.add(key)
            self.states += 1
            self._queue.append(state)

    def _expand(self, state: _State) -> None:
        if state.frames and self._return(state):
            return
        _, entry, fact = unpack(state.configuration)
        allowed = self._owner.inside(state.frames[-1].via) if state.frames else self._part.open[state.function, entry]
        graph = self._owner.graph.functions[state.function]
        for edge, derived in graph.derivations(state.configuration):
            if derived not in allowed:
                continue
            through, passed = opened(graph, state.configuration, edge, derived)
            if len(state.frames) >= _DEPTH and through:
                through = []
                self.exhausted = True
            if passed:
                for stretch in self._owner.stretches(state.function, edge, fact, unpack(derived)[0]):
                    self._pass(state, stretch, derived)
            for via in through:
                frame = _Frame(state.function, state.configuration, edge, derived, via)
                taken = Taken("call", state.function, state.depth, edge, fact, via[1])
                self._enter(state, taken, (*state.frames, frame), (via[0], via[1]))
        if not state.frames:
            for call, below in self._part.descents.get((state.function, state.configuration), ()):
                self._enter(state, Taken("descent", state.function, state.depth, call.id, fact, below[1]), (), below)

    def _pass(self, state: _State, stretch: tuple[Edge, ...], derived: int) -> None:
        store = state.store
        before, after = unpack(state.configuration)[2], unpack(derived)[2]
        steps = []
        for edge in stretch:
            taken = Taken("edge", state.function, state.depth, edge.id, before, after)
            if self._matters(state.function, edge):
                store = state.store.copy() if store is state.store else store
                if not self._owner.advance(store, taken, ""):
                    return
            steps.append(taken)
            before = after
        self._add(_State(state.frames, state.depth, state.function, derived, store, state, tuple(steps)))

    def _matters(self, function: str, edge: Edge) -> bool:
        """Whether the edge can do something to a store that follows only some items."""
        key = (function, edge.id)
        found = self._effective.get(key)
        if found is None:
            followed = [expr for name, expr in self._followed if name == function]
            found = self._effective[key] = bool(followed) and self._owner.touches(function, edge, frozenset(followed))
        return found

    def _enter(self, state: _State, taken: Taken, frames: tuple[_Frame, ...], callee: Entry) -> None:
        store = state.store.copy()
        self._owner.advance(store, taken, callee[0])
        configuration = pack(self._owner.delta.entry(callee[0]), callee[1], callee[1])
        self._add(_State(frames, state.depth + 1, callee[0], configuration, store, state, (taken,)))

    def _return(self, state: _State) -> bool:
        """Whether the innermost opened call ends here; then the way goes on in the caller."""
        frame = state.frames[-1]
        callee, entry, exit_ = frame.via
        if state.configuration != pack(self._owner.delta.exit(callee), entry, exit_):
            return False
        store = state.store.copy()
        taken = Taken("return", frame.function, state.depth - 1, frame.edge, exit_, unpack(frame.derived)[2])
        self._owner.advance(store, taken, "")
        self._add(_State(state.frames[:-1], state.depth - 1, frame.function, frame.derived, store, state, (taken,)))
        return True


def _path(end: _State) -> tuple[tuple[Taken, ...], Entry]:
    """The steps to a state, and where they begin."""
    parts: list[tuple[Taken, ...]] = []
    state = end
    while True:
        parts.append(state.steps)
        if state.before is None:
            break
        state = state.before
    steps = tuple(taken for part in reversed(parts) for taken in part)
    return steps, (state.function, unpack(state.configuration)[1])


@lru_cache(maxsize=200_000)
def _cells(expr: ir.Expr, address_taken: frozenset[str]) -> frozenset[str]:
    return frozenset(expr_cells(expr, address_taken))


def is_constant_address(expr: ir.Expr) -> bool:
    """Whether the value is the address of a variable or of a part of one, which nothing changes."""
    expr = ir.strip_casts(expr)
    return (
        isinstance(expr, ir.AddressOf) and base_variable(expr.lvalue) is not None and isinstance(expr.lvalue, ir.Var | ir.Field)
    )


def substitute(expr: ir.Expr, values: Mapping[ir.Expr, ir.Expr]) -> ir.Expr | None:
    """The expression with variables replaced by values; globals stay; None if another variable is left."""
    match expr:
        case ir.Var():
            return values.get(expr, expr if expr.scope in ("global", "function") else None)
        case ir.Deref(pointer):
            inner = substitute(pointer, values)
            if isinstance(inner, ir.AddressOf):
                return inner.lvalue
            return None if inner is None else msgspec.structs.replace(expr, pointer=inner)
        case ir.Field(record):
            inner = substitute(record, values)
            return None if inner is None else msgspec.structs.replace(expr, record=inner)
        case ir.Index(array, index):
            base, place = substitute(array, values), substitute(index, values)
            return None if base is None or place is None else msgspec.structs.replace(expr, array=base, index=place)
        case ir.Cast(operand):
            inner = substitute(operand, values)
            return None if inner is None else msgspec.structs.replace(expr, operand=inner)
        case ir.IntConst():
            return expr
    return None
