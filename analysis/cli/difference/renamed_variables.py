"""Variables of functions that have another name in the new version, as far as texts of findings tell.

Two texts say the same if they differ only in names of local variables, and each of these is the name of a variable that the old
function has and the new one lacks, against one of the same type that is new. A name stands for one other name throughout.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from analysis.cfa.graph import Cfa, Edge, Program
from analysis.cfa.unnamed_values import without_temporaries
from analysis.model import ir
from analysis.model.spelling import display_name, spell_effect

_WORD = re.compile(r"[A-Za-z_]\w*|\S")
_SELF, _OTHER = "?", "*"  # in place of names in statements


class Local(NamedTuple):
    """A local variable, or several of one name: the types, spelled; and the statements that name it, without any names of local
    variables."""

    types: frozenset[str]
    statements: Counter[str]


Locals = Mapping[str, Local]
"""Variables by name."""


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
        self._gone = {name: one for name, one in old.items() if name not in new}
        self._come = {name: one for name, one in new.items() if name not in old}
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
        old, new = self._gone.get(was), self._come.get(now)
        if old is None or new is None or old.types != new.types:
            return False
        alike = max(_alike(old, one) for one in self._come.values() if one.types == old.types)
        return _alike(old, new) == alike and self._now.get(was, now) == now and self._was.get(now, was) == was


def _alike(one: Local, other: Local) -> int:
    """How many statements two variables have in common."""
    return (one.statements & other.statements).total()


def local_variables(program: Program) -> dict[str, Locals]:
    """The local variables of each function of a program; of functions of one name, those of all."""
    found: dict[str, dict[str, Local]] = {}
    for name, cfa in program.functions.items():
        mine = found.setdefault(display_name(name), {})
        statements = _statements(cfa)
        for var in _variables(cfa):
            own = display_name(var.name)
            known = mine.get(own, Local(frozenset(), statements.get(own, Counter())))
            mine[own] = known._replace(types=known.types | {str(var.type)})
    return {name: dict(variables) for name, variables in found.items()}


def _variables(cfa: Cfa) -> Iterator[ir.Var]:
    yield from cfa.parameters
    yield from (var for edge in cfa.edges for var in _locals_of(edge))


def _locals_of(edge: Edge) -> Iterator[ir.Var]:
    return (var for expr in ir.expressions(edge.effect) for var in ir.variables(expr) if var.scope == "local")


def _statements(cfa: Cfa) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    parameters = {display_name(one.name) for one in cfa.parameters}
    for edge in cfa.edges:
        words = _WORD.findall(without_temporaries(spell_effect(edge.effect)))
        names = parameters.union(display_name(var.name) for var in _locals_of(edge))
        for own in names.intersection(words):
            text = " ".join(_SELF if word == own else _OTHER if word in names else word for word in words)
            found.setdefault(own, Counter())[text] += 1
    return found
