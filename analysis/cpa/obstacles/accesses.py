"""What the edges of one function read and write by themselves, calls left out, as far as others can see it or change it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from analysis.c.control import STARTS
from analysis.cfa.addresses_taken import taken_by
from analysis.cfa.graph import Cfa
from analysis.cfa.linking.obstacle_words import is_open_order
from analysis.model import ir
from analysis.model.kept_with import kept_with


class Own(msgspec.Struct, frozen=True):
    """What the edges of one function do, calls left out: variables with static storage that they read and write by name, whether
    they read and write memory behind pointers or variables of the function that are pointed to, and whether all is understood.
    `pointed` are the variables with static storage whose address it takes; `starting` says that a call may start something."""

    reads: frozenset[str]
    writes: frozenset[str]
    reads_memory: bool
    writes_memory: bool
    understood: bool
    calls: tuple[ir.Call, ...]
    pointed: frozenset[str]
    starting: bool


@kept_with
def own(cfa: Cfa) -> Own:
    """What the edges of a function do; kept with the function."""
    reads, writes, calls = set[str](), set[str](), list[ir.Call]()
    reads_memory = writes_memory = False
    understood, pointed, starting = True, taken_by(cfa).own, False
    for edge in cfa.edges:
        effect = edge.effect
        if isinstance(effect, ir.Unsupported) and not is_open_order(effect.reason):  # in each order the same is read and written
            understood = False
        if isinstance(effect, ir.Call):
            calls.append(effect)
            starting = starting or ir.direct_callee(effect) in (None, *STARTS)
        target = ir.target_of(effect)
        if target is not None:
            root = ir.root(target)
            if isinstance(root, ir.Var) and root.scope == "global":
                writes.add(root.name)
            elif not isinstance(root, ir.Var) or root.name in pointed:
                writes_memory = True
        if _is_dropped(cfa, edge.target, effect):
            continue
        for part in _read(effect):
            if isinstance(part, ir.Deref):
                reads_memory = True
            elif isinstance(part, ir.Var) and part.scope == "global":
                reads.add(part.name)
            elif isinstance(part, ir.Var) and part.name in pointed:
                reads_memory = True
    return Own(
        reads=frozenset(reads),
        writes=frozenset(writes),
        reads_memory=reads_memory,
        writes_memory=writes_memory,
        understood=understood,
        calls=tuple(calls),
        pointed=taken_by(cfa).static,
        starting=starting,
    )


def _read(effect: ir.Effect) -> Iterator[ir.Expr]:
    """The parts of an effect but for the variable that it assigns to as a whole or in part. An address that is taken counts."""
    for value in ir.values_of(effect):
        yield from ir.walk(value)
    target = ir.target_of(effect)
    while isinstance(target, ir.Field | ir.Index):
        if isinstance(target, ir.Index):
            yield from ir.walk(target.index)
        target = target.record if isinstance(target, ir.Field) else target.array
    if target is not None and not isinstance(target, ir.Var):
        yield from ir.walk(target)


def _is_dropped(cfa: Cfa, location: int, effect: ir.Effect) -> bool:
    """Whether an edge reads a variable into a temporary that is any value after the next edge, as what is volatile is read."""
    if not isinstance(effect, ir.Assign) or not isinstance(effect.value, ir.Var) or not isinstance(effect.target, ir.Var):
        return False
    following = cfa.outgoing.get(location, ())
    if effect.target.scope != "temporary" or len(following) != 1 or not isinstance(following[0].effect, ir.Assign):
        return False
    return following[0].effect.target == effect.target and isinstance(following[0].effect.value, ir.Unknown)
