"""Equality and uninterpreted functions: which literals contradict each other, and interpolants of them by coloured paths.

The congruence closure explains a contradiction by a path between two terms that a literal calls different. For a
node, edges are coloured: an equation by the part that it counts to, a congruence by the part whose symbols both of its terms
have. A congruence between a term of the A part and one of the B part is split at an application to shared terms, which
exist on the paths of its arguments. Then a maximal part of a path of one colour has shared ends, and the interpolant says,
in equalities of shared terms, what the A part guarantees and what it takes for granted of the B part ([UPPROVER] section 5.2
and what it cites for EUF: congruence graphs).

Several nodes use one closure, and each its own colours. A congruence that could be of both parts counts to one node of the
tree, as a literal does; without that the tree property fails where two siblings each have it.
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
        return tuple(self._interpolant(closure, home, pair, literal, node) for node in range(len(self._tree)))

    def _interpolant(
        self, closure: Closure, home: dict[int, int], pair: tuple[Term, Term], literal: int | None, node: int
    ) -> Term:
        inside = self._tree.subtree(node)
        colours = _Colours(closure, {one: where in inside for one, where in home.items()}, self._tree, node)
        path = colours.path(*pair)
        if literal is not None and home[literal] in inside:
            taken = _taken(path)
            return and_(not_(and_(*(_equality(part) for part in taken))), *(_said_outside(part, {}) for part in taken))
        return _said(path, {})


class _Colours:
    """The coloured paths of one node."""

    def __init__(self, closure: Closure, is_inside: dict[int, bool], tree: PartitionTree, node: int) -> None:
        self._closure, self._is_inside, self._tree, self._node = closure, is_inside, tree, node
        self._known = {True: tree.symbols_inside(node), False: tree.symbols_outside(node)}
        self._paths: dict[tuple[Term, Term], Path] = {}
        self._count = 0

    def _has(self, part: bool, term: Term) -> bool:
        """Whether a part has all symbols of a term."""
        return self._known[part].issuperset(symbols((term,)))

    def path(self, one: Term, other: Term) -> Path:
        """The path between equal terms, coloured. Recursion over the nesting of terms."""
        found = self._paths.get((one, other))
        if found is None:
            edges: list[Coloured] = []
            for edge in self._closure.path(one, other):
                if edge.literal is None:
                    edges += self._congruence(edge.start, edge.end)
                else:
                    edges.append(Coloured(edge.start, edge.end, self._is_inside[edge.literal]))
            self._count += len(edges)
            if self._count > _MOST:
                raise Limit
            found = self._paths[one, other] = tuple(edges)
        return found

    def _counts_inside(self, start: Term, end: Term) -> bool:
        """Whether a congruence that could be of both parts is of the A part. One node has it, and so have those above: two parts
        that each rely on the other for it would not contradict each other."""
        tree = self._tree
        places = [place for place in (tree.first_with(start), tree.first_with(end)) if place is not None]
        home = tree.meeting(places[0], places[-1]) if places else 0
        return home in tree.subtree(self._node)

    def _congruence(self, start: Term, end: Term) -> list[Coloured]:
        premises = [self.path(*pair) for pair in zip(start.args, end.args, strict=True)]
        possible = [part for part in (True, False) if self._has(part, start) and self._has(part, end)]
        if possible:
            is_inside = possible[0] if len(possible) == 1 else self._counts_inside(start, end)
            return [Coloured(start, end, is_inside, tuple(premises))]
        begins_inside = self._has(True, start)
        if not self._has(not begins_inside, end) or not (begins_inside or self._has(False, start)):
            raise Limit
        before, after, arguments = [], [], []
        for premise, argument in zip(premises, start.args, strict=True):
            terms = [argument, *(edge.end for edge in premise)]
            place = next((at for at, term in enumerate(terms) if self._has(True, term) and self._has(False, term)), None)
            if place is None:
                raise Limit
            before.append(premise[:place])
            after.append(premise[place:])
            arguments.append(terms[place])
        between = Term(start.op, tuple(arguments), start.sort, start.data)
        return [
            Coloured(start, between, begins_inside, tuple(before)),
            Coloured(between, end, not begins_inside, tuple(after)),
        ]


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
