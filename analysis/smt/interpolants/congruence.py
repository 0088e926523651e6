"""Congruence closure that explains itself: which terms equations make equal, and along which path.

Every operator is a function of its arguments, of which nothing else is known; so a `select` of a symbol of an array sort is an
uninterpreted function. Values of one sort are different from each other.

The explanation of an equality is a path of edges. An edge is an equation, or two applications of one operator, whose
arguments have paths in turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from analysis.smt.logic.terms import Term, subterms


class Equation(msgspec.Struct, frozen=True):
    """Two terms that are equal, and the literal that says so."""

    one: Term
    other: Term
    literal: int


class Edge(msgspec.Struct, frozen=True):
    """A step of a path. `literal` is None where both terms are applications of one operator to equal arguments."""

    start: Term
    end: Term
    literal: int | None


class Closure:
    """What follows from equations about the terms in them, and about other terms that are given."""

    def __init__(self, equations: Sequence[Equation], others: Iterable[Term]) -> None:
        terms = list(subterms([*(term for one in equations for term in (one.one, one.other)), *others]))
        self._root = {term: term for term in terms}
        self._members = {term: [term] for term in terms}
        self._users: dict[Term, list[Term]] = {term: [] for term in terms}
        self._edge: dict[Term, Edge] = {}  # towards the root of a tree of explanations, one tree for each class
        self._signatures: dict[tuple[object, ...], Term] = {}
        self._pending: list[Edge] = []
        self.values: list[tuple[Term, Term]] = []
        for term in terms:
            for argument in dict.fromkeys(term.args):
                self._users[argument].append(term)
            self._sign(term)
        for one in equations:
            self._pending.append(Edge(one.one, one.other, one.literal))
            self._merge_all()

    def are_equal(self, one: Term, other: Term) -> bool:
        """Whether two of the terms are equal. `values` has pairs of different values that are."""
        return self._root[one] is self._root[other]

    def _sign(self, term: Term) -> None:
        """Finds an application of the same operator to the same classes."""
        if term.args:
            key = (term.op, term.data, term.sort, *(self._root[argument] for argument in term.args))
            known = self._signatures.setdefault(key, term)
            if self._root[known] is not self._root[term]:
                self._pending.append(Edge(known, term, None))

    def _merge_all(self) -> None:
        while self._pending:
            edge = self._pending.pop(0)
            large, small = self._root[edge.start], self._root[edge.end]
            if large is small:
                continue
            if len(self._members[large]) < len(self._members[small]):
                large, small, edge = small, large, Edge(edge.end, edge.start, edge.literal)
            self._link(edge)
            self._note_values(large, small)
            users = dict.fromkeys(user for member in self._members[small] for user in self._users[member])
            for member in self._members[small]:
                self._root[member] = large
            self._members[large].extend(self._members.pop(small))
            for user in users:
                self._sign(user)

    def _note_values(self, large: Term, small: Term) -> None:
        one = next((member for member in self._members[large] if member.op == "value"), None)
        other = next((member for member in self._members[small] if member.op == "value"), None)
        if one is not None and other is not None:
            self.values.append((one, other))

    def _link(self, edge: Edge) -> None:
        """Hangs the tree of the edge's end under its start."""
        chain, at = [edge], edge.end
        while at in self._edge:
            chain.append(self._edge[at])
            at = chain[-1].end
        for one in chain:
            self._edge[one.end] = Edge(one.end, one.start, one.literal)

    def path(self, one: Term, other: Term) -> list[Edge]:
        """The edges from a term to one that is equal."""
        above: dict[Term, int] = {one: 0}
        there: list[Edge] = []
        at = one
        while at in self._edge:
            there.append(self._edge[at])
            at = there[-1].end
            above[at] = len(there)
        back: list[Edge] = []
        at = other
        while at not in above:
            edge = self._edge[at]
            back.append(Edge(edge.end, edge.start, edge.literal))
            at = edge.end
        return [*there[: above[at]], *reversed(back)]

    def literals(self, one: Term, other: Term) -> list[int]:
        """The literals that make two terms equal, each once."""
        found: dict[int, None] = {}
        waiting, seen = [(one, other)], set[tuple[Term, Term]]()
        while waiting:
            pair = waiting.pop()
            if pair in seen:
                continue
            seen.add(pair)
            for edge in self.path(*pair):
                if edge.literal is None:
                    waiting.extend(zip(edge.start.args, edge.end.args, strict=True))
                else:
                    found[edge.literal] = None
        return list(found)
