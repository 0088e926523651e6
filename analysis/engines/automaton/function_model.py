"""All that the engine precomputes of one function: conditions, what is known where, written cells and pattern matches.

A model depends on the function's CFA, the rules, the types of what it calls, and the cells that its callees can write; it
lives as long as these are unchanged.
"""

from __future__ import annotations

from functools import cached_property, lru_cache

from analysis.cfa.graph import Cfa, Edge, Program
from analysis.engines.automaton.conditions import Conditions, KnownConditions, decide, natural_range
from analysis.engines.automaton.copies import AvailableCopies
from analysis.engines.automaton.footprint import Footprints, address_taken, external_writes
from analysis.engines.automaton.matching import EdgeMatches, Matcher
from analysis.engines.automaton.paths import Path, lvalue_cell, path_cells, path_of, root_of
from analysis.engines.automaton.regions import BranchRegions
from analysis.engines.automaton.returning import call_returns
from analysis.model import ir
from analysis.model.c_types import Pointer
from analysis.rules.automaton import START

ANY_NAME = "<any>"  # among the names of every fact
EVERYTHING = (ANY_NAME,)


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
        self.known = KnownConditions(cfa, self.conditions, self.written, self._dead_ends)
        self.parameters = {root_of(var): index for index, var in enumerate(cfa.parameters)}
        self._matches: dict[int, EdgeMatches] = {}
        self._has: dict[tuple[int, int, Path], bool] = {}
        self._touched: dict[int, frozenset[str]] = {}
        self.regions = BranchRegions(cfa, self.touched)
        self._decided_by: list[frozenset[str]] | None = None
        self._sensitive: dict[int, frozenset[str]] = {}
        self._fresh: dict[tuple[int, str], bool] = {}

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

    def still(self, edge: Edge, names: frozenset[str], keys: frozenset[int]) -> bool:
        """Whether the edge surely does nothing to a fact with these names and condition keys."""
        sensitive = self._sensitive.get(edge.id)
        if sensitive is None:
            sensitive = self._sensitive[edge.id] = self._find_sensitive(edge)
        if not names.isdisjoint(sensitive):
            return False
        if not keys:
            return True
        test = self.conditions.of_edge.get(edge.id)
        if test is not None and test[0] in keys:
            return False
        return keys <= self.known.live[edge.target] and keys.isdisjoint(self.known.killed(edge))

    def _find_sensitive(self, edge: Edge) -> frozenset[str]:
        """Names that make the edge matter to a fact: what it touches, what its callees read, and, where the edge tells
        something that a later branch can ask, what that branch decides."""
        if isinstance(edge.effect, ir.Return):
            return frozenset(EVERYTHING)
        found = set(self.touched(edge))
        effect = edge.effect
        if isinstance(effect, ir.Call):
            for target in self._program.targets(effect):
                if target in self._footprints.returning:
                    found |= self._footprints.read[target]
            return frozenset(found)
        live = self.known.live[edge.target]
        test = self.conditions.of_edge.get(edge.id)
        if test is not None and test[0] in live and test[0] not in self.conditions.selectors:
            found |= self.regions.decides(edge.source)
        if isinstance(effect, ir.Assign) and self.conditions.numbers.get(effect.target, -1) in live:
            number = self.conditions.numbers[effect.target]
            if number in self.conditions.returned:
                return frozenset(EVERYTHING)
            found |= self.decided_by(number)
        return frozenset(found)

    def passes(self, edge: Edge) -> bool:
        """Whether control can get past the edge: always, but for calls that never return."""
        return edge.id not in self._dead_ends

    @cached_property
    def _dead_ends(self) -> frozenset[int]:
        returning = self._footprints.returning
        calls = ((edge.id, edge.effect) for edge in self.cfa.calls)
        return frozenset(
            id_ for id_, call in calls if isinstance(call, ir.Call) and not call_returns(call, self._program, returning)
        )

    def single_entry(self, location: int) -> bool:
        """Whether just one edge enters the location."""
        return location in self._single_entries

    @cached_property
    def _single_entries(self) -> frozenset[int]:
        cfa = self.cfa
        return frozenset(place for place, edges in cfa.incoming.items() if len(edges) == 1 and place not in (cfa.entry, cfa.exit))

    def decided_by(self, key: int) -> frozenset[str]:
        """The names of values to which something happens depending on the condition key."""
        if self._decided_by is None:
            self._decided_by = [frozenset()] * len(self.conditions.keys)
            for edge in self.cfa.edges:
                test = self.conditions.of_edge.get(edge.id)
                if test is not None:
                    self._decided_by[test[0]] |= self.regions.decides(edge.source)
        return self._decided_by[key]

    def useful(self, key: int, names: frozenset[str]) -> bool:
        """Whether some branch on the condition key decides what happens to a value with these names, or the key is returned."""
        return key in self.conditions.returned or not names.isdisjoint(self.decided_by(key))

    def _written(self, edge: Edge) -> frozenset[str]:
        effect = edge.effect
        if isinstance(effect, ir.Assign):
            return frozenset((lvalue_cell(effect.target),))
        if not isinstance(effect, ir.Call):
            return frozenset()
        written = set(self.written_by_callees(edge))
        if effect.result is not None:
            written.add(lvalue_cell(effect.result))
        return frozenset(written)

    def written_by_callees(self, edge: Edge) -> frozenset[str]:
        """The cells that the functions called at the edge can change."""
        effect = edge.effect
        assert isinstance(effect, ir.Call)
        written: set[str] = set()
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
    def copies(self) -> AvailableCopies:
        """Which paths hold the same value where."""
        return AvailableCopies(self.cfa, self.written)

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

    def parameter_keys(self, paths: tuple[Path, ...]) -> list[int]:
        """The condition keys that are unchanged parameters among the paths."""
        unchanged = [
            path[0] for path in paths if len(path) == 1 and path[0] in self.parameters and path[0] not in self.reassigned
        ]
        variables = (self.cfa.parameters[self.parameters[root]] for root in unchanged)
        return [self.conditions.numbers[var] for var in variables if var in self.conditions.numbers]

    @cached_property
    def moving(self) -> frozenset[str]:
        """The variables that pointer arithmetic moves along an array."""
        found = set()
        for edge in self.cfa.edges:
            effect = edge.effect
            if not isinstance(effect, ir.Assign) or not isinstance(effect.value, ir.Binary):
                continue
            if isinstance(effect.target, ir.Var) and isinstance(effect.value.type, Pointer):
                found.add(root_of(effect.target))
        return frozenset(found)

    def is_fresh(self, root: str, rule: int) -> bool:
        """Whether the variable holds only what the function has got from the rule's own starting calls: objects nobody else
        knows; or is a parameter that the function does not change (then the caller's object is meant)."""
        if root in self.parameters:
            return root not in self.reassigned
        key = (rule, root)
        if key not in self._fresh:
            self._fresh[key] = all(self._starts(edge, rule) for edge in self.cfa.edges if self._stores_to(edge, root))
        return self._fresh[key]

    def _stores_to(self, edge: Edge, root: str) -> bool:
        effect = edge.effect
        target = effect.target if isinstance(effect, ir.Assign) else effect.result if isinstance(effect, ir.Call) else None
        return isinstance(target, ir.Var) and root_of(target) == root

    def _starts(self, edge: Edge, rule: int) -> bool:
        effect = edge.effect
        if isinstance(effect, ir.Assign):
            return isinstance(ir.strip_casts(effect.value), ir.Undefined | ir.IntConst)
        return any(match.rule == rule and match.source == START for match in self.matches(edge).after)

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


@lru_cache(maxsize=100_000)
def fact_names(paths: tuple[Path, ...]) -> frozenset[str]:
    """The roots and cells on which the paths depend; disjoint from an edge's `touched`, the edge does nothing to them."""
    return frozenset((ANY_NAME, *(name for path in paths for name in (path[0], *path_cells(path)))))
