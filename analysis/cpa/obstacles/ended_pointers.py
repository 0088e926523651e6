"""Comparisons of pointers of which one may lead to what is gone: the value of such a pointer is indeterminate (C11 6.2.4p2), and
another object may be at the address by then. Models give each object an address of its own for ever, so that nothing is proved
where such a comparison may follow.

Pointers are followed through variables, members and types, whatever the order of the edges and in both directions: two are of
one kind if either could have been made of the other. A comparison counts if it is of a kind with what was freed, or with
what an external function may free (what it is passed; and what it can name or get at, if it is not known), or with the
address of a variable that is kept beyond its block, and can come after that. A side that is a variable does not count where
something was accessed through it since (`accessed_pointers`): what it leads to is there. It must have been accessed: a pointer
may lead to what is gone, and then its value is indeterminate, though nothing was allocated since. Comparisons with null do not
count: that a pointer that was freed is still not null is taken for granted.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Mapping

from analysis.cfa.graph import Cfa, Edge, Program
from analysis.cpa import library
from analysis.cpa.accessed_pointers import NO_FACTS, Facts, accessed, held
from analysis.cpa.obstacles.lifetimes import outlived
from analysis.cpa.obstacles.violable import EVERYTHING, deeds
from analysis.model import ir
from analysis.model.c_types import Array, Integer, Pointer, Record, Void
from analysis.model.spelling import display_name, spell_expr

_COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">="))
_ENDS = frozenset(("free", "close"))  # what a function does after which something may be gone
_SMALLEST = 32  # bits of a pointer, at least
Kind = tuple[str, str]
_KNOWN: weakref.WeakKeyDictionary[Program, dict[tuple[str, int], str]] = weakref.WeakKeyDictionary()


def compared_ended(program: Program) -> dict[tuple[str, int], str]:
    """Such comparisons, as text, by function and edge."""
    known = _KNOWN.get(program)
    if known is None:
        known = _KNOWN[program] = _Search(program).found() if any(map(_compares, program.functions.values())) else {}
    return known


def _compares(cfa: Cfa) -> bool:
    return any(True for edge in cfa.edges for _ in _comparisons(edge.effect))


def _comparisons(effect: ir.Effect) -> Iterator[ir.Binary]:
    for expr in ir.expressions(effect):
        for part in ir.walk(expr):
            if isinstance(part, ir.Binary) and part.operator in _COMPARISONS and isinstance(part.left.type, Pointer):
                sides = ir.strip_casts(part.left), ir.strip_casts(part.right)
                if not any(isinstance(side, ir.IntConst) for side in sides):
                    yield part


class _Search:
    """One search through a program. Kinds are joined by union-find."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._parents: dict[Kind, Kind] = {}
        self._ended: list[Kind] = []
        self._ends: list[tuple[str, int]] = []  # where something ends: function and location
        self._ends_all = False  # a function that is not known may free whatever it can name or get at
        self._callers: dict[str, list[tuple[str, Edge]]] = {}
        self._accessed: dict[str, Mapping[int, Facts]] = {}

    def found(self) -> dict[tuple[str, int], str]:
        """See `compared_ended`."""
        for name, cfa in self._program.functions.items():
            for edge in cfa.edges:
                self._join(name, edge)
        for name, cfa in self._program.functions.items():
            parts = {part for edge in cfa.edges for part in cfa.parts[edge.id] if isinstance(part, ir.Var)}
            kept = {part.name for part in parts if self._is_kept(name, part)}
            if kept:
                self._ended += [self._root((name, "&" + variable)) for variable in kept]
                self._ends += [(caller, edge.target) for caller, edge in self._callers.get(name, ())]
                if not kept.isdisjoint(cfa.blocks):
                    self._ends += [(name, edge.target) for edge in cfa.edges]
                    self._accessed[name] = {}
        if not self._ends:
            return {}
        if self._ends_all:
            own = {name for name in self._program.globals if "::" in name}  # static variables, by their linkage names
            self._ended += [kind for kind in (*self._parents, *self._compared()) if kind[0] == "" and kind[1] not in own]
        ended = {self._root(kind) for kind in self._ended}
        after = self._after()
        return {
            (name, edge.id): spell_expr(part)
            for name, cfa in self._program.functions.items()
            for edge in cfa.edges
            if (name, edge.source) in after
            for part in _comparisons(edge.effect)
            if any(self._is_doubtful(ended, name, edge, side) for side in (part.left, part.right))
        }

    def _is_doubtful(self, ended: set[Kind], name: str, edge: Edge, side: ir.Expr) -> bool:
        """Whether a side of a comparison behind this location may lead to what is gone."""
        if ended.isdisjoint(self._root(kind) for kind in self._sources(name, side)):
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

    def _compared(self) -> list[Kind]:
        """The kinds of all that is compared."""
        effects = ((name, edge.effect) for name, cfa in self._program.functions.items() for edge in cfa.edges)
        pairs = ((name, part) for name, effect in effects for part in _comparisons(effect))
        return [kind for name, part in pairs for side in (part.left, part.right) for kind in self._sources(name, side)]

    def _is_kept(self, name: str, part: ir.Var) -> bool:
        """Whether the address of a variable may be where it is still known after the variable's block."""
        if part.scope not in ("local", "parameter", "temporary"):
            return False
        own = (name, "&" + part.name)
        if own not in self._parents:
            return False
        if self._program.functions[name].blocks.get(part.name):
            return part.name in outlived(self._program).get(name, ())
        return any(self._root(kind) == self._root(own) for kind in self._parents if kind[0] == "" or kind[1] == "return")

    def _root(self, kind: Kind) -> Kind:
        self._parents.setdefault(kind, kind)
        while self._parents[kind] != kind:
            self._parents[kind] = self._parents[self._parents[kind]]
            kind = self._parents[kind]
        return kind

    def _unite(self, kinds: Iterable[Kind]) -> None:
        first, *others = [self._root(kind) for kind in kinds] or [("", "")]
        for other in others:
            self._parents[self._root(other)] = self._root(first)

    def _join(self, name: str, edge: Edge) -> None:
        effect = edge.effect
        match effect:
            case ir.Assign(target, value):
                if _may_hold(target):
                    self._unite((self._kind(name, target), *self._sources(name, value)))
            case ir.Return(value):
                if value is not None and _may_hold(value):
                    self._unite(((name, "return"), *self._sources(name, value)))
            case ir.Call():
                self._join_call(name, edge, effect)

    def _join_call(self, name: str, edge: Edge, call: ir.Call) -> None:
        result = [] if call.result is None or not _may_hold(call.result) else [self._kind(name, call.result)]
        for callee in self._program.targets(call) or ("",):
            cfa = self._program.functions.get(callee)
            if cfa is None:
                given = [kind for argument in call.arguments for kind in self._sources(name, argument)]
                done = deeds(callee)  # everything, if it is not on a list
                if not _ENDS.isdisjoint(done):
                    self._ended += given
                    self._ends.append((name, edge.target))
                    self._ends_all = self._ends_all or (done == EVERYTHING and callee not in library.HEAP)
                if callee not in library.CALL_NOTHING:  # it may keep what it is given
                    self._unite((*result, *given, ("", "memory")))
                elif result and call.result is not None:
                    alike = (a for a in call.arguments if _may_be_one(a, call.result))
                    self._unite((*result, *(kind for argument in alike for kind in self._sources(name, argument))))
                continue
            self._callers.setdefault(callee, []).append((name, edge))
            for parameter, argument in zip(cfa.parameters, call.arguments, strict=False):
                self._unite(((callee, parameter.name), *self._sources(name, argument)))
            if result:
                self._unite(((callee, "return"), *result))

    def _kind(self, name: str, lvalue: ir.Expr) -> Kind:
        while isinstance(lvalue, ir.Index):
            lvalue = lvalue.array
        match lvalue:
            case ir.Var(variable, "global"):
                return "", variable
            case ir.Var(variable):
                return name, variable
            case ir.Field(record, member) if isinstance(record.type, Record) and record.type.kind == "struct":
                return "", f"{record.type.key}.{member}"
            case _:
                return "", "memory"

    def _sources(self, name: str, value: ir.Expr) -> list[Kind]:
        """The kinds that a value may be made of."""
        match value:
            case ir.Cast(operand) | ir.Unary(_, operand):
                return self._sources(name, operand)
            case ir.Binary(operator, left, right) if operator not in _COMPARISONS:
                return [*self._sources(name, left), *self._sources(name, right)]
            case ir.AddressOf(lvalue):
                root = ir.root(lvalue)
                if isinstance(root, ir.Deref):
                    return self._sources(name, root.pointer)
                if not isinstance(root, ir.Var) or root.scope not in ("local", "parameter", "temporary"):
                    return []
                if _may_hold(root):  # what it holds may be read as memory
                    self._unite(((name, root.name), ("", "memory")))
                return [(name, "&" + root.name)]
            case ir.Var() | ir.Field() | ir.Index() | ir.Deref():
                return [self._kind(name, value)] if _may_hold(value) else []
            case _:
                return []

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
                reached += [(caller, edge.target) for caller, edge in self._callers.get(name, ())]
            waiting += (one for one in reached if one not in seen)
            seen.update(reached)
        return seen


def _may_be_one(argument: ir.Expr, result: ir.Expr) -> bool:
    """Whether a library function can return what it was passed, by the types before any conversion."""
    one, other = ir.strip_casts(argument).type, result.type
    if not isinstance(one, Pointer) or not isinstance(other, Pointer):
        return not isinstance(one, Integer)
    return one.target == other.target or isinstance(one.target, Void) or isinstance(other.target, Void)


def _may_hold(expr: ir.Expr) -> bool:
    """Whether a value can hold a pointer: it is one, a large integer, a record or an array."""
    type_ = expr.type
    while isinstance(type_, Array):
        type_ = type_.element
    return isinstance(type_, Pointer | Record) or (isinstance(type_, Integer) and type_.bits >= _SMALLEST)


def ended_reasons(program: Program, functions: Iterable[str]) -> Iterator[str]:
    """Why nothing is proved of runs through these functions."""
    wanted = set(functions)
    for (name, _), text in compared_ended(program).items():
        if name in wanted:
            yield f"{display_name(name)}: {text} may compare a pointer to something that is gone, which may have any value"
