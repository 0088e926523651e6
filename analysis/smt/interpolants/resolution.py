"""Refutes clauses by a search with clause learning and theory lemmas, and records the resolution proof.

The search is deterministic: no clock, no random choice. It is written for proofs of a few thousand steps: what it does in
a second, a SAT solver does in a millisecond. `Limit` bounds its work.

A theory is asked only about the literals that a model of the clauses needs. So it is asked about few, and its lemmas
speak of atoms that matter.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Protocol

import msgspec

from analysis.smt.interpolants.clauses import ClauseSet

_DECAY = 1 / 0.95
_LARGE = 1e100


class Limit(Exception):  # noqa: N818  # it is no error
    """The search did more than it may, or the theory cannot tell."""


class Unsupported(Exception):  # noqa: N818
    """A formula has a term that the theory does not have."""


class Theory(Protocol):
    """Decides conjunctions of literals."""

    def conflict(self, literals: Sequence[int]) -> Sequence[int] | None:
        """Some of the literals that cannot be true together, None if all can. Raises `Limit` if that is not known."""


class Step(msgspec.Struct, frozen=True):
    """A clause of the proof. `partition` is that of a clause of the input, None for others. `chain` resolves the step
    `start` with others, one after the other, each on a number; a step without either is a lemma of the theory."""

    literals: tuple[int, ...]
    partition: int | None = None
    start: int | None = None
    chain: tuple[tuple[int, int], ...] = ()


class Proof(msgspec.Struct, frozen=True):
    """Steps, each after those that it uses; the last is the empty clause."""

    steps: tuple[Step, ...]


class Search:
    """One search over the clauses of a set. `conflicts` and `lemmas` count the work done."""

    def __init__(self, clauses: ClauseSet, theory: Theory | None, conflicts: int, lemmas: int) -> None:
        self._theory = theory
        self._is_atom = clauses.atoms
        self._most_conflicts, self._most_lemmas = conflicts, lemmas
        self.conflicts = self.lemmas = 0
        count = clauses.count
        self._steps = [Step(clause.literals, clause.partition) for clause in clauses.clauses]
        self._input = [clause.literals for clause in clauses.clauses]
        self._watches: dict[int, list[int]] = {literal: [] for n in range(1, count + 1) for literal in (n, -n)}
        self._clause: list[list[int]] = [[] for _ in self._steps]  # the literals of a step; the first two are watched
        self._value: list[int] = [0] * (count + 1)  # 1, -1, or 0 for a number without a value
        self._level = [0] * (count + 1)
        self._reason: list[int | None] = [None] * (count + 1)
        self._unit: list[int] = [-1] * (count + 1)  # the step that proves the value of a number, at level 0
        self._trail: list[int] = []
        self._limits: list[int] = []  # where in the trail each level begins
        self._head = 0
        self._activity = [0.0] * (count + 1)
        self._increase = 1.0
        self._phase = self._first_phases(count)
        self._heap = [(0.0, number) for number in range(1, count + 1)]

    def _first_phases(self, count: int) -> list[int]:
        """A number that occurs in one polarity only has the other at first: so it says nothing."""
        phases = [-1] * (count + 1)
        seen = {literal for literals in self._input for literal in literals}
        for number in range(1, count + 1):
            if number not in seen and -number in seen:
                phases[number] = 1
        return phases

    def refutation(self) -> Proof | None:
        """The proof that the clauses cannot be true together; None if they can. Raises `Limit`."""
        for number in range(len(self._steps)):
            conflict = self._attach(number)
            if conflict is not None:
                return self._finished(conflict)
        while True:
            conflict = self._propagate()
            if conflict is None and len(self._trail) == len(self._value) - 1:
                conflict = self._asked()
                if conflict is None:
                    return None
            if conflict is None:
                self._decide()
                continue
            if not self._to_level_of(conflict):
                return self._finished(conflict)
            self.conflicts += 1
            if self.conflicts > self._most_conflicts:
                raise Limit
            self._learn(conflict)

    def _true(self, literal: int) -> int:
        value = self._value[abs(literal)]
        return value if literal > 0 else -value

    def _attach(self, number: int) -> int | None:
        """Watches a clause; the clause's number if it contradicts what holds at level 0."""
        literals = list(self._steps[number].literals)
        if len(literals) > 1:
            self._watch(number, literals)
            return None
        if not literals or self._true(literals[0]) < 0:
            return number
        if not self._true(literals[0]):
            self._assign(literals[0], number)
        return None

    def _watch(self, number: int, literals: list[int]) -> None:
        self._clause[number] = literals
        self._watches[literals[0]].append(number)
        self._watches[literals[1]].append(number)

    def _assign(self, literal: int, reason: int | None) -> None:
        number = abs(literal)
        self._value[number] = 1 if literal > 0 else -1
        self._level[number] = len(self._limits)
        self._reason[number] = reason
        self._trail.append(literal)
        if reason is not None and not self._limits:
            chain = tuple((abs(other), self._unit[abs(other)]) for other in self._steps[reason].literals if other != literal)
            self._unit[number] = self._added(Step((literal,), None, reason, chain)) if chain else reason

    def _added(self, step: Step) -> int:
        self._steps.append(step)
        self._clause.append([])
        return len(self._steps) - 1

    def _propagate(self) -> int | None:
        """Assigns what follows; a clause that is false, if there is one."""
        while self._head < len(self._trail):
            false = -self._trail[self._head]
            self._head += 1
            kept: list[int] = []
            watching = self._watches[false]
            self._watches[false] = kept
            for position, number in enumerate(watching):
                if not self._rewatched(number, false):
                    kept.append(number)
                    first = self._clause[number][0]
                    if self._true(first) < 0:
                        kept.extend(watching[position + 1 :])
                        return number
                    if not self._true(first):
                        self._assign(first, number)
        return None

    def _rewatched(self, number: int, false: int) -> bool:
        """Whether a clause found another literal to watch than one that became false. Its first literal is the other watch."""
        literals, value = self._clause[number], self._value
        if literals[0] == false:
            literals[0], literals[1] = literals[1], false
        first = literals[0]
        if (value[first] if first > 0 else -value[-first]) > 0:
            return False
        for position in range(2, len(literals)):
            other = literals[position]
            if (value[other] if other > 0 else -value[-other]) >= 0:
                literals[1], literals[position] = other, false
                self._watches[other].append(number)
                return True
        return False

    def _decide(self) -> None:
        while True:
            _, number = heapq.heappop(self._heap)
            if not self._value[number]:
                break
        self._limits.append(len(self._trail))
        self._assign(number * self._phase[number], None)

    def _asked(self) -> int | None:
        """Asks the theory; the lemma that is false now, if there is one."""
        if self._theory is None:
            return None
        found = self._theory.conflict([literal for literal in self._needed() if abs(literal) in self._is_atom])
        if found is None:
            return None
        self.lemmas += 1
        if self.lemmas > self._most_lemmas:
            raise Limit
        by_level = sorted((-literal for literal in found), key=lambda literal: -self._level[abs(literal)])
        number = self._added(Step(tuple(by_level)))
        if len(by_level) > 1:
            self._watch(number, by_level)
        return number

    def _needed(self) -> list[int]:
        """Literals that make every clause of the input true, those that had to be first."""
        chosen: dict[int, None] = {}
        for literals in self._input:
            true = [literal for literal in literals if self._true(literal) > 0]
            if not any(literal in chosen for literal in true):
                chosen[min(true, key=lambda literal: (abs(literal) in self._is_atom, self._level[abs(literal)]))] = None
        return list(chosen)

    def _to_level_of(self, conflict: int) -> bool:
        """Goes back to the last level that a false clause is about; whether that is not level 0."""
        level = max((self._level[abs(literal)] for literal in self._steps[conflict].literals), default=0)
        self._back_to(level)
        return level > 0

    def _back_to(self, level: int) -> None:
        if level >= len(self._limits):
            return
        for literal in self._trail[self._limits[level] :]:
            number = abs(literal)
            self._phase[number] = self._value[number]
            self._value[number] = 0
            heapq.heappush(self._heap, (-self._activity[number], number))
        del self._trail[self._limits[level] :]
        del self._limits[level:]
        self._head = min(self._head, len(self._trail))

    def _learn(self, conflict: int) -> None:
        """Resolves a false clause back to one that has one literal of its level, keeps that, and goes on from it."""
        literals, chain = self._resolved(conflict)
        number = self._added(Step(literals, None, conflict, chain)) if chain else conflict
        self._back_to(self._level[abs(literals[1])] if len(literals) > 1 else 0)
        if chain and len(literals) > 1:
            self._watch(number, list(literals))
        self._assign(literals[0], number)
        self._increase *= _DECAY
        if self._increase > _LARGE:
            self._activity = [value / _LARGE for value in self._activity]
            self._increase /= _LARGE
            self._heap = [(-self._activity[n], n) for n in range(1, len(self._value)) if not self._value[n]]
            heapq.heapify(self._heap)

    def _resolved(self, conflict: int) -> tuple[tuple[int, ...], tuple[tuple[int, int], ...]]:
        """The clause to learn, its literals by falling level, and how it is derived."""
        level = len(self._limits)
        clause = set(self._steps[conflict].literals)
        chain: list[tuple[int, int]] = []
        ahead = sum(self._level[abs(literal)] == level for literal in clause)
        position = len(self._trail)
        for literal in clause:
            self._bump(abs(literal))
        while ahead > 1:
            position -= 1
            false = -self._trail[position]
            if false not in clause:
                continue
            reason = self._reason[abs(false)]
            assert reason is not None
            chain.append((abs(false), reason))
            clause.discard(false)
            ahead -= 1
            for other in self._steps[reason].literals:
                if other != -false and other not in clause:
                    clause.add(other)
                    self._bump(abs(other))
                    ahead += self._level[abs(other)] == level
        for literal in sorted(clause):
            if not self._level[abs(literal)]:
                clause.discard(literal)
                chain.append((abs(literal), self._unit[abs(literal)]))
        order = sorted(clause, key=lambda literal: (-self._level[abs(literal)], abs(literal)))
        return tuple(order), tuple(chain)

    def _bump(self, number: int) -> None:
        self._activity[number] += self._increase
        if not self._value[number]:
            heapq.heappush(self._heap, (-self._activity[number], number))

    def _finished(self, conflict: int) -> Proof:
        """The proof that ends with a clause that is false at level 0, with the steps that it needs."""
        chain = tuple((abs(literal), self._unit[abs(literal)]) for literal in self._steps[conflict].literals)
        last = self._added(Step((), None, conflict, chain)) if chain else conflict
        return Proof(_needed_steps(self._steps, last))


def _needed_steps(steps: list[Step], last: int) -> tuple[Step, ...]:
    """The steps that a step needs, itself last, numbered anew."""
    needed, waiting = set[int](), [last]
    while waiting:
        number = waiting.pop()
        if number not in needed:
            needed.add(number)
            step = steps[number]
            waiting.extend(used for _, used in step.chain)
            if step.start is not None:
                waiting.append(step.start)
    order = sorted(needed)  # a step is made after those that it uses
    place = {number: position for position, number in enumerate(order)}
    return tuple(_renumbered(steps[number], place) for number in order)


def _renumbered(step: Step, place: dict[int, int]) -> Step:
    start = None if step.start is None else place[step.start]
    return Step(step.literals, step.partition, start, tuple((pivot, place[used]) for pivot, used in step.chain))
