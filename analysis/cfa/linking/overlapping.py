"""Whether two lvalues that one expression accesses itself, without a call, may have a byte in common.

They are told apart by their roots, by members and elements on the way from one root, and by types (C11 6.5p7): a member lies in
an object of another structure only if that holds, or has inside, the structure of the member.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from analysis.cfa.linking.call_effects import cell, may_share
from analysis.model import ir
from analysis.model.c_types import Array, Record, RecordDefinition, Type


def overlap(one: ir.Expr, other: ir.Expr, exposed: Set[str], records: Mapping[str, RecordDefinition]) -> bool:
    """Whether they may. `exposed` are the variables to which pointers may lead."""
    mine, others = ir.root(one), ir.root(other)
    if mine == others:
        return not _apart(ir.steps(one), ir.steps(other))
    if isinstance(mine, ir.Var) and isinstance(others, ir.Var):
        return False
    if any(isinstance(root, ir.Var) and root.name not in exposed for root in (mine, others)):
        return False
    a, b = cell(one), cell(other)
    if a is None or b is None:
        return False
    for whole, part in ((one, other), (other, one)):
        inner = _record_of(part)
        if isinstance(whole.type, Record) and inner is not None:
            is_inside = isinstance(part.type, Record) and holds(records, inner, whole.type.key)
            return is_inside or holds(records, whole.type.key, inner)
    if "memory" in (a.kind, b.kind):
        return True
    if a.kind == b.kind == "member":
        return a.name == b.name
    return "member" not in (a.kind, b.kind) and one.type == other.type and may_share(one.type, other.type)


def holds(records: Mapping[str, RecordDefinition], outer: str, inner: str) -> bool:
    """Whether objects of one record may have one of the other inside, or are of it; also where not all members are known."""
    seen, waiting = {outer}, [outer]
    while waiting:
        key = waiting.pop()
        definition = records.get(key)
        if key == inner or definition is None:
            return True
        found = {type_.key for member in definition.members if isinstance(type_ := _element(member.type), Record)}
        waiting.extend(sorted(found - seen))
        seen |= found
    return False


def _element(type_: Type) -> Type:
    while isinstance(type_, Array):
        type_ = type_.element
    return type_


def _record_of(lvalue: ir.Expr) -> str | None:
    """The record that an lvalue is, or is a member of, perhaps as an element of an array; None if it is neither, or if it is
    reached through a union, whose members share their bytes."""
    wholes = [step.record if isinstance(step, ir.Field) else step.array for step in ir.steps(lvalue)]
    if any(isinstance(whole.type, Record) and whole.type.kind == "union" for whole in wholes):
        return None
    if isinstance(lvalue.type, Record):
        return lvalue.type.key
    part = lvalue
    while isinstance(part, ir.Index):
        part = part.array
    return part.record.type.key if isinstance(part, ir.Field) and isinstance(part.record.type, Record) else None


def _apart(one: Sequence[ir.Field | ir.Index], other: Sequence[ir.Field | ir.Index]) -> bool:
    """Whether two access paths from one root part at members of a structure, or at elements whose numbers are known."""
    for a, b in zip(one, other, strict=False):
        if isinstance(a, ir.Field) and isinstance(b, ir.Field):
            if a.name != b.name:
                return isinstance(a.record.type, Record) and a.record.type.kind == "struct"
        elif isinstance(a, ir.Index) and isinstance(b, ir.Index):
            if isinstance(a.index, ir.IntConst) and isinstance(b.index, ir.IntConst) and a.index.value != b.index.value:
                return True
        else:
            return False
    return False
