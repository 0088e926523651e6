"""The automaton states that the engine works with, as small integers.

ORION's automaton state is here a *fact*: rule, state of its automaton, the access paths that hold the tracked value, and what the
path so far tells about conditions (the environment: condition number -> interval). Fact 0, NOTHING, is the state in which no
value is tracked; there is one for all rules together. It says only that the location can be reached.

In a state that only an error or the end can follow, a fact has one path, and a value that has several is as many facts
(`Outcomes.numbered`).

A fact whose state is ERROR is rejecting; its `transition` says which transition of the rule led there, at which edge.
"""

from __future__ import annotations

import msgspec

from analysis.engines.automaton.functions.access_paths import Path
from analysis.model.intervals import Interval

Environment = tuple[tuple[int | str, Interval], ...]

NOTHING = 0
PATHS_LIMIT = 5
RESULT_KEY = ""


class Fact(msgspec.Struct, frozen=True, cache_hash=True):
    """A tracked value: `rule` is an index into the engine's rules, `paths` are sorted, `environment` is sorted by condition
    number.

    Errors carry the rule's `transition` (its index) and the `edge` at which they happen; other facts have -1 in both.
    """

    rule: int
    state: str
    paths: tuple[Path, ...]
    environment: Environment = ()
    transition: int = -1
    edge: int = -1

    def with_environment(self, environment: Environment) -> Fact:
        """The same fact with another environment."""
        return Fact(self.rule, self.state, self.paths, environment)


class FactTable:
    """Facts by number and numbers by fact; a number is never given to another fact."""

    def __init__(self) -> None:
        self._facts: list[Fact] = [Fact(-1, "nothing", ())]
        self._numbers: dict[Fact, int] = {self._facts[0]: NOTHING}
        self.errors: set[int] = set()

    def __getitem__(self, number: int) -> Fact:
        return self._facts[number]

    def __len__(self) -> int:
        return len(self._facts)

    def number(self, fact: Fact) -> int:
        """The fact's number, a new one if it has none."""
        number = self._numbers.get(fact)
        if number is None:
            number = len(self._facts)
            self._facts.append(fact)
            self._numbers[fact] = number
            if fact.transition >= 0:
                self.errors.add(number)
        return number


def bounded(paths: set[Path]) -> tuple[Path, ...]:
    """The paths in a fixed order, the shortest first, no more than PATHS_LIMIT (the rest is forgotten)."""
    return tuple(sorted(paths, key=_order)[:PATHS_LIMIT])


def _order(path: Path) -> tuple[int, bool, Path]:
    return (len(path), path[0].startswith("$"), path)
