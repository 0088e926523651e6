"""Where static variables got their values: at their last write, in code that is known.

The value of such a variable does not change between its last write and the violation. So a condition on such
variables alone need not be followed through all callers: the search continues at their writes, and at the
start of the program. It forgets all other conditions there. This shows for example that one static variable
is set whenever another one is.
"""

from __future__ import annotations

from analysis.c.control import JUMPS
from analysis.cfa.graph import Cfa, Edge
from analysis.cpa.effects.state_places import base_of
from analysis.cpa.effects.writes import WholeProgram
from analysis.model import ir
from analysis.model.c_types import Integer, Pointer
from analysis.model.kept_with import kept_with


class Statics:
    """The static variables of one program whose addresses nobody has."""

    def __init__(self, whole: WholeProgram) -> None:
        self._whole = whole
        self._program = whole.program
        self._leading: dict[str, frozenset[str]] = {}

    def names(self, conditions: frozenset[ir.Expr]) -> frozenset[str]:
        """The variables in the conditions that only assignments by name can change, as long as all code is known."""
        found = {part.name for c in conditions for part in ir.walk(c) if isinstance(part, ir.Var) and self._is_private(part)}
        return frozenset(found) if found and self._is_usable() else frozenset()

    def _is_usable(self) -> bool:
        return self._whole.knows_all_code and not any(map(self._whole.is_used, JUMPS))

    def _is_private(self, var: ir.Var) -> bool:
        is_static = var.scope == "global" and "::" in var.name and isinstance(var.type, Integer | Pointer)
        return is_static and var.name in self._program.globals and not self._whole.is_taken(var, "")

    def writes(self, names: frozenset[str], function: str) -> list[tuple[str, Edge]]:
        """The edges that write one of the variables, and can be the last that does before the function is entered."""
        return [
            (name, edge)
            for name, cfa in self._program.functions.items()
            if not names.isdisjoint(_written_by(cfa))
            for edge in cfa.edges
            if _written(edge.effect) in names and self._can_be_last(cfa, edge, names, function)
        ]

    def _can_be_last(self, cfa: Cfa, edge: Edge, names: frozenset[str], function: str) -> bool:
        """Whether something leads from the edge out of its function, or into a call that can lead to the other one."""
        leading = self._leads_to(function)
        seen, waiting = {edge.target}, [edge.target]
        while waiting:
            location = waiting.pop()
            if location == cfa.exit:
                return True
            for following in cfa.outgoing.get(location, ()):
                effect = following.effect
                if isinstance(effect, ir.Unsupported):
                    return True
                if isinstance(effect, ir.Call) and any(
                    target in leading or (target not in self._program.functions and "" in leading)
                    for target in self._program.targets(effect) or ("",)
                ):
                    return True
                if _written(effect) not in names and self._whole.can_pass(effect) and following.target not in seen:
                    seen.add(following.target)
                    waiting.append(following.target)
        return False

    def _leads_to(self, function: str) -> frozenset[str]:
        """The functions that can call the function, directly or not, and itself; "" if external functions may."""
        found = self._leading.get(function)
        if found is None:
            reached, waiting = {function}, [function]
            while waiting:
                name = waiting.pop()
                if self._whole.is_exposed(name):
                    reached.add("")
                for caller, _ in self._whole.callers(name):
                    if caller not in reached:
                        reached.add(caller)
                        waiting.append(caller)
            found = self._leading[function] = frozenset(reached)
        return found


@kept_with
def _written_by(cfa: Cfa) -> frozenset[str]:
    """The variables with static storage that a function writes by name."""
    names = (_written(edge.effect) for edge in cfa.edges)
    return frozenset(name for name in names if name is not None)


def _written(effect: ir.Effect) -> str | None:
    """The variable with static storage that the effect writes, or a part of which it writes."""
    target = ir.target_of(effect)
    base = None if target is None else base_of(target)
    return base.name if isinstance(base, ir.Var) and base.scope == "global" else None
