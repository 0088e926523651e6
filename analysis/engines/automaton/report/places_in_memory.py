"""Whether what a finding is about lies in memory that others may know or change, for `path_evidence`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.cfa.graph import Edge
from analysis.engines.automaton.functions.access_paths import Path, behind_pointer, lvalue_cell, path_of
from analysis.engines.automaton.functions.function_model import FunctionModel
from analysis.model import ir
from analysis.model.c_types import RecordDefinition, spell


def is_in_memory(path: Path) -> bool:
    """Whether a path is read from something else than a local variable. An address is not read."""
    return path[-1] != "&" and (len(path) > 1 or path[0].startswith("@"))


def is_memory(expr: ir.Expr) -> bool:
    """Whether an expression reads something else than local variables."""
    parts = ir.walk(expr)
    return any(isinstance(part, ir.Deref) or (isinstance(part, ir.Var) and part.scope == "global") for part in parts)


def is_reachable(path: Path) -> bool:
    """Whether a name of a value is one that others can know: behind a pointer, or in a global variable."""
    return path[0].startswith("@") or (behind_pointer(path) and path[-1] != "&")


def ends_in(path: Path, holder: Path) -> bool:
    """Whether a path leads through the object that a pointer leads to."""
    return len(path) > len(holder) and path[: len(holder) + 1] == (*holder, "*")


def is_in_union(path: Path, records: Mapping[str, RecordDefinition]) -> bool:
    """Whether a path leads through what may be a member of a union, by the names of members."""
    names = {"." + one.name for record in records.values() if record.kind == "union" for one in record.members}
    return not names.isdisjoint(path)


def is_untouched(path: Path, effects: Sequence[ir.Effect]) -> bool:
    """Whether the last call among the effects was passed what is at the path, and no memory was written after it."""
    for effect in reversed(effects):
        if isinstance(effect, ir.Call):
            return any(path_of(argument) == path for argument in effect.arguments)
        target = effect.target if isinstance(effect, ir.Assign) else None
        if target is not None and not (isinstance(target, ir.Var) and target.scope != "global"):
            return False
    return False


def is_unwritten(effects: Sequence[ir.Effect]) -> bool:
    """Whether the effects only test, and set local variables: memory is as it was before."""
    return all(
        isinstance(effect, ir.Assume)
        or (isinstance(effect, ir.Assign) and isinstance(effect.target, ir.Var) and effect.target.scope != "global")
        for effect in effects
    )


def is_renewed(edge: Edge, model: FunctionModel) -> bool:
    """Whether a call may write the place in memory where an argument was read: `while (list->head) remove(list->head);` reads a
    new head each time. A member can also be written through a pointer to its type."""
    effect = edge.effect
    read = [ir.strip_casts(argument) for argument in effect.arguments] if isinstance(effect, ir.Call) else []
    places = [place for place in read if isinstance(place, ir.LVALUES) and is_memory(place)]
    if not places:
        return False
    written = model.written_by_callees(edge)
    return any(lvalue_cell(place) in written or "*" + spell(place.type) in written for place in places)
