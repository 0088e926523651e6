"""Locals whose address is only lent to calls: no call that is not passed the address can change them.

`status(&n);` gives `status` the address of `n` until it returns, if it stores the address nowhere. Afterwards nothing but `n`
itself leads there, and a write through some other pointer to `int` changes another object.

A function may *keep* a pointer that it is passed if it stores it in memory, returns it, or passes it on to a function that may
keep it, or of which nothing is known. What is not listed here as harmless counts as keeping. This is a flow-insensitive escape
analysis by summaries, one set of parameters for each function.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Set
from typing import NamedTuple

from analysis.c.functions import known
from analysis.cfa.addresses_taken import taken_among
from analysis.cfa.graph import Cfa, Program
from analysis.cfa.linking.obstacle_words import is_open_order
from analysis.model import ir
from analysis.model.c_types import Floating, Integer, Pointer

_OTHER_RESULTS = frozenset(("", "number", "descriptor", "block", "static", "stream", "directory", "outside"))
"""What a library function can give that is no pointer into what it is passed."""
_COMPARING = frozenset(("==", "!=", "<", "<=", ">", ">="))


class Keeping(NamedTuple):
    """What one function does with its parameters, by position: those that it may keep itself; and those that it passes on, as
    (position, function, position there)."""

    kept: frozenset[int]
    passed_on: frozenset[tuple[int, str, int]]


class Flow(NamedTuple):
    """Values of variables that go somewhere: into the variable `into`; as an argument to a `call`; or, with neither, where they
    are kept: in memory, or, if they are `returned`, by the caller."""

    sources: frozenset[str]
    into: str | None = None
    call: ir.Call | None = None
    position: int = 0
    returned: bool = False


def keeping(cfa: Cfa, program: Program) -> Keeping:
    """What a function does with the pointers that it is passed."""
    pointers = {number: one.name for number, one in enumerate(cfa.parameters) if isinstance(one.type, Pointer | Integer)}
    if hides(cfa):
        return Keeping(frozenset(range(len(cfa.parameters))), frozenset())
    flows, taken = list(flows_of(cfa)), _taken(cfa)
    kept: set[int] = {number for number in range(len(cfa.parameters)) if number not in pointers}
    passed_on: set[tuple[int, str, int]] = set()
    for number, name in pointers.items():
        held = held_by(name, flows)
        if not held.isdisjoint(taken):
            kept.add(number)
            continue
        for flow in flows:
            if not held.isdisjoint(flow.sources) and flow.into is None:
                found = None if flow.call is None else takers(program, flow.call, flow.position)
                if found is None:
                    kept.add(number)
                else:
                    passed_on.update((number, taker, flow.position) for taker in found)
    return Keeping(frozenset(kept), frozenset(passed_on))


def hides(cfa: Cfa) -> bool:
    """Whether a function may do something that its edges do not show. What C may evaluate in another order is done all the
    same."""
    reasons = (edge.effect.reason for edge in cfa.unsupported if isinstance(edge.effect, ir.Unsupported))
    return not all(map(is_open_order, reasons))


def lent(cfa: Cfa, program: Program, kept: Mapping[str, Set[int]]) -> frozenset[str]:
    """The locals and parameters of scalar types whose address goes nowhere but to calls that do not keep it. `kept` are the
    positions of the parameters that functions may keep."""
    if hides(cfa):
        return frozenset()
    lent_: Counter[str] = Counter()
    taken: Counter[str] = Counter()
    for edge in cfa.edges:
        if not any(True for _ in taken_among(cfa.parts[edge.id])):
            continue
        taken.update(var.name for expr in ir.expressions(edge.effect) for var in taken_among(ir.walk(expr)))
        if isinstance(edge.effect, ir.Call):
            lent_.update(_lent_to(edge.effect, program, kept))
    return frozenset(name for name, times in lent_.items() if times == taken[name])


def _lent_to(call: ir.Call, program: Program, kept: Mapping[str, Set[int]]) -> Iterator[str]:
    """The variables whose address is an argument that is not kept, once for each."""
    for number, argument in enumerate(call.arguments):
        bare = ir.strip_casts(argument)
        var = bare.lvalue if isinstance(bare, ir.AddressOf) else None
        if not isinstance(var, ir.Var) or not isinstance(var.type, Integer | Floating | Pointer) or var.scope == "global":
            continue
        if not is_kept(program, call, number, kept):
            yield var.name


def is_kept(program: Program, call: ir.Call, position: int, kept: Mapping[str, Set[int]]) -> bool:
    """Whether a call may keep what it is passed at a position. `kept` are the positions of the parameters that functions may
    keep."""
    found = takers(program, call, position)
    return found is None or any(position in kept.get(taker, (position,)) for taker in found)


def takers(program: Program, call: ir.Call, position: int) -> tuple[str, ...] | None:
    """The function with a body that an argument is passed to, if there is one; None if it may be kept by one without. Which
    functions a pointer can reach that comes from outside is not known."""
    target = ir.direct_callee(call)
    cfa = None if target is None else program.functions.get(target)
    if target is not None and cfa is not None:
        return (target,) if position < len(cfa.parameters) else None
    return () if keeps_nothing(call) else None


def keeps_nothing(call: ir.Call) -> bool:
    """Whether a call is of a library function that keeps no pointer that it is passed, nor gives one of them back. Contracts of
    the project are not looked at: what they say can change while the callers stay, and a function that is not known keeps all."""
    function = known(ir.direct_callee(call) or "")
    if function is None or not function.is_complete or function.keeps or function.positions("link", "code"):
        return False
    return call.result is None or function.result in _OTHER_RESULTS


def _taken(cfa: Cfa) -> frozenset[str]:
    return frozenset(var.name for edge in cfa.edges for var in taken_among(cfa.parts[edge.id]))


def held_by(name: str, flows: list[Flow]) -> set[str]:
    """The variables that may hold what a parameter is passed, or an address in the same object."""
    found = {name}
    while more := {flow.into for flow in flows if flow.into is not None and not found.isdisjoint(flow.sources)} - found:
        found |= more
    return found


def flows_of(cfa: Cfa) -> Iterator[Flow]:
    """Where the values of a function's variables go, edge by edge."""
    for edge in cfa.edges:
        effect = edge.effect
        match effect:
            case ir.Assign(target, value):
                is_local = isinstance(target, ir.Var) and target.scope != "global"
                yield Flow(frozenset(sources(value)), target.name if is_local and isinstance(target, ir.Var) else None)
            case ir.Return(value) if value is not None:
                yield Flow(frozenset(sources(value)), returned=True)
            case ir.Call():
                for number, argument in enumerate(effect.arguments):
                    yield Flow(frozenset(sources(argument)), call=effect, position=number)


def sources(expr: ir.Expr) -> Iterator[str]:
    """The variables whose value may be in the value of an expression. What is read from memory is in none of them: no address
    gets there without being kept."""
    match expr:
        case ir.Var():
            yield expr.name
        case ir.AddressOf(lvalue):
            for value in ir.place_values(lvalue):
                yield from sources(value)
        case ir.Deref() | ir.Field() | ir.Index():
            return
        case ir.Unary("!", _):
            return
        case ir.Binary(operator, _, _) if operator in _COMPARING:
            return
        case _:
            for operand in ir.operands(expr):
                yield from sources(operand)
