"""The functions of two versions of a program, in pairs, with edges that can be compared.

Functions correspond by name, static ones as `cfa.revisions.counterparts` says. The new function keeps its own locations and ids
of edges; its effects get the names that the old function has for static functions and variables, and, where edges correspond by
`cfa.revisions.match` (invariant I4), for its temporaries and for locals that share a name. Equal names then stand for the same
variable. Effects that differ only in the file or line of an assertion are equal (`cfa.revisions.edge_delta`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from analysis.c.control import ERRORS, FAILED_ASSERTIONS, UNMODELLED
from analysis.cfa.addresses_taken import taken_by
from analysis.cfa.graph import Cfa, Edge, Program
from analysis.cfa.linking.obstructed import MAIN
from analysis.cfa.revisions.counterparts import counterparts
from analysis.cfa.revisions.delta import ProgramChange, Revision
from analysis.cfa.revisions.edge_delta import Linkage, aligned
from analysis.cfa.revisions.used import used_by
from analysis.cpa.obstacles.beside import beside
from analysis.cpa.obstacles.completeness import called_outside
from analysis.engines.difference.dependencies import Dependencies
from analysis.engines.difference.hidden_text import hides_sizes, text_of
from analysis.engines.difference.unset_reads import unset_reads
from analysis.model import ir
from analysis.model.spelling import display_name


class Side:
    """One version of a function. The effects of `cfa` are comparable with those of the other version."""

    def __init__(self, program: Program, cfa: Cfa, shared: frozenset[str]) -> None:
        self.program = program
        self.cfa = cfa
        self.dependencies = Dependencies(program, cfa, shared)
        self.errors = frozenset(edge.source for edge in cfa.calls if is_error(edge.effect))

    @cached_property
    def unset_reads(self) -> frozenset[int]:
        """The ids of the edges that may read a variable which has no value."""
        return unset_reads(self.cfa)

    def outgoing(self, location: int) -> tuple[Edge, ...]:
        """The edges that leave a location; none leave an error location, where the run ends."""
        return () if location in self.errors else self.cfa.outgoing.get(location, ())


class FunctionPair(NamedTuple):
    """A function in both versions. `twins` has the id of the old edge for the ids of new edges that correspond to one; `taken`
    are these old edges. `has_same_blocks`: variables whose address is used end at the same edges, as far as that is known."""

    old: Side
    new: Side
    twins: Mapping[int, int]
    taken: frozenset[int]
    has_same_blocks: bool
    uses_changed: bool


def is_error(effect: ir.Effect) -> bool:
    """Whether an effect is a violation wherever it is reached: the call of a failed assertion, or of `reach_error`."""
    name = ir.direct_callee(effect) if isinstance(effect, ir.Call) else None
    return name in ERRORS or name in FAILED_ASSERTIONS


def _has_same_blocks(old: Cfa, new: Cfa) -> bool:
    return dict(old.blocks) == dict(new.blocks) and all(old.inside.get(at) == new.inside.get(at) for at in old.by_id)


def _with_own_ids(new: Cfa, renamed: Cfa) -> Cfa:
    """A new function with the effects that can be compared."""
    pairs = zip(new.edges, renamed.edges, strict=True)
    return new.with_edges(tuple(Edge(edge.id, edge.source, edge.target, at.effect) for edge, at in pairs))


def _is_followed(program: Program, entry: str) -> bool:
    entries = (entry, *program.address_taken) if entry == MAIN else tuple(program.functions)
    return UNMODELLED.isdisjoint((*program.address_taken, *called_outside(program, entries)))


class ProgramPair:
    """Two versions of a program; `change` is what differs. Functions are named as in the new version."""

    def __init__(self, old: Revision, new: Revision, change: ProgramChange) -> None:
        self.old, self.new = old, new
        self.change = change
        self.names = counterparts(new.program, old.program)
        self._linkage = Linkage(self.names)
        self._modified = {one.old.name: one.compared for one in change.modified}
        self._pairs: dict[str, FunctionPair | None] = {}

    def is_followed(self, entry: str) -> bool:
        """Whether control is only where CFAs have it, in both versions: no jumps, threads and handlers of signals. What `main`
        does not reach never runs."""
        return _is_followed(self.new.program, entry) and _is_followed(self.old.program, self.old_name(entry))

    def follows(self, name: str) -> bool:
        """Whether that holds for a function of the new version and all that it calls, and nothing that runs beside changes what
        they read."""
        for program, own in ((self.new.program, name), (self.old.program, self.old_name(name))):
            if UNMODELLED.intersection(called_outside(program, (own,))) or beside(program).obstacle([own]) is not None:
                return False
        return True

    @cached_property
    def changed_variables(self) -> frozenset[str]:
        """The variables with static storage, by old linkage name, that may start with another value, or with one that is not
        known."""
        known = (*self.old.program.globals.values(), *self.new.program.globals.values())
        unknown = (self.old_name(one.var.name) for one in known if one.open)
        return frozenset(change.name for change in self.change.globals).union(unknown)

    def old_name(self, name: str) -> str:
        """The name in the old version of what has this name in the new one."""
        return self.names.get(name, name)

    def pair(self, name: str) -> FunctionPair | None:
        """Both versions of a function; None if they cannot be compared: one is missing or does not parse, its type is another, or
        it uses what is declared otherwise."""
        if name not in self._pairs:
            self._pairs[name] = self._made(name)
        return self._pairs[name]

    def _made(self, name: str) -> FunctionPair | None:
        old, new = self.old.program.functions.get(self.old_name(name)), self.new.program.functions.get(name)
        if old is None or new is None or not self._is_comparable(name, old, new):
            return None
        known = self._modified.get(old.name)
        plain, renamed = known or aligned(old, new, self.old.places, self.new.places, self._linkage)
        twins = {edge.id: at.id for edge, at in zip(new.edges, renamed.edges, strict=True) if at.id in old.by_id}
        own = new if renamed is new else _with_own_ids(new, renamed)
        shared = taken_by(plain).own | taken_by(own).own
        sides = Side(self.old.program, plain, shared), Side(self.new.program, own, shared)
        used = {v.name for edge in own.edges for expr in ir.expressions(edge.effect) for v in ir.variables(expr)}
        changed = not used.isdisjoint(self.changed_variables)
        return FunctionPair(*sides, twins, frozenset(twins.values()), _has_same_blocks(plain, renamed), changed)

    def _is_comparable(self, name: str, old: Cfa, new: Cfa) -> bool:
        if old.type != new.type or old.parameters != new.parameters or old.unsupported or new.unsupported:
            return False
        if display_name(self.old_name(name)) in self.old.unparsed or display_name(name) in self.new.unparsed:
            return False
        if hides_sizes(old) or hides_sizes(new):
            texts = text_of(self.old.places, self.old_name(name)), text_of(self.new.places, name)
            if texts[0] != texts[1]:
                return False
        return self._uses_the_same(self.old, self.old_name(name), {}) and self._uses_the_same(self.new, name, self.names)

    def _uses_the_same(self, revision: Revision, name: str, names: Mapping[str, str]) -> bool:
        """Whether nothing that the function uses is declared otherwise in the other version."""
        change = self.change
        declared = {one.name for one in change.externals}
        declared.update(one.name for one in change.globals if one.old is None or one.new is None or one.old.var != one.new.var)
        records = {one.name for one in change.records}
        if not declared and not records:
            return True
        used = used_by(revision.program, revision.system, name)
        return records.isdisjoint(used.records) and not any(names.get(one, one) in declared for one in used.names)
