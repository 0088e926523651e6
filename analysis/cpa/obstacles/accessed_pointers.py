"""Where a variable holds a pointer to something that is there: every path to the location accessed an object through it after the
last edge with which something could end. It is assumed that what a run accesses is there, or else the run has ended
(`analysis.model.assumptions`), as C leaves the rest of such a run undefined (C11 6.2.4p2, 6.5.3.2p4).

A forward analysis of one function, whose facts are variables; where paths join, what holds on all of them is kept. Only
variables of the function whose address is never taken are followed: nothing but the function's own edges changes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from analysis.cfa.addresses_taken import taken_by
from analysis.cfa.graph import Cfa, Edge
from analysis.model import ir
from analysis.model.c_types import Floating, Integer, Pointer

Facts = frozenset[str]
NO_FACTS: Facts = frozenset()


def accessed(cfa: Cfa, may_end: Callable[[Edge], bool]) -> Mapping[int, Facts]:
    """The variables by location; locations that no path comes to are absent. `may_end`: whether anything that a pointer could
    lead to may end with an edge."""
    pointed = taken_by(cfa).own
    found: dict[int, Facts] = {cfa.entry: NO_FACTS}
    waiting = [cfa.entry]
    while waiting:
        location = waiting.pop()
        for edge in cfa.outgoing.get(location, ()):
            after = NO_FACTS if may_end(edge) else _after(edge.effect, found[location], pointed)
            known = found.get(edge.target)
            joined = after if known is None else known & after
            if joined != known:
                found[edge.target] = joined
                waiting.append(edge.target)
    return found


def _after(effect: ir.Effect, before: Facts, pointed: Facts) -> Facts:
    """What holds behind an edge with which nothing ends."""
    facts = set(before)
    facts.update(name for expr in ir.values_of(effect) for name in _through(expr))
    target = ir.target_of(effect)
    if target is not None:
        facts.update(_in_lvalue(target))
        root = ir.root(target)
        if isinstance(root, ir.Var):
            is_copy = isinstance(effect, ir.Assign) and target is root and held(effect.value) in facts
            facts.discard(root.name)
            facts.update((root.name,) if is_copy else ())
    return frozenset(facts - pointed)


def held(value: ir.Expr) -> str | None:
    """The variable of a function whose value this is, as a pointer; None if it is anything else."""
    while isinstance(value, ir.Cast) and isinstance(value.type, Pointer):
        value = value.operand
    own = isinstance(value, ir.Var) and value.scope in ("local", "parameter", "temporary") and isinstance(value.type, Pointer)
    return value.name if own and isinstance(value, ir.Var) else None


def _through(value: ir.Expr) -> Iterator[str]:
    """The variables through which something is accessed for a value."""
    waiting = [value]
    while waiting:
        expr = waiting.pop()
        match expr:
            case ir.AddressOf(lvalue):
                waiting += ir.place_values(lvalue)
            case ir.Deref() | ir.Field() | ir.Index():
                yield from _in_lvalue(expr)
            case _:
                waiting += ir.operands(expr)


def _in_lvalue(lvalue: ir.Expr) -> Iterator[str]:
    """The variables through which something is accessed when an lvalue is read or written. A record may be empty, so only
    scalars count."""
    for expr in ir.place_values(lvalue):
        yield from _through(expr)
    root = ir.root(lvalue)
    if isinstance(root, ir.Deref) and isinstance(lvalue.type, Integer | Floating | Pointer):
        name = _base(root.pointer)
        if name is not None:
            yield name


def _base(pointer: ir.Expr) -> str | None:
    """The variable that a pointer is made of by steps inside an object (C11 6.5.6p8)."""
    while True:
        match pointer:
            case ir.Binary("+" | "-", left, _) if isinstance(left.type, Pointer) and isinstance(pointer.type, Pointer):
                pointer = left
            case ir.Cast(operand, Pointer()) if isinstance(operand.type, Pointer):
                pointer = operand
            case ir.AddressOf(lvalue) if isinstance(root := ir.root(lvalue), ir.Deref):
                pointer = root.pointer
            case _:
                return held(pointer)
