"""What becomes of a value after a statement: a fact at its new access paths, or an error."""

from __future__ import annotations

from collections.abc import Iterable

from analysis.cfa.graph import Edge
from analysis.engines.automaton.facts.facts import Environment, Fact, FactTable, bounded
from analysis.engines.automaton.facts.ownership import escapes
from analysis.engines.automaton.functions.access_paths import Path, behind_pointer
from analysis.engines.automaton.functions.function_model import FunctionModel
from analysis.rules.automaton import ERROR, Rule


class Outcomes:
    """Numbers the facts of a program; `thorough`: it is small, and values in its globals are followed."""

    def __init__(self, rules: tuple[Rule, ...], facts: FactTable, thorough: bool) -> None:
        self.rules = rules
        self.facts = facts
        self.thorough = thorough

    def error(self, rule: int, transition: int, edge: Edge, path: Path | None) -> int:
        """The rejecting fact of a transition at an edge."""
        return self.facts.number(Fact(rule, ERROR, () if path is None else (path,), (), transition, edge.id))

    def settle(self, edge: Edge, fact: Fact, paths: Iterable[Path], environment: Environment = ()) -> list[int]:
        """Returns the fact at its new access paths. If no path is left, returns what the rule does when the value is
        lost."""
        found = set(paths)
        if not found:
            return self.lost(fact, edge)
        return self.numbered(fact, found, environment)

    def numbered(self, fact: Fact, paths: set[Path], environment: Environment) -> list[int]:
        """The facts that say together that the value is at these paths, of which there is at least one.

        In a state that only an error or the end follows, each path is a fact of its own: what happens to one says nothing of the
        others, and sets of paths would be as many as there are sets of the variables that can hold the value.
        """
        if self.rules[fact.rule].is_last(fact.state):
            return [self.facts.number(Fact(fact.rule, fact.state, (path,), environment)) for path in sorted(paths)]
        return [self.facts.number(Fact(fact.rule, fact.state, bounded(paths), environment))]

    def lost(self, fact: Fact, edge: Edge) -> list[int]:
        """Returns what the rule does when the value has no access path left: the error, or nothing."""
        for index, transition in enumerate(self.rules[fact.rule].transitions):
            if transition.source == fact.state and transition.trigger.kind == "lost":
                return [self.error(fact.rule, index, edge, fact.paths[0] if fact.paths else None)]
        return []

    def given_away(self, model: FunctionModel, written: Path, rule: int) -> bool:
        """Whether an owned value that is stored at the path is somebody else's from then on."""
        if self.thorough and len(written) == 1:
            return False
        return escapes(model, written) or (behind_pointer(written) and not model.is_fresh(written[0], rule))
