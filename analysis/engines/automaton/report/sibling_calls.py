"""How the calls of a function treat its result, in the whole program: whether they test it [DEVIANT].

Where most calls of a function test its result, one that does not has probably forgotten it; a single other one says little. Where
most do not, they know something that the analysis does not. A result that is handed on to the caller says neither, and is not
counted. Nor is one that only ends a loop, in which something else is assigned to the variable: `for (p = first(t); p != NULL;
p = next(p))` says that there is an end, and not that there may be nothing. Each function is counted once; an edit counts those
anew that are other functions than before.

A constant argument often says what is wanted: `find(table, key, CREATE)` always finds something, `find(table, key, 0)` need not.
So calls with the same constants are compared, where there are enough of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import NamedTuple

from analysis.cfa.components import strongly_connected
from analysis.cfa.graph import Cfa, Edge, Program
from analysis.engines.automaton.facts.product import ProgramDelta
from analysis.engines.automaton.functions.function_model import FunctionModel
from analysis.model import ir
from analysis.model.kept_with import kept_with

Constants = tuple[int | None, ...]
"""The arguments of a call that are constant numbers, None for the others."""
Asked = tuple[str, Constants]
"""A function, and the constants that a call passes to it."""
_ENOUGH = 3


class Calls(NamedTuple):
    """So many calls use a function's result for themselves, and so many of these test it."""

    used: int = 0
    tested: int = 0


class SiblingCalls:
    """The calls of one program, revision by revision."""

    def __init__(self) -> None:
        self._program: Program | None = None
        self._by_function: dict[str, tuple[Cfa, Counted]] = {}
        self._by_callee: dict[str, dict[str, dict[Constants, Calls]]] = {}  # what each function does with the results of one
        self._known: dict[str, dict[Constants, Calls]] = {}

    def of(self, delta: ProgramDelta, callee: str, constants: Constants) -> Calls:
        """All calls that name a function; only those with these constants, if there are enough of them."""
        if self._program is not delta.program:
            self._revise(delta)
        known = self._known.get(callee)
        if known is None:
            known = self._known[callee] = {}
            for counted in self._by_callee.get(callee, {}).values():
                for given, calls in counted.items():
                    known[given] = _sum((known.get(given, Calls()), calls))
        alike = known.get(constants, Calls())
        return alike if alike.used >= _ENOUGH else _sum(known.values())

    def _revise(self, delta: ProgramDelta) -> None:
        self._program = delta.program
        for name in self._by_function.keys() - delta.program.functions.keys():
            self._leave_out(name)
        for name, cfa in delta.program.functions.items():
            known = self._by_function.get(name)
            if known is None or known[0] is not cfa:
                self._leave_out(name)
                counted = _counted(delta.lookup(name))
                self._by_function[name] = cfa, counted
                for callee, calls in counted.items():
                    self._by_callee.setdefault(callee, {})[name] = calls
                    self._known.pop(callee, None)

    def _leave_out(self, name: str) -> None:
        """Forgets a function."""
        for callee in self._by_function.pop(name, (None, {}))[1]:
            del self._by_callee[callee][name]
            self._known.pop(callee, None)


Counted = dict[str, dict[Constants, Calls]]


def _sum(counted: Iterable[Calls]) -> Calls:
    used, tested = 0, 0
    for one in counted:
        used, tested = used + one.used, tested + one.tested
    return Calls(used, tested)


def constants_of(call: ir.Call) -> Constants:
    """The constant numbers that a call is passed."""
    bare = map(ir.strip_casts, call.arguments)
    return tuple(argument.value if isinstance(argument, ir.IntConst) else None for argument in bare)


def _counted(model: FunctionModel) -> Counted:
    found: Counted = {}
    for edge in model.cfa.calls:
        call = edge.effect
        callee = ir.direct_callee(call) if isinstance(call, ir.Call) else None
        is_tested = None if callee is None else tests(model, edge)
        if isinstance(call, ir.Call) and callee is not None and is_tested is not None:
            known = found.setdefault(callee, {})
            constants = constants_of(call)
            known[constants] = _sum((known.get(constants, Calls()), Calls(1, int(is_tested))))
    return found


def tests(model: FunctionModel, edge: Edge) -> bool | None:
    """Whether the function tests the result of a call somewhere; None if it does not use it for itself, hands it to its caller,
    or only ends a loop by it."""
    result = edge.effect.result if isinstance(edge.effect, ir.Call) else None
    if result is None:
        return None
    held = {result, *model.assignments.copied.get(result, ())}
    if not held.isdisjoint(model.conditions.tested):
        return None if _ends_loops(model, edge, held) else True
    return None if not held.isdisjoint(model.assignments.returned) else False


def _ends_loops(model: FunctionModel, edge: Edge, held: Set[ir.Expr]) -> bool:
    """Whether each test of a result is one at which a turn of a loop begins that assigns something else to the variable."""
    cfa = model.cfa
    stores = [one for one in cfa.edges if one.id != edge.id and ir.target_of(one.effect) in held]
    others = [one for one in stores if ir.strip_casts(_value(one)) not in held]
    numbers = {model.conditions.numbers[key] for key in held & model.conditions.tested}
    places = {cfa.by_id[id_].source for id_, (number, _) in model.conditions.of_edge.items() if number in numbers}
    if not others:
        return False
    loops = _loops(cfa)
    turns = {loops[one.source] for one in others if loops[one.source] == loops[one.target]}
    return all(loops[at] in turns for at in places)


def _value(edge: Edge) -> ir.Expr:
    """What an edge assigns; of a call, the function."""
    effect = edge.effect
    assert isinstance(effect, ir.Assign | ir.Call), "nothing else assigns"
    return effect.value if isinstance(effect, ir.Assign) else effect.callee


@kept_with
def _loops(cfa: Cfa) -> Mapping[int, int]:
    """The strongly connected component of each location, by a number."""
    graph = {location: [edge.target for edge in edges] for location, edges in cfa.outgoing.items()}
    graph.setdefault(cfa.exit, [])
    for edge in cfa.edges:
        graph.setdefault(edge.target, [])
    return {location: number for number, found in enumerate(strongly_connected(graph)) for location in found}
