"""Formulas of partitions as clauses over numbered atoms.

An atom is a Boolean term that is no connective; it has one number in all partitions. Connectives get labels, which belong
to one partition, so that no label is shared. Only the clauses that a label's polarity asks for are made (Plaisted and
Greenbaum): then a literal that no clause contains says nothing, and a theory need not be told of it.

A literal is a number, or its negative for the negation. Numbers count from 1.
"""

from __future__ import annotations

import msgspec

from analysis.smt.logic.term_building import FALSE, TRUE
from analysis.smt.logic.terms import Term

_POSITIVE, _NEGATIVE = 1, 2


class Clause(msgspec.Struct, frozen=True):
    """A disjunction of literals, each once, and the partition that it is from."""

    literals: tuple[int, ...]
    partition: int


class ClauseSet:
    """The clauses of all partitions. `atoms` has the term of each number that is an atom; `partitions` has the partitions
    in which each number, be it an atom or a label, occurs."""

    def __init__(self) -> None:
        self.clauses: list[Clause] = []
        self.atoms: dict[int, Term] = {}
        self.partitions: dict[int, set[int]] = {}
        self._number: dict[Term, int] = {}
        self._count = 0

    @property
    def count(self) -> int:
        """The highest number."""
        return self._count

    def atom(self, term: Term) -> int | None:
        """The number of an atom, None if no clause has it."""
        return self._number.get(term)

    def add(self, formula: Term, partition: int) -> None:
        """Adds the clauses of one formula."""
        _Partition(self, partition).assert_formula(formula)

    def new(self, partition: int) -> int:
        """The number of a new label."""
        self._count += 1
        self.partitions[self._count] = {partition}
        return self._count

    def atom_in(self, term: Term, partition: int) -> int:
        """The number of an atom that occurs in a partition."""
        number = self._number.get(term)
        if number is None:
            number = self._number[term] = self.new(partition)
            self.atoms[number] = term
        self.partitions[number].add(partition)
        return number


def is_connective(term: Term) -> bool:
    """Whether a Boolean term is made of Boolean terms."""
    if term.op in ("not", "and", "or"):
        return True
    return term.op in ("ite", "=") and term.args[-1].sort.kind == "Bool"


class _Partition:
    """Makes the clauses of one partition."""

    def __init__(self, into: ClauseSet, partition: int) -> None:
        self._into = into
        self._partition = partition
        self._literal: dict[Term, int] = {}
        self._has: dict[Term, int] = {}  # the polarities of which a connective has its clauses

    def assert_formula(self, formula: Term) -> None:
        waiting = [(formula, True)]
        while waiting:
            term, value = waiting.pop()
            if term.op == "not":
                waiting.append((term.args[0], not value))
            elif term.op == ("and" if value else "or"):
                waiting.extend((part, value) for part in reversed(term.args))
            elif term.op == ("or" if value else "and"):
                self._clause([self._of(part, value) for part in term.args])
            else:
                self._clause([self._of(term, value)])

    def _clause(self, literals: list[int | None]) -> None:
        """Adds a clause. None stands for `true`, 0 for `false`."""
        kept = dict.fromkeys(literal for literal in literals if literal != 0)
        if None in kept or any(-literal in kept for literal in kept if literal):
            return
        self._into.clauses.append(Clause(tuple(literal for literal in kept if literal), self._partition))

    def _of(self, term: Term, value: bool) -> int | None:
        """The literal that stands for a term, or for its negation. Its clauses are made, and those of all below it."""
        waiting = [(term, _POSITIVE if value else _NEGATIVE)]
        while waiting:
            part, polarity = waiting.pop()
            while part.op == "not":
                part, polarity = part.args[0], _turned(polarity)
            missing = polarity & ~self._has.get(part, 0)
            if not is_connective(part) or not missing:
                continue
            self._has[part] = self._has.get(part, 0) | missing
            waiting.extend((below, _polarity_below(part, position, missing)) for position, below in enumerate(part.args))
            self._define(part, missing)
        return self._named(term, value)

    def _named(self, term: Term, value: bool) -> int | None:
        while term.op == "not":
            term, value = term.args[0], not value
        if term in (TRUE, FALSE):
            return None if (term is TRUE) == value else 0
        number = self._literal.get(term)
        if number is None:
            into, here = self._into, self._partition
            number = self._literal[term] = into.new(here) if is_connective(term) else into.atom_in(term, here)
        return number if value else -number

    def _define(self, term: Term, polarities: int) -> None:
        """The clauses that say what a label stands for: of polarity positive, the label implies the term."""
        label = self._named(term, True)
        assert label
        for value in (True, False):
            if polarities & (_POSITIVE if value else _NEGATIVE):
                for implied in _implied(term, value):
                    self._clause([-label if value else label, *(self._named(part, wanted) for part, wanted in implied)])


def _implied(term: Term, value: bool) -> list[list[tuple[Term, bool]]]:
    """Disjunctions that together say that a connective has a value: terms and the values that they may have."""
    args = term.args
    if term.op == "ite":
        return [[(args[0], False), (args[1], value)], [(args[0], True), (args[2], value)]]
    if term.op == "=":
        return [[(args[0], False), (args[1], value)], [(args[0], True), (args[1], not value)]]
    parts = [(part, value) for part in args]
    return [[part] for part in parts] if (term.op == "and") == value else [parts]


def _turned(polarity: int) -> int:
    return (polarity & _POSITIVE) << 1 | (polarity & _NEGATIVE) >> 1


def _polarity_below(term: Term, position: int, polarity: int) -> int:
    """The polarities of an argument of a connective of some polarities."""
    return _POSITIVE | _NEGATIVE if term.op == "=" or (term.op == "ite" and position == 0) else polarity
