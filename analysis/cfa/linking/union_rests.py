"""Programs that read a member of a union that is larger than another one that they store: the bytes behind the smaller one."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.c.layout import Layout
from analysis.cfa.graph import Cfa, Program
from analysis.model import ir
from analysis.model.assumptions import UNION_RESTS
from analysis.model.c_types import ILP32, LP64, Record, Type
from analysis.model.kept_with import kept_with

_Member = tuple[str, str, Type]
"""The key of a union, the name of a member, and its type."""


def kept_behind_members(program: Program) -> tuple[str, ...]:
    """The sentence, where such a member is read and another one stored; else nothing."""
    used = [_used(cfa) for cfa in program.functions.values()]
    stored = frozenset[_Member]().union(*(stores for _, stores in used))
    if not stored:
        return ()
    layouts = [Layout(model, program.records.get) for model in (LP64, ILP32)]
    read = frozenset[_Member]().union(*(reads for reads, _ in used))
    is_larger = any(
        one[0] == other[0] and (layout.size(one[2]) or 0) > (layout.size(other[2]) or 0)
        for one in read
        for other in stored
        for layout in layouts
    )
    return (UNION_RESTS.sentence,) if is_larger else ()


@kept_with
def _used(cfa: Cfa) -> tuple[frozenset[_Member], frozenset[_Member]]:
    """The members of unions that a function reads, and those that it stores. Of one whose address is taken, both is possible."""
    read, stored = set[_Member](), set[_Member]()
    for edge in cfa.edges:
        target = ir.target_of(edge.effect)
        stored.update(() if target is None else _members(target))
        for part in cfa.parts[edge.id]:
            if isinstance(part, ir.AddressOf):
                stored.update(_members(part.lvalue))
            if isinstance(part, ir.Field) and part is not target:
                read.update(_members(part))
    return frozenset(read), frozenset(stored)


def _members(lvalue: ir.Expr) -> Iterator[_Member]:
    for step in ir.steps(lvalue):
        if isinstance(step, ir.Field) and isinstance(step.record.type, Record) and step.record.type.kind == "union":
            yield step.record.type.key, step.name, step.type
