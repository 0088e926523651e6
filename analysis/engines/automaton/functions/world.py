"""What a program has as a whole, and where it matters when that differs: names, declarations, records, targets of pointers.

A CFA says what its function does, in terms of names. An edit elsewhere can make a name mean something else while the CFA stays
what it is: a function that is called gets a body, loses it, or takes other parameters; a declaration says `noreturn` now; the
address of a function goes where it did not, so that calls through pointers can reach it; the members of a record, which an
external function can write, are others. All of this shows at calls. `compare` finds them.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

import msgspec

from analysis.cfa.graph import Cfa, Edge, Program
from analysis.engines.automaton.functions.footprint import external_writes
from analysis.model import ir


class WorldChange(msgspec.Struct, frozen=True):
    """What differs beside bodies. `appeared` and `gone` are functions with a body, `reshaped` those with other parameters or
    another type; `calls` are the edges in unchanged CFAs of other functions that now call another function,
    or one that differs. `globals` says that variables with static storage differ."""

    appeared: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()
    reshaped: frozenset[str] = frozenset()
    calls: Mapping[str, frozenset[int]] = {}
    globals: bool = False

    def __bool__(self) -> bool:
        return bool(self.appeared or self.gone or self.reshaped or self.calls or self.globals)


SAME = WorldChange()


def compare(old: Program, new: Program) -> WorldChange:
    """What differs between two revisions of a program, beside the bodies of functions."""
    shared = old.functions.keys() & new.functions.keys()
    reshaped = frozenset(n for n in shared if (a := old.functions[n]) is not (b := new.functions[n]) and not _same_shape(a, b))
    appeared = frozenset(new.functions.keys() - old.functions.keys())
    gone = frozenset(old.functions.keys() - new.functions.keys())
    declared = frozenset(_differing(old.externals, new.externals))
    records = frozenset(_differing(old.records, new.records))
    others = reshaped | appeared | gone | declared
    calls: dict[str, frozenset[int]] = {}
    if others or records or old.address_taken != new.address_taken or old.called != new.called:
        look = _Look(old, new, others, records)
        for name in shared:
            found = frozenset(edge.id for edge in new.functions[name].calls if look.differs(edge))
            if found:
                calls[name] = found
    return WorldChange(appeared, gone, reshaped, calls, old.globals != new.globals)


class _Look:
    """Compares calls in the old program and in the new one."""

    def __init__(self, old: Program, new: Program, others: Set[str], records: Set[str]) -> None:
        self._old = old
        self._new = new
        self._others = others
        self._records = records

    def differs(self, edge: Edge) -> bool:
        """Whether the call reaches others than before, or some that are otherwise, or can write other members."""
        call = edge.effect
        assert isinstance(call, ir.Call)
        targets = self._new.targets(call)
        if not self._others.isdisjoint(targets) or targets != self._old.targets(call):
            return True
        if self._new.assigned(call) != self._old.assigned(call):
            return True
        return bool(self._records) and external_writes(call, self._new) != external_writes(call, self._old)


def _same_shape(one: Cfa, other: Cfa) -> bool:
    return one.type == other.type and one.parameters == other.parameters


def _differing(one: Mapping[str, object], other: Mapping[str, object]) -> set[str]:
    """The keys that only one of the two has, or with different values."""
    if one == other:
        return set()
    return {key for key in one.keys() | other.keys() if key not in one or key not in other or one[key] != other[key]}
