"""What the steps of a path do to the store of values along it: the semantics of `error_paths`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set
from typing import Any, Literal

from analysis.cfa.graph import Edge
from analysis.engines.automaton.facts.facts import NOTHING
from analysis.engines.automaton.facts.product import ProgramDelta
from analysis.engines.automaton.feasibility.call_values import CallValues, called_pointer, told_at_calls
from analysis.engines.automaton.feasibility.graph_slices import GraphSteps
from analysis.engines.automaton.feasibility.graph_view import GraphView
from analysis.engines.automaton.feasibility.kept_searches import ENTERED, EVERYWHERE, Cells, Edges, bits
from analysis.engines.automaton.feasibility.known_values import Item
from analysis.engines.automaton.feasibility.mentioned_globals import MentionedGlobals
from analysis.engines.automaton.feasibility.path_values import Kill, Store, is_noted
from analysis.engines.automaton.feasibility.renaming import behind_parameter, substitute
from analysis.engines.automaton.feasibility.touched_edges import CellsRead, Touched, TouchedEdges
from analysis.engines.automaton.feasibility.unsigned_sums import Sums
from analysis.engines.automaton.functions.footprint import base_variable
from analysis.engines.automaton.functions.function_model import FunctionModel
from analysis.engines.automaton.functions.known_conditions import pointers_followed
from analysis.engines.automaton.functions.value_ranges import is_stored_as_it_is
from analysis.engines.automaton.report.trace import Taken
from analysis.engines.automaton.solver.full import Via
from analysis.model import ir
from analysis.model.c_types import Pointer
from analysis.model.intervals import ANY, NONZERO, Interval

_LAST = 30  # edges before a place that every path to it takes
Last = Literal["nothing", "flags", "all"]
"""How much is known of such edges: that values are 0, 1 or not 0 ("flags"), or also other numbers."""


class Walk:
    """Steps over the edges of one program and its derivation graph, revision by revision. What follows from the text of functions
    stays, until they are to be forgotten."""

    def __init__(self, steps: GraphSteps, delta: ProgramDelta) -> None:
        self.view = GraphView(steps, delta)
        self.calls = CallValues(delta)
        self.visited: set[str] = set()
        self.opened: dict[Via, None] = {}
        self._seen: dict[str, set[int]] = {}
        self._entered: set[str] = set()
        self.sums = Sums()
        self._cells: dict[str, CellsRead] = {}
        self._asked: dict[str, dict[int, set[ir.Expr]]] = {}
        self._numbers: dict[ir.Expr, int] = {}
        self._touched: dict[str, TouchedEdges] = {}
        self._mentioned = MentionedGlobals(self.calls, delta)
        self._sets: dict[frozenset[str], frozenset[str]] = {}  # each once, for all that was found
        self._can_follow: dict[str, dict[ir.Expr, bool]] = {}
        self.revise(delta)

    def revise(self, delta: ProgramDelta) -> None:
        """Takes the transition relation of the next revision, for which the graph was repaired."""
        self._delta = delta
        self.view.revise(delta)
        self.calls.revise(delta)
        self._mentioned.revise(delta)
        self._initial: list[tuple[ir.Expr, Interval]] | None = None

    def forget(self, functions: Set[str]) -> None:
        """The models of these functions are other ones, or the graph differs in them."""
        by_function: tuple[dict[str, Any], ...] = self._cells, self._touched, self._can_follow
        for known in by_function:
            for name in functions:
                known.pop(name, None)
        self._mentioned.forget(functions)
        self.view.forget(functions)
        self.calls.forget(functions)

    def begin(self, function: str) -> None:
        """Begins a search for paths to a place in the function: nothing is visited, nothing was asked."""
        self.visited, self.opened = {function}, {}
        self._seen, self._entered = {}, set()
        self.forget_asked()

    def forget_asked(self) -> None:
        """From now on, other expressions are asked about: see `asked`."""
        self._asked = {}

    def asked(self) -> Cells:
        """The cells, visible to other functions, of all expressions of which it was asked since then whether edges write them."""
        found: dict[str, dict[int, frozenset[str]]] = {}
        for function, at in self._asked.items():
            cells_of = self._cells_read(function).visible
            for edge, exprs in at.items():
                cells = frozenset[str]().union(*map(cells_of, exprs))
                if cells:
                    found.setdefault(function, {})[edge] = self._sets.setdefault(cells, cells)
        return found

    def that_matter(self, asked: Cells, edges: Edges) -> Cells:
        """The cells without those of globals that none of these edges mentions. What is known of such a global tells nothing of
        what is mentioned on paths over the edges: it gets no other name on the way."""
        mentioned = self._mentioned.of(edges)
        known: dict[frozenset[str], frozenset[str]] = {}
        found: dict[str, dict[int, frozenset[str]]] = {}
        for function, at in asked.items():
            for edge, cells in at.items():
                left = known.get(cells)
                if left is None:
                    left = frozenset(cell for cell in cells if cell[0] != "@" or cell in mentioned)
                    left = known[cells] = self._sets.setdefault(left, left)
                if left:
                    found.setdefault(function, {})[edge] = left
        return found

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
            if self._initial is None:
                globals_ = self._delta.program.globals
                self._initial = [(globals_[name].var, value) for name, value in self._delta.initial_values.items()]
            store.begin(self._initial)
        return store

    def come(self, store: Store, place: int, known: Last) -> None:
        """Takes the edges that every path to the place in the store's function takes last: up to where paths join."""
        function = store.function
        if known == "nothing":
            return
        for edge in reversed(self.last_edges(function, place)):
            self.take(store, function, edge, NOTHING)
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
        match taken.event:
            case "call" | "descent":
                pointer = called_pointer(edge)
                if pointer is not None and not store.can_call(pointer, callee):
                    return False
                store.enter(callee, [*self.calls.entering(taken.function, edge, callee), *self._carried(store, edge, callee)])
                if taken.event == "descent":
                    store.drop_callers()
            case "return":
                self._leave(store, taken, edge)
            case _:
                return self.take(store, taken.function, edge, taken.after)
        return True

    def edge(self, taken: Taken) -> Edge:
        """The edge of a step."""
        return self._delta.program.functions[taken.function].by_id[taken.edge]

    def take(self, store: Store, function: str, edge: Edge, after: int) -> bool:
        """Takes an edge that is not opened, to the state after it; False when the store contradicts it."""
        effect = edge.effect
        for pointer in pointers_followed(effect):
            store.follow(pointer)
        if isinstance(effect, ir.Assume):
            return store.assume(effect) and all(store.learn(*one, effect) for one in self.calls.told(function, edge))
        if isinstance(effect, ir.Call):
            return self._pass_call(store, function, edge, effect, self._delta.model(function), after)
        if isinstance(effect, ir.Assign) and not self._delta.model(function).changes_nothing(edge):
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
        formula = self.calls.formula(function, edge, call)
        if formula is not None and call.result is not None:
            value = formula if is_stored_as_it_is(formula.type, call.result.type) else ir.Cast(formula, call.result.type)
            store.assign(call.result, value, self._kill(function, edge))
            return True
        callee = self.view.returning_callee(edge)
        for index, truth in self._delta.model(callee).cases.ensures if callee is not None else ():
            if index < len(call.arguments) and not store.assume(ir.Assume(call.arguments[index], truth)):
                return False
        store.havoc(self._kill(function, edge))
        if call.result is not None and result != ANY:
            store.put(call.result, result, items)
        for number, interval in self._delta.facts[after].environment:
            assert isinstance(number, int), "names are for exits"
            key = model.conditions.keys[number]
            if key == call.result:
                store.put(key, interval, items)
            elif interval == NONZERO and not store.assume(
                ir.Assume(key, True)
            ):  # so the state after the call says of an argument
                return False
        return True

    def touching(self, function: str, followed: Set[ir.Expr]) -> Touched:
        """The edges of a function that can change, or can test or mention, one of the expressions."""
        edges = self._touched_edges(function)
        if not followed:
            return Touched(frozenset(), frozenset())
        self._asked_at(function, EVERYWHERE).update(followed)
        each = [edges.of(expr, self._cells_of(function, expr)) for expr in followed]
        told = (id_ for id_, parts in self.calls.told_parts(function) if not parts.isdisjoint(followed))
        changing = frozenset[int]().union(*(one.changing for one in each))
        return Touched(changing, edges.returning.union(told, *(one.mentioning for one in each)))

    def mentions(self, function: str, exprs: Set[ir.Expr]) -> bool:
        """Whether a function mentions one of the expressions, or tells something of one by a branch."""
        edges = self._touched_edges(function)
        if any(edges.of(expr, self._cells_of(function, expr)).mentioning for expr in exprs):
            return True
        return bool(exprs) and any(not parts.isdisjoint(exprs) for _, parts in self.calls.told_parts(function))

    def _touched_edges(self, function: str) -> TouchedEdges:
        found = self._touched.get(function)
        if found is None:
            found = self._touched[function] = TouchedEdges(self._delta.model(function))
        return found

    def _kill(self, function: str, edge: Edge) -> Kill:
        asked, changed = self._asked_at(function, edge.id), self._cells_read(function).changed

        def kill(exprs: Set[ir.Expr]) -> Set[ir.Expr]:
            asked.update(exprs)
            return changed(edge, exprs)

        return kill

    def can_follow(self, function: str, expr: ir.Expr) -> bool:
        """Whether an expression of the function reads only what has a name."""
        known = self._can_follow.get(function)
        if known is None:
            known = self._can_follow[function] = {}
        found = known.get(expr)
        if found is None:
            found = known[expr] = self.cells(function, expr) is not None
        return found

    def cells(self, function: str, expr: ir.Expr) -> frozenset[str] | None:
        """The cells that an expression of the function reads, None if it reads what has no name."""
        cells = self._cells_of(function, expr)
        return None if "?" in cells else cells

    def ask_everywhere(self, functions: Iterable[str], expr: ir.Expr) -> None:
        """A search goes by which edges of these functions write what an expression reads."""
        for function in functions:
            self._asked_at(function, EVERYWHERE).add(expr)

    def _cells_of(self, function: str, expr: ir.Expr) -> frozenset[str]:
        return self._cells_read(function).of(expr)

    def _asked_at(self, function: str, edge: int) -> set[ir.Expr]:
        in_function = self._asked.get(function)
        if in_function is None:
            in_function = self._asked[function] = {}
        found = in_function.get(edge)
        if found is None:
            found = in_function[edge] = set()
        return found

    def _cells_read(self, function: str) -> CellsRead:
        found = self._cells.get(function)
        if found is None:
            found = self._cells[function] = CellsRead(self._delta.model(function))
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

    @property
    def delta(self) -> ProgramDelta:
        """The transition relation."""
        return self._delta

    def open(self, vias: Iterable[Via]) -> None:
        """A search looks into these callees."""
        self.visited.update(callee for callee, _, _ in vias)
        self.opened.update(dict.fromkeys(vias))

    def see(self, function: str, configuration: int) -> None:
        """A search looks where paths lead from a configuration, or what may be read there."""
        known = self._seen.get(function)
        if known is None:
            known = self._seen[function] = set()
        known.add(configuration)

    def enter(self, function: str, configuration: int) -> None:
        """A search enters a function, at this configuration."""
        self._entered.add(function)
        self.see(function, configuration)

    def passed(self) -> dict[str, int]:
        """The edges that searches looked at since `begin`, beside those in callees that they have `opened`."""
        view = self.view
        found: dict[str, int] = dict.fromkeys(self._entered, ENTERED)
        for function, configurations in self._seen.items():
            edges = found.get(function, 0)
            for configuration in configurations:
                edges |= view.passed(function, configuration)
            found[function] = edges
        return found

    def number(self, expr: ir.Expr) -> int:
        """A number for an expression, the same each time."""
        return self._numbers.setdefault(expr, len(self._numbers))


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
