"""Comparisons of pointers of which one may lead to what is gone: the value of such a pointer is indeterminate (C11 6.2.4p2), and
another object may be at the address by then. Models give each object an address of its own for ever, so that nothing is proved
where such a comparison may follow.

A comparison counts if it is of a kind (`pointer_kinds`) with what was freed, or with what an external function may free (what it
is passed; and what it can name or get at, if it is not known), or with the address of a variable that is kept beyond its block,
and can come after that. A side that is a variable does not count where something was accessed through it since
(`accessed_pointers`): what it leads to is there. It must have been accessed: a pointer may lead to what is gone, and then its
value is indeterminate, though nothing was allocated since. Comparisons with null do not count: a freed pointer is assumed to be
still other than null.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from analysis.cfa.graph import Cfa, Edge, Program
from analysis.cpa.obstacles.accessed_pointers import NO_FACTS, Facts, accessed, held
from analysis.cpa.obstacles.lifetimes import outlived
from analysis.cpa.obstacles.pointer_kinds import VARIABLE, Kind, is_object, pointer_kinds
from analysis.cpa.obstacles.violable import EVERYTHING, deeds
from analysis.model import ir
from analysis.model.c_types import Pointer
from analysis.model.comparisons import COMPARISONS
from analysis.model.kept_with import kept_with
from analysis.model.spelling import display_name, spell_expr

_ENDS = frozenset(("free", "close"))  # what a function does after which something may be gone


@kept_with
def compared_ended(program: Program) -> dict[tuple[str, int], str]:
    """Such comparisons, as text, by function and edge."""
    return _Search(program).found() if any(map(_compares, program.functions.values())) else {}


def _compares(cfa: Cfa) -> bool:
    return any(True for edge in cfa.edges for _ in pointer_comparisons(edge.effect))


def pointer_comparisons(effect: ir.Effect) -> Iterator[ir.Binary]:
    """The comparisons of two pointers in an effect, but for those with constants such as null."""
    for expr in ir.expressions(effect):
        for part in ir.walk(expr):
            if isinstance(part, ir.Binary) and part.operator in COMPARISONS and isinstance(part.left.type, Pointer):
                sides = ir.strip_casts(part.left), ir.strip_casts(part.right)
                if not any(isinstance(side, ir.IntConst) for side in sides):
                    yield part


class _Search:
    """One search through a program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._kinds = pointer_kinds(program)
        self._ended: list[Kind] = []
        self._ends: list[tuple[str, int]] = []  # where something ends: function and location
        self._accessed: dict[str, Mapping[int, Facts]] = {}

    def found(self) -> dict[tuple[str, int], str]:
        """See `compared_ended`."""
        self._end_outside()
        for name in self._program.functions:
            self._end_variables(name)
        if not self._ends:
            return {}
        ended = {self._kinds.root(kind) for kind in self._ended}
        after = self._after()
        return {
            (name, edge.id): spell_expr(part)
            for name, cfa in self._program.functions.items()
            for edge in cfa.edges
            if (name, edge.source) in after
            for part in pointer_comparisons(edge.effect)
            if any(self._is_doubtful(ended, name, edge, side) for side in (part.left, part.right))
        }

    def _end_outside(self) -> None:
        """Takes in what external functions may end; those that are not known, whatever they can name or get at."""
        ends_all = False
        for name, edge, callee, given in self._kinds.outside:
            done = deeds(callee)  # everything, if it is not on a list
            if not _ENDS.isdisjoint(done):
                self._ended += (kind for kind in given if not is_object(kind))
                self._ends.append((name, edge.target))
                ends_all = ends_all or done == EVERYTHING
        if ends_all:
            own = {name for name in self._program.globals if "::" in name}  # static variables, by their linkage names
            known = (*self._kinds.kinds, *self._compared())
            self._ended += [kind for kind in known if kind[0] == "" and kind[1] not in own and not is_object(kind)]

    def _end_variables(self, name: str) -> None:
        """Takes in the variables of a function whose addresses are kept."""
        cfa = self._program.functions[name]
        parts = {part for edge in cfa.edges for part in cfa.parts[edge.id] if isinstance(part, ir.Var)}
        kept = {part.name for part in parts if self._is_kept(name, part)}
        if not kept:
            return
        self._ended += [self._kinds.root((name, VARIABLE + variable)) for variable in kept]
        self._ends += [(caller, edge.target) for caller, edge in self._kinds.callers.get(name, ())]
        if not kept.isdisjoint(cfa.blocks):
            self._ends += [(name, edge.target) for edge in cfa.edges]
            self._accessed[name] = {}

    def _compared(self) -> list[Kind]:
        """The kinds of all that is compared."""
        effects = ((name, edge.effect) for name, cfa in self._program.functions.items() for edge in cfa.edges)
        pairs = ((name, part) for name, effect in effects for part in pointer_comparisons(effect))
        return [kind for name, part in pairs for side in (part.left, part.right) for kind in self._kinds.sources(name, side)]

    def _is_kept(self, name: str, part: ir.Var) -> bool:
        """Whether the address of a variable may be where it is still known after the variable's block."""
        if part.scope not in ("local", "parameter", "temporary"):
            return False
        own = (name, VARIABLE + part.name)
        if own not in self._kinds.kinds:
            return False
        if self._program.functions[name].blocks.get(part.name):
            return part.name in outlived(self._program).get(name, ())
        root = self._kinds.root(own)
        holders = (kind for kind in self._kinds.kinds if kind[1] == "return" or (kind[0] == "" and not is_object(kind)))
        return any(self._kinds.root(kind) == root for kind in holders)

    def _is_doubtful(self, ended: set[Kind], name: str, edge: Edge, side: ir.Expr) -> bool:
        """Whether a side of a comparison behind this location may lead to what is gone."""
        if ended.isdisjoint(self._kinds.root(kind) for kind in self._kinds.sources(name, side)):
            return False
        if name not in self._accessed:
            self._accessed[name] = accessed(self._program.functions[name], self._may_end)
        return held(side) not in self._accessed[name].get(edge.source, NO_FACTS)

    def _may_end(self, edge: Edge) -> bool:
        """Whether anything may end with an edge, that of a call or of what is not understood. What variables end with their
        blocks is not asked here."""
        if not isinstance(edge.effect, ir.Call):
            return isinstance(edge.effect, ir.Unsupported)
        callees = self._program.targets(edge.effect) or ("",)
        return any(callee in self._program.functions or not _ENDS.isdisjoint(deeds(callee)) for callee in callees)

    def _after(self) -> set[tuple[str, int]]:
        """The locations that control may come to after something ended, whatever the calls around."""
        seen, waiting = set(self._ends), list(self._ends)
        while waiting:
            name, location = waiting.pop()
            cfa = self._program.functions[name]
            reached = [(name, edge.target) for edge in cfa.outgoing.get(location, ())]
            for edge in cfa.outgoing.get(location, ()):
                if isinstance(edge.effect, ir.Call):
                    called = (self._program.functions.get(callee) for callee in self._program.targets(edge.effect))
                    reached += [(callee.name, callee.entry) for callee in called if callee is not None]
            if location == cfa.exit:
                reached += [(caller, edge.target) for caller, edge in self._kinds.callers.get(name, ())]
            waiting += (one for one in reached if one not in seen)
            seen.update(reached)
        return seen


def ended_reasons(program: Program, functions: Iterable[str]) -> Iterator[str]:
    """Why nothing is proved of runs through these functions."""
    wanted = set(functions)
    for (name, _), text in compared_ended(program).items():
        if name in wanted:
            yield f"{display_name(name)}: {text} may compare a dangling pointer, whose value is indeterminate"
