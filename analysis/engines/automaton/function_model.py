"""All that the engine precomputes of one function: conditions, what is known where, written cells and pattern matches.

A model depends on the function's CFA, the rules, the types of what it calls, and the cells that its callees can write; it
lives as long as these are unchanged.
"""

from __future__ import annotations

from functools import cached_property

from analysis.cfa.graph import Cfa, Edge, Program
from analysis.engines.automaton.conditions import Conditions, KnownConditions, decide, natural_range
from analysis.engines.automaton.footprint import Footprints, address_taken, external_writes
from analysis.engines.automaton.matching import EdgeMatches, Matcher
from analysis.engines.automaton.paths import Path, lvalue_cell, path_cells, path_of, root_of
from analysis.model import ir


class FunctionModel:
    """The engine's view of one function of a program."""

    def __init__(self, cfa: Cfa, program: Program, footprints: Footprints, matcher: Matcher) -> None:
        self.cfa = cfa
        self._program = program
        self._footprints = footprints
        self._matcher = matcher
        self.address_taken = address_taken(cfa)
        self.conditions = Conditions(cfa, self.address_taken)
        self.written = {edge.id: self._written(edge) for edge in cfa.edges}
        self.known = KnownConditions(cfa, self.conditions, self.written)
        self.parameters = {root_of(var): index for index, var in enumerate(cfa.parameters)}
        self._matches: dict[int, EdgeMatches] = {}
        self._has: dict[tuple[int, int, Path], bool] = {}
        self._touched: dict[int, frozenset[str]] = {}

    def matches(self, edge: Edge) -> EdgeMatches:
        """The pattern matches at an edge."""
        found = self._matches.get(edge.id)
        if found is None:
            found = self._matches[edge.id] = self._matcher.edge(edge)
        return found

    def feasible(self, edge: Edge) -> bool:
        """Whether the edge can be taken at all, by what is known at its source."""
        known = self.known.at[edge.source]
        return known is not None and self.known.after(edge, known) is not None

    def touched(self, edge: Edge) -> frozenset[str]:
        """Cells and roots that can matter to the edge's effect and matches: a fact that shares none with them passes it
        unchanged."""
        found = self._touched.get(edge.id)
        if found is None:
            names = set(self.written[edge.id])
            for expr in ir.expressions(edge.effect):
                names.update(root_of(var) for var in ir.variables(expr))
            matches = self.matches(edge)
            for match in (*matches.before, *matches.after):
                if match.path is not None:
                    names.add(match.path[0])
            found = self._touched[edge.id] = frozenset(names)
        return found

    def _written(self, edge: Edge) -> frozenset[str]:
        effect = edge.effect
        if isinstance(effect, ir.Assign):
            return frozenset((lvalue_cell(effect.target),))
        if not isinstance(effect, ir.Call):
            return frozenset()
        written: set[str] = set()
        if effect.result is not None:
            written.add(lvalue_cell(effect.result))
        targets = self._program.targets(effect)
        for target in targets:
            written |= self._footprints.written.get(target, frozenset())
        written |= external_writes(effect, self._program.records) if self._may_be_external(targets) else self._addressed(effect)
        return frozenset(written)

    def _may_be_external(self, targets: tuple[str, ...]) -> bool:
        return not targets or any(target not in self._program.functions for target in targets)

    def _addressed(self, call: ir.Call) -> set[str]:
        """Variables whose address is passed: the callee writes them as objects behind its parameter."""
        found = set()
        for argument in call.arguments:
            path = path_of(argument)
            if path is not None and path[-1] == "&":
                found.add(path[0])
        return found

    def function_has(self, rule: int, transition: int, path: Path) -> bool:
        """Whether the transition's `if_function_has` holds of the function for the value at the path."""
        key = (rule, transition, path)
        found = self._has.get(key)
        if found is None:
            patterns = self._matcher.rules[rule].transitions[transition].if_function_has
            found = self._has[key] = self._matcher.function_has(self.cfa, patterns, rule, path)
        return found

    @cached_property
    def reassigned(self) -> frozenset[str]:
        """The parameters that the function assigns to."""
        targets = []
        for edge in self.cfa.edges:
            effect = edge.effect
            target = effect.target if isinstance(effect, ir.Assign) else effect.result if isinstance(effect, ir.Call) else None
            if isinstance(target, ir.Var):
                targets.append(root_of(target))
        return frozenset(targets) & frozenset(self.parameters)

    def decided(self, edge: Edge) -> bool:
        """Whether the branches that lead to this call of an assertion's failure are known to be taken when they are reached.

        The condition of an `assert` is its text, the first argument: when it has no variable in it, there is no branch.
        """
        effect = edge.effect
        if isinstance(effect, ir.Call) and effect.arguments:
            text = ir.strip_casts(effect.arguments[0])
            if isinstance(text, ir.StringConst) and is_constant_text(text.text):
                return True
        return any(self._surely_taken(incoming) for incoming in self.cfa.incoming.get(edge.source, ()))

    def _surely_taken(self, edge: Edge) -> bool:
        known = self.known.at[edge.source]
        test = self.conditions.of_edge.get(edge.id)
        if known is None or test is None:
            return False
        number, interval = test
        return decide(number, interval, known, natural_range(self.conditions.keys[number])) is True


def is_constant_text(literal: str) -> bool:
    """Whether the text of an assertion (as a string literal) is 0, false, or a negated string, perhaps joined with a message."""
    inside = literal.strip('"').replace('\\"', '"')
    outside = "".join(inside.split('"')[::2])
    return not any(char.isalpha() or char == "_" for char in outside.replace("false", "").replace("NULL", ""))


def fact_names(paths: tuple[Path, ...]) -> frozenset[str]:
    """The roots and cells on which the paths depend; disjoint from an edge's `touched`, the edge does nothing to them."""
    return frozenset(name for path in paths for name in (path[0], *path_cells(path)))
