"""Variables of functions that have another name in the new version, as far as texts of findings tell.

Two texts say the same if they differ only in names of local variables, and each of these is the name of a variable that the old
function has and the new one lacks, against one of the same type that is new. A name stands for one other name throughout.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from analysis.cfa.graph import Cfa, Program
from analysis.model import ir
from analysis.model.spelling import display_name

_WORD = re.compile(r"[A-Za-z_]\w*|\S")
Locals = Mapping[str, frozenset[str]]
"""The types of variables by name, spelled."""


class RenamedVariables:
    """Tells which texts about a function say the same in both versions."""

    def __init__(self, old: Mapping[str, Locals], new: Mapping[str, Locals]) -> None:
        """The local variables of the functions of both versions, by the names that people know them by."""
        self._old, self._new = old, new

    def function(self, was: str, now: str) -> Renaming:
        """For a function that had a name and has one now."""
        return Renaming(self._old.get(was, {}), self._new.get(now, {}))


class Renaming:
    """The names of the variables of one function. What was found once holds for the next text."""

    def __init__(self, old: Locals, new: Locals) -> None:
        self._gone = {name: types for name, types in old.items() if name not in new}
        self._come = {name: types for name, types in new.items() if name not in old}
        self._now: dict[str, str] = {}
        self._was: dict[str, str] = {}

    @property
    def is_possible(self) -> bool:
        """Whether any variable can have another name."""
        return bool(self._gone) and bool(self._come)

    def takes(self, was: str, now: str) -> bool:
        """Whether two texts say the same; if so, the names that they need are taken for those of one variable from here on."""
        mine, theirs = _WORD.findall(was), _WORD.findall(now)
        if len(mine) != len(theirs):
            return False
        needed = dict(pair for pair in zip(mine, theirs, strict=True) if pair[0] != pair[1])
        if any(needed.get(one, one) != other for one, other in zip(mine, theirs, strict=True)):
            return False
        if not all(self._may_be(one, other) for one, other in needed.items()) or len(set(needed.values())) < len(needed):
            return False
        self._now |= needed
        self._was |= {other: one for one, other in needed.items()}
        return True

    def _may_be(self, was: str, now: str) -> bool:
        types = self._gone.get(was)
        if types is None or types != self._come.get(now):
            return False
        return self._now.get(was, now) == now and self._was.get(now, was) == was


def local_variables(program: Program) -> dict[str, Locals]:
    """The local variables of each function of a program; of functions of one name, those of all."""
    found: dict[str, dict[str, frozenset[str]]] = {}
    for name, cfa in program.functions.items():
        mine = found.setdefault(display_name(name), {})
        for var in _variables(cfa):
            own = display_name(var.name)
            mine[own] = mine.get(own, frozenset()) | {str(var.type)}
    return {name: dict(types) for name, types in found.items()}


def _variables(cfa: Cfa) -> Iterator[ir.Var]:
    exprs: Iterable[ir.Expr] = (expr for edge in cfa.edges for expr in ir.expressions(edge.effect))
    yield from cfa.parameters
    yield from (var for expr in exprs for var in ir.variables(expr) if var.scope == "local")
