"""Equality and uninterpreted functions: which literals contradict each other, and interpolants of them by coloured paths.

The congruence closure explains a contradiction by a path between two terms that a literal calls different. For a
node, edges are coloured: an equation by the part that it counts to, a congruence by the part whose symbols both of its terms
have. A congruence between a term of the A part and one of the B part is split at an application to shared terms, which
exist on the paths of its arguments. Then a maximal part of a path of one colour has shared ends, and the interpolant says,
in equalities of shared terms, what the A part guarantees and what it takes for granted of the B part ([UPPROVER] section 5.2
and what it cites for EUF: congruence graphs).

All nodes use the same paths, and each its own colours: a congruence is split for every node whose border it crosses. A
congruence that could be of both parts counts to one node of the tree, as a literal does; without that the tree property fails
where two siblings each have it.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from analysis.smt.interpolants.clauses import ClauseSet
from analysis.smt.interpolants.congruence import Closure, Equation
from analysis.smt.interpolants.partitions import PartitionTree
from analysis.smt.interpolants.resolution import Limit
from analysis.smt.logic.term_building import FALSE, TRUE, and_, eq, implies, not_
from analysis.smt.logic.terms import Term, symbols

_MOST = 20_000  # coloured edges of one interpolant


class Coloured(msgspec.Struct, frozen=True, eq=False):
    """An edge of a coloured path. `premises` are the paths of the arguments, of a congruence."""

    start: Term
    end: Term
    is_inside: bool
    premises: tuple[tuple[Coloured, ...], ...] = ()


Path = tuple[Coloured, ...]


class EqualityLemmas:
    """The theory of one search. `tree` is that of the clauses."""

    def __init__(self, clauses: ClauseSet, tree: PartitionTree) -> None:
        self._atoms, self._tree = clauses.atoms, tree

    def conflict(self, literals: Sequence[int]) -> Sequence[int] | None:
        """See `resolution.Theory`."""
        closure, different = self._closed(literals)
        found = [closure.literals(*pair) for pair in closure.values[:1]]
        found += [[literal, *closure.literals(*pair)] for pair, literal in different if closure.are_equal(*pair)]
        return min(found, key=len, default=None)

    def _closed(self, literals: Sequence[int]) -> tuple[Closure, list[tuple[tuple[Term, Term], int]]]:
        """The closure of what is equal, and the pairs that are different with the literals that say so."""
        equations: list[Equation] = []
        different: list[tuple[tuple[Term, Term], int]] = []
        for literal in literals:
            atom = self._atoms[abs(literal)]
            if atom.op != "=":
                equations.append(Equation(atom, TRUE if literal > 0 else FALSE, literal))
                continue
            one, other = atom.args
            if literal > 0:
                equations.append(Equation(one, other, literal))
            else:
                different.append(((one, other), literal))
        return Closure(equations, [term for pair, _ in different for term in pair]), different

    def lemma_interpolants(self, conflict: Sequence[int], homes: Sequence[int]) -> tuple[Term, ...]:
        """See `proof_interpolants.LemmaInterpolation`."""
        closure, different = self._closed(conflict)
        home = dict(zip(conflict, homes, strict=True))
        broken = next(((pair, literal) for pair, literal in different if closure.are_equal(*pair)), None)
        pair, literal = broken or (closure.values[0], None)
        paths = _Paths(closure, self._tree)
        return tuple(self._interpolant(paths, home, pair, literal, node) for node in range(len(self._tree)))

    def _interpolant(self, paths: _Paths, home: dict[int, int], pair: tuple[Term, Term], literal: int | None, node: int) -> Term:
        inside = self._tree.subtree(node)
        path = _Colours(paths, home, inside, node).coloured(paths.path(*pair))
        if literal is not None and home[literal] in inside:
            taken = _taken(path)
            return and_(not_(and_(*(_equality(part) for part in taken))), *(_said_outside(part, {}) for part in taken))
        return _said(path, {})


class _Step(msgspec.Struct, frozen=True, eq=False):
    """An edge of a path, before it is coloured. For each node, one of the two parts has all symbols of both of its terms."""

    start: Term
    end: Term
    literal: int | None
    premises: tuple[tuple[_Step, ...], ...] = ()


class _Paths:
    """The paths of one closure, for all nodes. A congruence is split wherever it crosses the border of a subtree, so that all
    nodes colour the same edges: where each node splits for itself, one may rely on an equality that no other one says."""

    def __init__(self, closure: Closure, tree: PartitionTree) -> None:
        self._closure, self._tree = closure, tree
        self._known = {
            (node, is_inside): tree.symbols_inside(node) if is_inside else tree.symbols_outside(node)
            for node in range(len(tree))
            for is_inside in (True, False)
        }
        self._symbols: dict[Term, frozenset[Term]] = {}
        self._paths: dict[tuple[Term, Term], tuple[_Step, ...]] = {}
        self._count = 0

    def has(self, node: int, is_inside: bool, term: Term) -> bool:
        """Whether the subtree of a node, or all outside of it, has all symbols of a term."""
        found = self._symbols.get(term)
        if found is None:
            found = self._symbols[term] = frozenset(symbols((term,)))
        return found <= self._known[node, is_inside]

    def path(self, one: Term, other: Term) -> tuple[_Step, ...]:
        """The path between equal terms. Recursion over the nesting of terms. Raises Limit if it is too long."""
        found = self._paths.get((one, other))
        if found is None:
            edges: list[_Step] = []
            for edge in self._closure.path(one, other):
                if edge.literal is None:
                    edges += self._congruence(edge.start, edge.end)
                else:
                    edges.append(_Step(edge.start, edge.end, edge.literal))
            self._count += len(edges)
            if self._count > _MOST:
                raise Limit
            found = self._paths[one, other] = tuple(edges)
        return found

    def _congruence(self, start: Term, end: Term) -> list[_Step]:
        """The congruence in steps, each split at an application to terms that both parts of a node have. Later splits are
        further on: first the subtrees that the path leaves, from the innermost, then those that it enters, from the outermost."""
        premises = [self.path(*pair) for pair in zip(start.args, end.args, strict=True)]
        terms = [[first, *(step.end for step in premise)] for first, premise in zip(start.args, premises, strict=True)]
        found: list[_Step] = []
        at, places = start, [0] * len(premises)
        for node in self._crossed(start, end):
            to = [self._shared_place(node, along, place) for along, place in zip(terms, places, strict=True)]
            between = Term(start.op, tuple(along[place] for along, place in zip(terms, to, strict=True)), start.sort, start.data)
            if between is not at:
                found.append(_Step(at, between, None, _parts(premises, places, to)))
            at, places = between, to
        if at is not end:
            found.append(_Step(at, end, None, _parts(premises, places, [len(premise) for premise in premises])))
        return found

    def _crossed(self, start: Term, end: Term) -> list[int]:
        """The nodes for which neither part has both terms: those that have the first, and those that have the second."""
        left: list[int] = []
        entered: list[int] = []
        for node in range(len(self._tree)):
            if not any(self.has(node, part, start) and self.has(node, part, end) for part in (True, False)):
                (left if self.has(node, True, start) else entered).append(node)
        return [*reversed(left), *entered]

    def _shared_place(self, node: int, terms: list[Term], first: int) -> int:
        for place in range(first, len(terms)):
            if self.has(node, True, terms[place]) and self.has(node, False, terms[place]):
                return place
        raise Limit

    def counts_inside(self, node: int, start: Term, end: Term) -> bool:
        """Whether a congruence is of the A part. If it could be of both parts, one node has it, and so have those above: two
        parts that each rely on the other for it would not contradict each other."""
        possible = [part for part in (True, False) if self.has(node, part, start) and self.has(node, part, end)]
        if len(possible) < 2:
            if not possible:
                raise Limit
            return possible[0]
        places = [place for place in map(self._tree.first_with, (start, end)) if place is not None]
        home = self._tree.meeting(places[0], places[-1]) if places else 0
        return home in self._tree.subtree(node)


def _parts(premises: list[tuple[_Step, ...]], begin: list[int], end: list[int]) -> tuple[tuple[_Step, ...], ...]:
    return tuple(premise[first:last] for premise, first, last in zip(premises, begin, end, strict=True))


class _Colours:
    """The colours of one node."""

    def __init__(self, paths: _Paths, home: dict[int, int], inside: frozenset[int], node: int) -> None:
        self._paths, self._home, self._inside, self._node = paths, home, inside, node
        self._done: dict[_Step, Coloured] = {}

    def coloured(self, path: tuple[_Step, ...]) -> Path:
        return tuple(self._step(step) for step in path)

    def _step(self, step: _Step) -> Coloured:
        found = self._done.get(step)
        if found is None:
            if step.literal is None:
                is_inside = self._paths.counts_inside(self._node, step.start, step.end)
            else:
                is_inside = self._home[step.literal] in self._inside
            premises = tuple(self.coloured(premise) for premise in step.premises)
            found = self._done[step] = Coloured(step.start, step.end, is_inside, premises)
        return found


def _factors(path: Path) -> list[Path]:
    """The longest parts of one colour."""
    found: list[list[Coloured]] = []
    for edge in path:
        if found and found[-1][0].is_inside == edge.is_inside:
            found[-1].append(edge)
        else:
            found.append([edge])
    return [tuple(part) for part in found]


def _equality(part: Path) -> Term:
    return eq(part[0].start, part[-1].end)


def _premises(part: Path, of_inside: bool) -> list[Path]:
    """What a part of one colour takes for granted: the parts of the other colour below its congruences."""
    found: list[Path] = []
    waiting = [premise for edge in part for premise in edge.premises]
    while waiting:
        for one in _factors(waiting.pop(0)):
            if one[0].is_inside != of_inside:
                found.append(one)
            else:
                waiting.extend(premise for edge in one for premise in edge.premises)
            if len(found) + len(waiting) > _MOST:
                raise Limit
    return found


def _taken(path: Path) -> list[Path]:
    """All that the A part takes for granted on a path."""
    found: list[Path] = []
    for part in _factors(path):
        found += _premises(part, True) if part[0].is_inside else [part]
    return found


def _said(path: Path, done: dict[tuple[Coloured, Coloured], Term]) -> Term:
    """What the A part says, so that with the B part the ends of the path are equal."""
    return and_(*(_said_inside(part, done) if part[0].is_inside else _said_outside(part, done) for part in _factors(path)))


def _said_inside(part: Path, done: dict[tuple[Coloured, Coloured], Term]) -> Term:
    """The ends of a part of the A part are equal if what it takes for granted is so, which the B part has to show."""
    key = part[0], part[-1]
    if key not in done:
        taken = _premises(part, True)
        shown = [_said_outside(one, done) for one in taken]
        done[key] = and_(implies(and_(*(_equality(one) for one in taken)), _equality(part)), *shown)
    return done[key]


def _said_outside(part: Path, done: dict[tuple[Coloured, Coloured], Term]) -> Term:
    """What the A part says, so that with the B part the ends of a part of the B part are equal."""
    key = part[0], part[-1]
    if key not in done:
        done[key] = and_(*(_said_inside(one, done) for one in _premises(part, False)))
    return done[key]
