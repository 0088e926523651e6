"""What a function's assignments and returns say of its variables, whoever calls it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from analysis.cfa.graph import Cfa, Edge
from analysis.engines.automaton.functions.access_paths import path_of, root_of
from analysis.model import ir
from analysis.model.c_types import Pointer


class Assignments:
    """Those of one CFA. Variables are meant by their roots."""

    def __init__(self, cfa: Cfa) -> None:
        self._cfa = cfa
        self.parameters = {root_of(var): index for index, var in enumerate(cfa.parameters)}

    @cached_property
    def reassigned(self) -> frozenset[str]:
        """The parameters that the function assigns to."""
        targets = (ir.target_of(edge.effect) for edge in self._cfa.edges)
        return frozenset(root_of(target) for target in targets if isinstance(target, ir.Var)) & frozenset(self.parameters)

    @cached_property
    def moving(self) -> frozenset[str]:
        """The variables that pointer arithmetic moves along an array: from where they are, or again and again in a loop. The
        element that `p = &table[n];` names once is one object as long as `p` names it."""
        found = set()
        for edge in self._cfa.edges:
            effect = edge.effect
            if not isinstance(effect, ir.Assign) or not isinstance(effect.target, ir.Var):
                continue
            is_moved = isinstance(effect.value, ir.Binary) and isinstance(effect.value.type, Pointer)
            if is_moved and (effect.target in ir.walk(effect.value) or self._repeats(edge)):
                found.add(root_of(effect.target))
        return frozenset(found)

    def _repeats(self, edge: Edge) -> bool:
        """Whether the edge can be taken again."""
        seen, work = {edge.target}, [edge.target]
        while work and edge.source not in seen:
            after = {following.target for following in self._cfa.outgoing.get(work.pop(), ())} - seen
            seen |= after
            work.extend(after)
        return edge.source in seen

    def stores(self, root: str) -> Iterator[Edge]:
        """The edges that assign to a variable."""
        return (edge for edge in self._cfa.edges if isinstance(var := ir.target_of(edge.effect), ir.Var) and root_of(var) == root)

    @cached_property
    def below(self) -> frozenset[tuple[str, str]]:
        """The pairs of a variable and a parameter, where all that the variable is set to is read from the object of the parameter
        or from another such object: `base = type->base;`. It is assumed that these are other objects than the parameter's. Few
        structures lead back to where they begin, and those that do have no null in them."""
        fixed = self.parameters.keys() - self.reassigned
        sources: dict[str, set[str]] = {}
        for edge in self._cfa.edges:
            target = ir.target_of(edge.effect)
            if isinstance(target, ir.Var) and isinstance(target.type, Pointer):
                sources.setdefault(root_of(target), set()).add(_read_from(edge.effect))
        others = {variable: roots - {variable} for variable, roots in sources.items() if variable not in self.parameters}
        return frozenset((variable, root) for variable, roots in others.items() if len(roots) == 1 for root in roots & fixed)

    @cached_property
    def copied(self) -> Mapping[ir.Expr | None, set[ir.Expr]]:
        """What is assigned to what: by the value, casts aside, the targets."""
        found: dict[ir.Expr | None, set[ir.Expr]] = {}
        for edge in self._cfa.edges:
            if isinstance(edge.effect, ir.Assign):
                found.setdefault(ir.strip_casts(edge.effect.value), set()).add(edge.effect.target)
        return found

    @cached_property
    def returned(self) -> frozenset[ir.Expr]:
        """What the function returns, casts aside."""
        effects = (edge.effect for edge in self._cfa.edges)
        return frozenset(ir.strip_casts(e.value) for e in effects if isinstance(e, ir.Return) and e.value is not None)


def _read_from(effect: ir.Effect) -> str:
    """The variable from whose object a pointer is read, as a member of it; nothing where it comes from elsewhere."""
    path = path_of(effect.value) if isinstance(effect, ir.Assign) else None
    return path[0] if path is not None and len(path) == 3 and path[1] == "*" and path[2][0] == "." else ""
