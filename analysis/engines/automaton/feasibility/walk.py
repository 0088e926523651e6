"""What the steps of a path do to the store of values along it: the semantics of `error_paths`, and its view of the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from typing import Literal, NamedTuple

from analysis.cfa.callgraph import called
from analysis.cfa.graph import Cfa, Edge
from analysis.cfa.live_variables import live
from analysis.engines.automaton.facts.facts import NOTHING
from analysis.engines.automaton.facts.product import ProgramDelta
from analysis.engines.automaton.feasibility.graph_slices import GraphSteps, Steps, Via, opened
from analysis.engines.automaton.feasibility.kept_searches import ENTERED, Cells, Edges, bits, ids_of
from analysis.engines.automaton.feasibility.known_values import Item, Sums
from analysis.engines.automaton.feasibility.path_values import Kill, Store, is_noted
from analysis.engines.automaton.feasibility.renaming import behind_parameter, substitute
from analysis.engines.automaton.feasibility.text_order import TextOrder
from analysis.engines.automaton.feasibility.touched_edges import CellsRead, Touched, TouchedEdges
from analysis.engines.automaton.functions.access_paths import root_of
from analysis.engines.automaton.functions.footprint import base_variable, visible
from analysis.engines.automaton.functions.function_model import FunctionModel
from analysis.engines.automaton.functions.known_conditions import Condition, bare, condition_of, pointers_followed
from analysis.engines.automaton.functions.value_ranges import is_stored_as_it_is
from analysis.engines.automaton.report.trace import Taken
from analysis.engines.automaton.solver.full import DerivationGraph, pack, unpack
from analysis.model import ir
from analysis.model.c_types import Pointer
from analysis.model.intervals import ANY, ZERO
from analysis.model.kept_with import kept_with

_LAST = 30  # edges before a place that every path to it takes
Last = Literal["nothing", "flags", "all"]
"""How much is known of such edges: that values are 0, 1 or not 0 ("flags"), or also other numbers."""
CROSSED = 2  # steps over a call that is opened, besides those in the callee: to enter it, and to leave it


class Derivation(NamedTuple):
    """What was derived over an edge: `through` which summaries, and whether also without one (`graph_slices.opened`)."""

    edge: int
    derived: int
    through: tuple[Via, ...]
    passed: bool


class Walk:
    """Steps over the edges of one program and its derivation graph, revision by revision. What follows from the text of functions
    stays, until they are to be forgotten."""

    def __init__(self, steps: GraphSteps, delta: ProgramDelta) -> None:
        self.steps = steps
        self._graph = steps.graph
        self.visited: set[str] = set()
        self.opened: dict[Via, None] = {}
        self.sums = Sums()
        self._cells: dict[str, CellsRead] = {}
        self._asked: dict[str, set[ir.Expr]] = {}
        self._numbers: dict[ir.Expr, int] = {}
        self._touched: dict[str, TouchedEdges] = {}
        self._mentioned: dict[str, dict[int, frozenset[str]]] = {}
        self._sets: dict[frozenset[str], frozenset[str]] = {}  # each once, for all that was found
        self._entering: dict[tuple[str, int, str], tuple[tuple[ir.Expr, ir.Expr], ...]] = {}
        self.revise(delta)

    def revise(self, delta: ProgramDelta) -> None:
        """Takes the transition relation of the next revision, for which the graph was repaired."""
        self._delta = delta
        self.order = TextOrder(self._graph, delta)
        self._inside: dict[Via, set[int]] = {}
        self._derivations: dict[tuple[str, int], tuple[Derivation, ...]] = {}
        self._live: dict[str, Mapping[int, frozenset[str]]] = {}
        self._known_told: dict[tuple[str, int], tuple[Condition, ...]] = {}
        self._known_parts: dict[str, tuple[tuple[int, frozenset[ir.Expr]], ...]] = {}
        self._formulas: dict[tuple[str, int], ir.Expr | None] = {}
        self._returning: dict[str, tuple[str, ...]] = {}
        self._stretches: dict[tuple[str, int, int, int], list[tuple[Edge, ...]]] = {}
        self._chains: dict[tuple[str, int, int, int], tuple[tuple[int, ...], ...]] = {}

    def forget(self, functions: Set[str]) -> None:
        """The models of these functions are other ones."""
        for name in functions:
            self._cells.pop(name, None)
            self._touched.pop(name, None)
            self._mentioned.pop(name, None)
        gone = [key for key in self._entering if key[0] in functions or key[2] in functions]
        for key in gone:
            del self._entering[key]

    def begin(self, function: str) -> None:
        """Begins a search for paths to a place in the function: nothing is visited, nothing was asked."""
        self.visited, self.opened = {function}, {}
        self.forget_asked()

    def forget_asked(self) -> None:
        """From now on, other expressions are asked about: see `asked`."""
        self._asked = {}

    def asked(self) -> Cells:
        """The cells, visible to other functions, of all expressions of which it was asked since then what they read."""
        found = {}
        for function, exprs in self._asked.items():
            cells = frozenset(filter(visible, frozenset[str]().union(*map(self._cells_read(function).of, exprs))))
            if cells:
                found[function] = self._sets.setdefault(cells, cells)
        return found

    def that_matter(self, asked: Cells, edges: Edges) -> Cells:
        """The cells without those of globals that none of these edges mentions. What is known of such a global tells nothing of
        what is mentioned on paths over the edges: it gets no other name on the way."""
        mentioned = self._mentioned_globals(edges)
        found = {}
        for function, cells in asked.items():
            left = frozenset(cell for cell in cells if cell[0] != "@" or cell in mentioned)
            if left:
                found[function] = self._sets.setdefault(left, left)
        return found

    def _mentioned_globals(self, edges: Edges) -> set[str]:
        """The cells of globals that edges mention, or of which calls over them tell something."""
        found: set[str] = set()
        for function, passed in edges.items():
            known = self._mentioned.setdefault(function, {})
            for id_ in ids_of(passed):
                cells = known.get(id_)
                if cells is None:
                    edge = self._delta.program.functions[function].by_id[id_]
                    cells = known[id_] = self._mentioned_at(function, edge)
                found |= cells
        return found

    def _mentioned_at(self, function: str, edge: Edge) -> frozenset[str]:
        exprs = [*ir.expressions(edge.effect), *(expr for expr, _ in self._told(function, edge))]
        if isinstance(edge.effect, ir.Call):
            exprs.extend(expr for expr in (self._formula(function, edge, edge.effect), called_pointer(edge)) if expr is not None)
        variables = (variable for expr in exprs for variable in ir.variables(expr))
        cells = frozenset(root_of(variable) for variable in variables if variable.scope == "global")
        return self._sets.setdefault(cells, cells)

    def store(
        self,
        function: str,
        follows: Callable[[str, ir.Expr], bool],
        wanted: set[Item] | None = None,
        *,
        is_entry: bool = True,
    ) -> Store:
        """The store where paths begin, at the function's entry or later; it adds to `wanted` the items that would make more
        known."""
        store = Store(function, follows, wanted, self.sums)
        if function == "main" and is_entry:
            globals_ = self._delta.program.globals
            store.begin((globals_[name].var, value) for name, value in self._delta.initial_values.items())
        return store

    def come(self, store: Store, place: int, known: Last) -> None:
        """Takes the edges that every path to the place in the store's function takes last: up to where paths join."""
        function = store.function
        if known == "nothing":
            return
        model = self._delta.model(function)
        for edge in reversed(self.last_edges(function, place)):
            self._pass(store, function, edge, model, NOTHING)
        if known == "flags":
            store.keep_flags()

    def last_edges(self, function: str, place: int) -> list[Edge]:
        """The edges that every path to a place takes last, backwards: up to where paths join."""
        incoming, last = self._delta.model(function).cfa.incoming, list[Edge]()
        while len(before := incoming.get(place, ())) == 1 and len(last) < _LAST:
            last.append(before[0])
            place = before[0].source
        return last

    # -- steps --------------------------------------------------------------------------------------------------

    def advance(self, store: Store, taken: Taken, callee: str) -> bool:
        """Takes one step; False when the store contradicts it. `callee` is the function entered by a call or descent."""
        edge = self.edge(taken)
        model = self._delta.model(taken.function)
        match taken.event:
            case "call" | "descent":
                pointer = called_pointer(edge)
                if pointer is not None and not store.can_call(pointer, callee):
                    return False
                store.enter(callee, [*self.entering(taken.function, edge, callee), *self._carried(store, edge, callee)])
                if taken.event == "descent":
                    store.drop_callers()
            case "return":
                self._leave(store, taken, edge)
            case _:
                return self._pass(store, taken.function, edge, model, taken.after)
        return True

    def edge(self, taken: Taken) -> Edge:
        """The edge of a step."""
        return self._delta.program.functions[taken.function].by_id[taken.edge]

    def _pass(self, store: Store, function: str, edge: Edge, model: FunctionModel, after: int) -> bool:
        effect = edge.effect
        for pointer in pointers_followed(effect):
            store.follow(pointer)
        if isinstance(effect, ir.Assume):
            return store.assume(effect) and all(store.learn(*one, effect) for one in self._told(function, edge))
        if isinstance(effect, ir.Call):
            return self._pass_call(store, function, edge, effect, model, after)
        if isinstance(effect, ir.Assign) and not model.changes_nothing(edge):
            store.assign(effect.target, effect.value, self._kill(function, edge))
        elif isinstance(effect, ir.Return) and effect.value is not None:
            store.keep_result(effect.value)
        elif isinstance(effect, ir.Unsupported):
            store.havoc(self._kill(function, edge))
        return True

    def _pass_call(self, store: Store, function: str, edge: Edge, call: ir.Call, model: FunctionModel, after: int) -> bool:
        """Steps over a call; False where it never returns, or not to this path."""
        arguments = [store.passed(argument) for argument in call.arguments]
        items = frozenset(item for _, some in arguments for item in some)
        result = model.cases.result_of(call, [value for value, _ in arguments])
        if result is None:
            store.contradiction = items
            return False
        formula = self._formula(function, edge, call)
        if formula is not None and call.result is not None:
            value = formula if is_stored_as_it_is(formula.type, call.result.type) else ir.Cast(formula, call.result.type)
            store.assign(call.result, value, self._kill(function, edge))
            return True
        callee = self.returning_callee(edge)
        for index, truth in self._delta.model(callee).cases.ensures if callee is not None else ():
            if index < len(call.arguments) and not store.assume(ir.Assume(call.arguments[index], truth)):
                return False
        store.havoc(self._kill(function, edge))
        if call.result is not None and result != ANY:
            store.put(call.result, result, items)
        for number, interval in self._delta.facts[after].environment:
            assert isinstance(number, int), "names are for exits"
            store.put(model.conditions.keys[number], interval, items)
        return True

    def _formula(self, function: str, edge: Edge, call: ir.Call) -> ir.Expr | None:
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

    def _told(self, function: str, edge: Edge) -> tuple[Condition, ...]:
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

    def touching(self, function: str, followed: Set[ir.Expr]) -> Touched:
        """The edges of a function that can change, or can test or mention, one of the expressions."""
        edges = self._touched_edges(function)
        if not followed:
            return Touched(frozenset(), frozenset())
        each = [edges.of(expr, self._cells_of(function, expr)) for expr in followed]
        told = (id_ for id_, parts in self._told_parts(function) if not parts.isdisjoint(followed))
        changing = frozenset[int]().union(*(one.changing for one in each))
        return Touched(changing, edges.returning.union(told, *(one.mentioning for one in each)))

    def mentions(self, function: str, exprs: Set[ir.Expr]) -> bool:
        """Whether a function mentions one of the expressions, or tells something of one by a branch."""
        edges = self._touched_edges(function)
        if any(edges.of(expr, self._cells_of(function, expr)).mentioning for expr in exprs):
            return True
        return bool(exprs) and any(not parts.isdisjoint(exprs) for _, parts in self._told_parts(function))

    def _touched_edges(self, function: str) -> TouchedEdges:
        model, found = self._delta.model(function), self._touched.get(function)
        if found is None or found.model is not model:
            found = self._touched[function] = TouchedEdges(model)
        return found

    def _told_parts(self, function: str) -> tuple[tuple[int, frozenset[ir.Expr]], ...]:
        """The branches of a function that tell something of other expressions than they test, and all parts of these."""
        found = self._known_parts.get(function)
        if found is None:
            branches = ((edge, self._told(function, edge)) for edge in self._delta.program.functions[function].edges)
            each = ((edge.id, frozenset(part for key, _ in told for part in ir.walk(key))) for edge, told in branches if told)
            found = self._known_parts[function] = tuple(each)
        return found

    def returning_callee(self, edge: Edge) -> str | None:
        """The one function with a body that is called at the edge, if it was seen to return."""
        name = ir.direct_callee(edge.effect) if isinstance(edge.effect, ir.Call) else None
        return name if name is not None and self._is_returning(name) else None

    def returning_callees(self, function: str) -> tuple[str, ...]:
        """The functions with a body that a function calls by their names, and that were seen to return."""
        found = self._returning.get(function)
        if found is None:
            direct, _ = called(self._delta.program.functions[function])
            found = self._returning[function] = tuple(filter(self._is_returning, direct))
        return found

    def _is_returning(self, name: str) -> bool:
        graph = self._graph.functions.get(name)
        return graph is not None and NOTHING in graph.summaries.get(NOTHING, ())

    def _kill(self, function: str, edge: Edge) -> Kill:
        asked, changed = self._asked_in(function), self._cells_read(function).changed

        def kill(exprs: Set[ir.Expr]) -> Set[ir.Expr]:
            asked.update(exprs)
            return changed(edge, exprs)

        return kill

    def cells(self, function: str, expr: ir.Expr) -> frozenset[str] | None:
        """The cells that an expression of the function reads, None if it reads what has no name."""
        cells = self._cells_of(function, expr)
        return None if "?" in cells else cells

    def _cells_of(self, function: str, expr: ir.Expr) -> frozenset[str]:
        self._asked_in(function).add(expr)
        return self._cells_read(function).of(expr)

    def _asked_in(self, function: str) -> set[ir.Expr]:
        found = self._asked.get(function)
        if found is None:
            found = self._asked[function] = set()
        return found

    def _cells_read(self, function: str) -> CellsRead:
        model, found = self._delta.model(function), self._cells.get(function)
        if found is None or found.model is not model:
            found = self._cells[function] = CellsRead(model)
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

    def _carried(self, store: Store, edge: Edge, callee: str) -> Iterator[tuple[ir.Expr, ir.Expr]]:
        """The same pairs for what is known behind the pointers that are passed, and the callee does not mention: it may pass them
        on to functions that do."""
        call = edge.effect
        assert isinstance(call, ir.Call)
        inner = self._delta.model(callee)
        own = told_at_calls(inner.cfa)
        passed = [
            (ir.strip_casts(argument), parameter)
            for parameter, argument in zip(inner.cfa.parameters, call.arguments, strict=False)
            if isinstance(parameter.type, Pointer)
        ]
        for expr in store.expressions():
            for argument, parameter in passed:
                moved = behind_parameter(expr, argument, parameter)
                if moved is not None and moved not in own:
                    yield moved, expr

    def _leave(self, store: Store, taken: Taken, edge: Edge) -> None:
        call = edge.effect
        assert isinstance(call, ir.Call)
        inner = self._delta.model(store.function)
        kill = self._kill(taken.function, edge)
        kept: dict[ir.Expr, ir.Expr] = {
            parameter: argument
            for parameter, argument in zip(inner.cfa.parameters, call.arguments, strict=False)
            if parameter.name not in inner.assignments.reassigned
            and parameter.name not in inner.address_taken
            and (is_constant_address(argument) or not kill({argument}))
        }
        returned = inner.cfa.type.result
        if call.result is not None and store.returned is not None and is_stored_as_it_is(returned, call.result.type):
            kept[store.returned] = call.result
        renamed = ((expr, substitute(expr, kept)) for expr in store.expressions())
        store.leave(call.result, returned, kill, [(e, outer) for e, outer in renamed if outer is not None and is_noted(outer)])

    # -- the graph ----------------------------------------------------------------------------------------------

    @property
    def graph(self) -> DerivationGraph:
        """The derivation graph."""
        return self._graph

    @property
    def delta(self) -> ProgramDelta:
        """The transition relation."""
        return self._delta

    def live(self, function: str) -> Mapping[int, frozenset[str]]:
        """The variables of a function that may still be read, by location."""
        found = self._live.get(function)
        if found is None:
            found = self._live[function] = live(self._delta.program.functions[function])
        return found

    def open(self, vias: Iterable[Via]) -> None:
        """A search looks into these callees."""
        self.visited.update(callee for callee, _, _ in vias)
        self.opened.update(dict.fromkeys(vias))

    def inside(self, via: Via) -> set[int]:
        """The configurations of a callee on paths from its entry to an exit state, which a search looks into."""
        self.open((via,))
        found = self._inside.get(via)
        if found is None:
            found = self._inside[via] = self.steps.closure(via[0], (self.end(via),))
        return found

    def end(self, via: Via) -> int:
        """The configuration at which a callee that was entered in a state is left in another."""
        callee, entry, exit_ = via
        return pack(self._delta.exit(callee), entry, exit_)

    def derivations(self, function: str, configuration: int) -> tuple[Derivation, ...]:
        """What was derived from a configuration of a function, in the order of the text."""
        found = self._derivations.get((function, configuration))
        if found is None:
            graph = self._graph.functions[function]
            found = tuple(
                Derivation(edge, to, tuple(self.order.summaries(through)), passed)
                for edge, to in self.order.derivations(function, graph.derivations(configuration))
                for through, passed in (opened(graph, configuration, edge, to),)
            )
            self._derivations[function, configuration] = found
        return found

    def before(self, function: str, configuration: int) -> tuple[Steps, ...]:
        """What a configuration of a function was derived from, and the least numbers of steps from there."""
        return self.steps.before(function, configuration, lambda one: self._onward(function, one))

    def _onward(self, function: str, configuration: int) -> Iterator[Steps]:
        for derivation in self.derivations(function, configuration):
            passed: Iterable[int] = ()
            if derivation.passed:
                state, place = unpack(configuration)[2], unpack(derivation.derived)[0]
                passed = map(len, self.stretches(function, derivation.edge, state, place))
            yield derivation.derived, min((*passed, *(CROSSED for _ in derivation.through)), default=1)

    def number(self, expr: ir.Expr) -> int:
        """A number for an expression, the same each time."""
        return self._numbers.setdefault(expr, len(self._numbers))

    def stretches(self, function: str, edge: int, state: int, place: int) -> list[tuple[Edge, ...]]:
        """The paths from an edge to the place to which its derivation leads, over locations that are left out of the graph."""
        key = (function, edge, state, place)
        found = self._stretches.get(key)
        if found is None:
            first = self._delta.program.functions[function].by_id[edge]
            simple = first.target == place
            found = self._stretches[key] = [(first,)] if simple else self._delta.stretches(function, first, state, place)
        return found

    def chains(self, function: str, edge: int, state: int, place: int) -> tuple[tuple[int, ...], ...]:
        """The ids of the edges of each of the `stretches` that has several."""
        if self._delta.program.functions[function].by_id[edge].target == place:
            return ()
        key = (function, edge, state, place)
        found = self._chains.get(key)
        if found is None:
            some = self.stretches(function, edge, state, place)
            found = self._chains[key] = tuple(tuple(one.id for one in stretch) for stretch in some)
        return found


def edges_passed(steps: Iterable[Taken]) -> dict[str, int]:
    """The edges that steps take, and the functions that they enter."""
    found: dict[str, set[int]] = {}
    entered: set[str] = set()
    is_entered = False
    for taken in steps:
        ids = found.setdefault(taken.function, set())
        if taken.edge >= 0:
            ids.add(taken.edge)
        if is_entered:
            entered.add(taken.function)
        is_entered = taken.event in ("call", "descent")
    return {name: bits(ids) | (ENTERED if name in entered else 0) for name, ids in found.items()}


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


def is_constant_address(expr: ir.Expr) -> bool:
    """Whether the value is the address of a variable or of a part of one, which nothing changes."""
    expr = ir.strip_casts(expr)
    return (
        isinstance(expr, ir.AddressOf) and base_variable(expr.lvalue) is not None and isinstance(expr.lvalue, ir.Var | ir.Field)
    )


def expressions_in(expr: ir.Expr) -> Iterator[ir.Expr]:
    """The lvalues that an expression reads."""
    for part in ir.walk(expr):
        if isinstance(part, ir.LVALUES):
            yield part
