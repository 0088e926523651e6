"""Which answers about a program hold for a newer one."""

from __future__ import annotations

from analysis.c.control import STARTS
from analysis.cfa.graph import Program
from analysis.cfa.open_functions import entered_elsewhere
from analysis.cpa.obstacles.beside import beside
from analysis.cpa.obstacles.completeness import keeps_errno
from analysis.cpa.obstacles.exposed_variables import exposed
from analysis.cpa.obstacles.kept_buffers import keeping_buffers
from analysis.frontend.declarations.file_level import UNSEEN
from analysis.model import ir
from analysis.session.provers.asking.claim import Claim, KnownClaim


class ProgramDifference:
    """What differs between the program that was asked about and a newer one."""

    def __init__(self, before: Program | None, now: Program) -> None:
        self._now, self._all = now, before is None
        self._names: frozenset[str] = frozenset()
        self._called: frozenset[str] = frozenset()
        if before is None or before is now:
            return
        self._all = before.address_taken != now.address_taken or before.records != now.records
        if self._all:
            return
        names = {n for n in before.functions.keys() | now.functions.keys() if before.functions.get(n) is not now.functions.get(n)}
        called = {t for n in names & now.functions.keys() for edge in now.functions[n].calls for t in _targets(now, edge.effect)}
        self._all = not called.isdisjoint(STARTS)
        for old, new in ((before.globals, now.globals), (before.externals, now.externals)):
            names |= {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}
        names |= exposed(before) ^ exposed(now)
        names |= entered_elsewhere(before) ^ entered_elsewhere(now)
        self._all = self._all or UNSEEN in names or keeps_errno(before) != keeps_errno(now)
        self._all = self._all or bool(keeping_buffers(before)) != bool(keeping_buffers(now))
        self._names, self._called = frozenset(names), frozenset(called)

    @property
    def is_local(self) -> bool:
        """Whether what differs matters to nothing but what calls it, or mentions it."""
        return not self._all

    def keeps(self, claim: Claim, known: KnownClaim) -> bool:
        """Whether what is known of a claim still holds: none of the parts that it is about differs; nothing that differs calls
        any of them, if it is about the whole program, and else nothing runs beside now that matters."""
        if self._all or not self._names.isdisjoint(known.names):
            return False
        if known.whole:
            return self._called.isdisjoint(known.names)
        return beside(self._now).obstacle((claim.function,)) is None


def _targets(program: Program, effect: ir.Effect) -> tuple[str, ...]:
    return program.targets(effect) if isinstance(effect, ir.Call) else ()
