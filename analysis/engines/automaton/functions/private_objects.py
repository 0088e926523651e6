"""Blocks that only one variable of a function leads to, from where it has got them on: no call that is not passed them can change
them.

`entry = malloc(sizeof *entry)` makes a block that nothing else knows. As long as the function does not copy the pointer, or pass
it to code that may keep it (`lending`), a call changes no member of it, though it may change the same member of other objects.
This is a forward must-analysis.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from analysis.cfa.graph import Cfa, Edge, Program
from analysis.engines.automaton.functions.access_paths import Path
from analysis.engines.automaton.functions.lending import is_kept, sources
from analysis.model import ir

_NONE: frozenset[str] = frozenset()


class PrivateObjects:
    """The variables that lead to such blocks at each location of a function. `kept` are the positions of the parameters that
    functions may keep; `known_elsewhere` the variables that others can set."""

    def __init__(self, cfa: Cfa, program: Program, kept: Mapping[str, Set[int]], known_elsewhere: Set[str]) -> None:
        self._program = program
        self._kept = kept
        self._known_elsewhere = known_elsewhere
        self._at: dict[int, frozenset[str]] = {cfa.entry: _NONE}
        work = [] if cfa.unsupported or not any(map(self._made_by, cfa.calls)) else [cfa.entry]
        while work:
            location = work.pop()
            for edge in cfa.outgoing.get(location, ()):
                now, before = self._after(edge, self._at[location]), self._at.get(edge.target)
                merged = now if before is None else before & now
                if merged != before:
                    self._at[edge.target] = merged
                    work.append(edge.target)

    def before(self, edge: Edge) -> frozenset[str]:
        """Those that are not passed to the call at the edge either."""
        found = self._at.get(edge.source, _NONE)
        return found.difference(*map(sources, edge.effect.arguments)) if found and isinstance(edge.effect, ir.Call) else found

    def _after(self, edge: Edge, before: frozenset[str]) -> frozenset[str]:
        effect, target = edge.effect, ir.target_of(edge.effect)
        left = set(before)
        if isinstance(effect, ir.Assign):
            left.difference_update(sources(effect.value))
        elif isinstance(effect, ir.Call):
            for number, argument in enumerate(effect.arguments):
                if is_kept(self._program, effect, number, self._kept):
                    left.difference_update(sources(argument))
        if isinstance(target, ir.Var):
            left.discard(target.name)
            made = self._made_by(edge)
            is_moved = isinstance(effect, ir.Assign) and _temporary(effect.value) in before
            if target.scope in ("local", "parameter", "temporary") and (made or is_moved):
                left.add(target.name)
        return frozenset(left - self._known_elsewhere)

    def _made_by(self, edge: Edge) -> bool:
        """Whether the result of a call is a new block."""
        if not isinstance(edge.effect, ir.Call) or edge.effect.result is None:
            return False
        known = [self._program.known(target) for target in self._program.targets(edge.effect)]
        return bool(known) and all(one is not None and one.result == "block" for one in known)


def is_member_of(path: Path, variables: Set[str]) -> bool:
    """Whether the path is a member of the block to which one of the variables leads, not of what that leads to."""
    return path[0] in variables and path[1:2] == ("*",) and not any(operation[0] == "*" for operation in path[2:])


def _temporary(value: ir.Expr) -> str | None:
    bare = ir.strip_casts(value)
    return bare.name if isinstance(bare, ir.Var) and bare.scope == "temporary" else None
