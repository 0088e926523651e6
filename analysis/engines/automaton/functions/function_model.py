"""All that the engine precomputes of one function: conditions, its cases, written cells and pattern matches.

A model depends on the function's CFA, the rules, the types of what it calls, and the cells that its callees can write; it
lives as long as these are unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cached_property, lru_cache

import msgspec

from analysis.c.functions import known
from analysis.cfa.graph import Cfa, Edge
from analysis.engines.automaton.functions.access_paths import Path, apply_operations, lvalue_cell, path_cells, path_of, root_of
from analysis.engines.automaton.functions.cases import Cases, Surroundings
from analysis.engines.automaton.functions.chosen_numbers import standard_stream, takes_closed_number
from analysis.engines.automaton.functions.copies import NONE, AvailableCopies, Copies
from analysis.engines.automaton.functions.entry_values import EntryValues
from analysis.engines.automaton.functions.footprint import (
    Footprints,
    Moved,
    address_taken,
    addressed_cell,
    external_writes,
    only_by_pointer,
    unmarked,
)
from analysis.engines.automaton.functions.known_conditions import Conditions, decide
from analysis.engines.automaton.functions.lending import lent
from analysis.engines.automaton.functions.matching import EdgeMatches
from analysis.engines.automaton.functions.private_objects import PrivateObjects
from analysis.engines.automaton.functions.reference_counts import still_held
from analysis.engines.automaton.functions.variable_sources import Assignments
from analysis.model import ir
from analysis.model.c_types import Pointer
from analysis.model.intervals import ANY, ZERO, Interval, meet
from analysis.rules.automaton import START

ANY_NAME = "<any>"  # among the names of every fact
EVERYTHING = (ANY_NAME,)


class Rewritten(msgspec.Struct, frozen=True):
    """What differs in a function where the footprints of those that it calls do, by call edge: the cells written or read by the
    called functions, and those that the edge writes now and did not, or the other way round."""

    calls: dict[int, frozenset[str]]
    written: dict[int, frozenset[str]]


class FunctionModel:
    """The engine's view of one function of a program."""

    def __init__(self, cfa: Cfa, around: Surroundings, constants: Mapping[str, Interval]) -> None:
        self.cfa = cfa
        self._around = around
        self.address_taken = address_taken(cfa)
        self.aliased = self.address_taken - lent(cfa, around.program, around.footprints.kept)
        self.conditions = Conditions(cfa, self.aliased)
        self._read_again = _read_again(cfa)
        self.written = {edge.id: self._written(edge, around.footprints) for edge in cfa.edges}
        self.assignments = Assignments(cfa)
        self.cases = Cases(cfa, self.conditions, self.assignments, self.written, constants, around)
        self.parameters = self.assignments.parameters
        self._matches: dict[int, EdgeMatches] = {}
        self._has: dict[tuple[int, int], frozenset[Path]] = {}
        self._touched: dict[int, frozenset[str]] = {}
        self._sensitive: dict[int, frozenset[str]] = {}
        self._fresh: dict[tuple[int, str], bool] = {}
        self._by_callees: dict[int, frozenset[str]] = {}
        self._tests: dict[int, bool] = {}
        self._held: dict[int, Path | None] = {}
        self._chosen: dict[int, bool] = {}

    def matches(self, edge: Edge) -> EdgeMatches:
        """The pattern matches at an edge."""
        found = self._matches.get(edge.id)
        if found is None:
            found = self._matches[edge.id] = self._around.matcher.edge(edge)
        return found

    def touched(self, edge: Edge) -> frozenset[str]:
        """Cells and roots that can matter to the edge's effect, to its matches, and to what it says of holders: a fact that
        shares none with them passes it unchanged."""
        found = self._touched.get(edge.id)
        if found is None:
            names = set(self.written[edge.id])
            names.update(root_of(part) for part in self.cfa.parts[edge.id] if isinstance(part, ir.Var))
            matches = self.matches(edge)
            for match in (*matches.before, *matches.after):
                if match.path is not None:
                    names.add(match.path[0])
            held = self.still_held(edge)
            if held is not None:
                names.add(held[0])
            found = self._touched[edge.id] = frozenset(names)
        return found

    def still(self, edge: Edge, names: frozenset[str]) -> bool:
        """Whether the edge surely does nothing to a fact with these names."""
        return names.isdisjoint(self.sensitive(edge))

    def sensitive(self, edge: Edge) -> frozenset[str]:
        """Names that make the edge matter to a fact: what it touches, and what its callees read."""
        sensitive = self._sensitive.get(edge.id)
        if sensitive is None:
            sensitive = self._sensitive[edge.id] = self._find_sensitive(edge)
        return sensitive

    def _find_sensitive(self, edge: Edge) -> frozenset[str]:
        effect = edge.effect
        if isinstance(effect, ir.Return):
            return frozenset(EVERYTHING)
        found = self.touched(edge)
        if asks_for_failures(effect):
            found |= {path[0] for path in self.tested_paths}
        if isinstance(effect, ir.Call):
            for target in self._around.program.targets(effect):
                if target in self._around.footprints.returning:
                    found |= self._around.footprints.read[target]
        return found

    def all_still(self, edges: Iterable[tuple[Edge, bool]], names: frozenset[str]) -> bool:
        """Whether all of the edges surely do nothing to a fact with these names."""
        known = self._sensitive
        for edge, _ in edges:
            sensitive = known.get(edge.id)
            if not names.isdisjoint(self.sensitive(edge) if sensitive is None else sensitive):
                return False
        return True

    def single_entry(self, location: int) -> bool:
        """Whether just one edge enters the location."""
        return location in self._single_entries

    @cached_property
    def _single_entries(self) -> frozenset[int]:
        cfa = self.cfa
        return frozenset(place for place, edges in cfa.incoming.items() if len(edges) == 1 and place not in (cfa.entry, cfa.exit))

    def still_held(self, edge: Edge) -> Path | None:
        """The path to an object that others hold where a branch is taken (`functions.reference_counts`), or to a descriptor that
        is a standard one (`functions.chosen_numbers`)."""
        if edge.id not in self._held:
            self._held[edge.id] = still_held(self.cfa, edge) or standard_stream(self.cfa, edge)
        return self._held[edge.id]

    def takes_closed_number(self, edge: Edge) -> bool:
        """Whether a call opens a descriptor in the place of one that was closed (`functions.chosen_numbers`)."""
        if edge.id not in self._chosen:
            self._chosen[edge.id] = takes_closed_number(self.cfa, edge)
        return self._chosen[edge.id]

    def changes_nothing(self, edge: Edge) -> bool:
        """Whether an assignment is one of any value to what holds the value of a local `volatile` variable: nothing beside the
        program changes that, so that reading it gives what was stored there last."""
        return edge.id in self._read_again

    def _written(self, edge: Edge, footprints: Footprints) -> frozenset[str]:
        if edge.id in self._read_again:
            return frozenset()
        effect = edge.effect
        written = self._written_by_callees(effect, footprints) if isinstance(effect, ir.Call) else set()
        if isinstance(effect, ir.Unsupported):
            written.update(cell for name in effect.mentions for cell in (name, f"@{name}"))
        target = ir.target_of(effect)
        if target is not None:
            written.add(lvalue_cell(target))
        return frozenset(written)

    def written_by_callees(self, edge: Edge) -> frozenset[str]:
        """The cells that the functions called at the edge can change."""
        found = self._by_callees.get(edge.id)
        if found is None:
            assert isinstance(edge.effect, ir.Call)
            found = frozenset(self._written_by_callees(edge.effect, self._around.footprints))
            written = self.written[edge.id]
            found = self._by_callees[edge.id] = written if found == written else found
        return found

    def overwritten(self, edge: Edge) -> frozenset[str]:
        """The cell of the member that gets the result of a call, if a called function may write it too."""
        cell = _cell_of_result(edge)
        return frozenset((cell,)) if cell is not None and cell in self.written_by_callees(edge) else frozenset()

    def _written_by_callees(self, effect: ir.Call, footprints: Footprints) -> set[str]:
        written: set[str] = set()
        targets = self._around.program.targets(effect)
        for target in targets:
            written |= footprints.written.get(target, frozenset())
        more = external_writes(effect, self._around.program) if self._may_be_external(targets) else self._addressed(effect)
        return (written | more) - set(map(only_by_pointer, more))

    def _same(self, edge: Edge, root: str) -> set[str]:
        """The variables with the same value as one before an edge, that one too."""
        return {root} | {other[0] for other in self.copies.same(edge.source, (root,)) if len(other) == 1}

    def may_miss(self, edge: Edge, path: Path) -> bool:
        """Whether the functions called at an edge can change the value at a path only by what they, or others below them, call
        through pointers, and are not passed the pointer with which the path begins, nor one that leads to it."""
        call, root = edge.effect, path[0]
        if not isinstance(call, ir.Call) or ir.direct_callee(call) is None or root[0] == "@" or root in self.address_taken:
            return False
        same = self._same(edge, root)
        for argument in call.arguments:
            bare = ir.strip_casts(argument)
            if any(isinstance(part, ir.Var) and root_of(part) in same for part in ir.walk(bare)):
                return False
            if isinstance(bare, ir.Var) and any(
                (root, name) in self.assignments.below for name in self._same(edge, root_of(bare))
            ):
                return False
        written = self.written_by_callees(edge)
        return all(only_by_pointer(cell) in written for cell in path_cells(path) if cell in written)

    def _may_be_external(self, targets: tuple[str, ...]) -> bool:
        return not targets or any(target not in self._around.program.functions for target in targets)

    def _addressed(self, call: ir.Call) -> set[str]:
        """Objects whose address is passed: the callee writes them behind its parameter."""
        return {cell for argument in call.arguments if (cell := addressed_cell(argument)) is not None}

    def function_has(self, rule: int, transition: int, path: Path) -> bool:
        """Whether the transition's `if_function_has` holds of the function for the value at the path."""
        return path in self._has_paths(rule, transition)

    def _has_paths(self, rule: int, transition: int) -> frozenset[Path]:
        """The paths for which that holds. What the function calls can do it for its parameter: `void unlock(struct box *b)`."""
        key = (rule, transition)
        found = self._has.get(key)
        if found is None:
            found = self._has[key] = frozenset(self._find_paths(rule, transition))
        return found

    def _find_paths(self, rule: int, transition: int) -> Iterator[Path]:
        matcher, program = self._around.matcher, self._around.program
        yield from matcher.having(self.cfa, program, rule, transition)
        for edge in self.cfa.calls:
            call = edge.effect
            assert isinstance(call, ir.Call)
            for callee in filter(None, map(program.functions.get, program.targets(call))):
                places = {one.name: number for number, one in enumerate(callee.parameters)}
                for root, *operations in matcher.having(callee, program, rule, transition):
                    at = places.get(root, len(call.arguments))
                    path = apply_operations(path_of(call.arguments[at]), tuple(operations)) if at < len(call.arguments) else None
                    if path is not None:
                        yield path

    @cached_property
    def calls_and_tests(self) -> dict[str, tuple[int, int]]:
        """How many calls that use the result of a function there are, by its name, and how many test it."""
        found: dict[str, tuple[int, int]] = {}
        for edge in self.cfa.calls:
            callee = ir.direct_callee(edge.effect) if isinstance(edge.effect, ir.Call) and edge.effect.result else None
            if callee is not None and callee in self._around.program.functions:
                calls, tests = found.get(callee, (0, 0))
                found[callee] = calls + 1, tests + self.tests_result(edge)
        return found

    def stay_behind(self, around: Surroundings) -> None:
        """Another model takes the place of this one: it goes on to ask what is `around` it now when the others have others."""
        self._around = self.cases.around = around

    def forget_rules(self) -> None:
        """Forgets all that depends on the rules, which are others now: it is found out again when it is asked for."""
        for answers in (self._matches, self._has, self._touched, self._sensitive, self._fresh):
            answers.clear()

    def rewrite(self, footprints: Footprints, moved: Moved) -> Rewritten | None:
        """Takes over what the called functions write and read now, if nothing that the model says beside that is concerned; else
        it changes nothing and gives None."""
        differ: dict[int, frozenset[str]] = {}
        written: dict[int, frozenset[str]] = {}
        rewritten: dict[int, frozenset[str]] = {}
        for edge in self.cfa.calls:
            assert isinstance(edge.effect, ir.Call)
            targets = self._around.program.targets(edge.effect)
            writing = [moved.written[target] for target in targets if target in moved.written]
            if writing:
                now = written[edge.id] = self._written(edge, footprints)
                rewritten[edge.id] = unmarked(now ^ self.written[edge.id])
            cells = frozenset[str]().union(*writing, *(moved.read[target] for target in targets if target in moved.read))
            if cells:
                differ[edge.id] = cells
        if not frozenset[str]().union(*rewritten.values()).isdisjoint(self._cells_of_knowledge):
            return None
        for id_ in rewritten:
            cell = _cell_of_result(self.cfa.by_id[id_])
            if cell in differ[id_]:
                rewritten[id_] |= {cell}
        self.written.update(written)
        self._by_callees.clear()
        for id_ in differ:
            self._touched.pop(id_, None)
            self._sensitive.pop(id_, None)
        return Rewritten(differ, {id_: cells for id_, cells in rewritten.items() if cells})

    @property
    def _cells_of_knowledge(self) -> frozenset[str]:
        """The cells of which the model knows something that a write can end."""
        found = frozenset[str]().union(*self.conditions.cells)
        if "entry_values" in self.__dict__:
            found |= self.entry_values.cells
        return found | self.copies.cells if not self.__dict__.keys().isdisjoint(("copies", "entry_values")) else found

    def answers_like(self, other: FunctionModel) -> bool:
        """Whether all that the other model was asked of the function as a whole has the same answer here."""
        if "entry_values" in other.__dict__ and not self.entry_values.is_asked_like(other.entry_values):
            return False
        asked = self._around.matcher.asking
        return all(self._has_paths(*one) == other._has_paths(*one) for one in asked) and all(
            self.is_fresh(root, rule) == answer for (rule, root), answer in list(other._fresh.items())
        )

    def tests_result(self, edge: Edge) -> bool:
        """Whether the function tests the result of a call, or what it stores that in, after the call; or hands it out as its
        own."""
        found = self._tests.get(edge.id)
        if found is None:
            found = self._tests[edge.id] = self._finds_test(edge)
        return found

    def _finds_test(self, edge: Edge) -> bool:
        call = edge.effect
        assert isinstance(call, ir.Call)
        held = {call.result, *self.assignments.copied.get(call.result, ())}
        if not held.isdisjoint(self.assignments.returned):
            return True
        tested = {self.conditions.numbers[key] for key in held & self.conditions.tested}
        return bool(tested) and self._is_tested_after(edge, tested)

    def _is_tested_after(self, edge: Edge, keys: Set[int]) -> bool:
        """Whether a branch that tests one of these condition keys can follow the edge."""
        seen, work = {edge.target}, [edge.target]
        while work:
            for after in self.cfa.outgoing.get(work.pop(), ()):
                test = self.conditions.of_edge.get(after.id)
                if test is not None and test[0] in keys:
                    return True
                if after.target not in seen:
                    seen.add(after.target)
                    work.append(after.target)
        return False

    @cached_property
    def tested_paths(self) -> frozenset[Path]:
        """The paths to the pointers that the function tests."""
        paths = (path_of(key) for key in self.conditions.tested if isinstance(key.type, Pointer))
        return frozenset(path for path in paths if path is not None)

    @cached_property
    def copies(self) -> AvailableCopies:
        """Which paths hold the same value where."""
        return AvailableCopies(self.cfa, self.written)

    @cached_property
    def _private(self) -> PrivateObjects:
        return PrivateObjects(self.cfa, self._around.program, self._around.footprints.kept, self.address_taken)

    def private_at(self, edge: Edge) -> frozenset[str]:
        """The variables that lead to blocks which a call cannot reach."""
        return self._private.before(edge) if isinstance(edge.effect, ir.Call) else frozenset()

    @cached_property
    def entry_values(self) -> EntryValues:
        """Which paths hold the same value where, or what they held at the entry, when a run comes there for the first time."""
        conditions = self.conditions
        null = {edge: path_of(conditions.keys[number]) for edge, (number, said) in conditions.of_edge.items() if said == ZERO}
        return EntryValues(self.cfa, self.written, {edge: path for edge, path in null.items() if path is not None})

    def copies_left_behind(self, edge: Edge) -> Copies:
        """The copies that a call may leave behind (`left_behind`)."""
        return self.entry_values.copies(edge.source) if isinstance(edge.effect, ir.Call) else NONE

    def left_behind(self, edge: Edge, paths: Iterable[Path]) -> set[Path]:
        """The paths at the entry, as callers know them, to what these paths hold before the edge, where the function may store
        something else there."""
        return self.entry_values.left_behind(edge, [path for path in paths if path[0][0] == "@" or path[0] in self.parameters])

    def parameter_keys(self, paths: tuple[Path, ...]) -> list[int]:
        """The condition keys of those paths that are parameters which the function does not change."""
        reassigned = self.assignments.reassigned
        unchanged = [path[0] for path in paths if len(path) == 1 and path[0] in self.parameters and path[0] not in reassigned]
        variables = (self.cfa.parameters[self.parameters[root]] for root in unchanged)
        return [self.conditions.numbers[var] for var in variables if var in self.conditions.numbers]

    def is_fresh(self, root: str, rule: int) -> bool:
        """Whether the variable only ever holds objects that the function itself made by a starting call of
        the rule, or one that allocates, so that nobody else knows them. A parameter that the function does not change counts as
        well: it holds the caller's object."""
        if root in self.parameters:
            return root not in self.assignments.reassigned
        key = (rule, root)
        if key not in self._fresh:
            self._fresh[key] = all(self._starts(edge, rule) for edge in self.assignments.stores(root))
        return self._fresh[key]

    def _starts(self, edge: Edge, rule: int) -> bool:
        effect = edge.effect
        if isinstance(effect, ir.Assign):
            return isinstance(ir.strip_casts(effect.value), ir.Undefined | ir.IntConst)
        if any(match.rule == rule and match.source == START for match in self.matches(edge).after):
            return True
        function = known(ir.direct_callee(effect) or "") if isinstance(effect, ir.Call) else None
        return function is not None and function.result == "block" and not function.frees

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
        """Whether what is known decides the branch; or whether, after a test that a value is not a constant, one value is left
        of those that are known, such as the last of a called function's results."""
        known = self.cases.known.at[edge.source]
        test = self.conditions.of_edge.get(edge.id)
        if known is None or test is None:
            return False
        number, interval = test
        if decide(number, interval, known, self.conditions.limits[number]) is True:
            return True
        if interval.low is not None or interval.high is not None:
            return False
        left = meet(known.get(number, ANY), interval)
        return left is not None and left.low is not None and left.low == left.high


def _cell_of_result(edge: Edge) -> str | None:
    """The cell of the member that gets the result of a call: whether called functions write it too is not seen in `written`."""
    target = ir.target_of(edge.effect) if isinstance(edge.effect, ir.Call) else None
    return lvalue_cell(target) if isinstance(target, ir.Field) else None


def is_constant_text(literal: str) -> bool:
    """Whether the text of an assertion (as a string literal) is 0, false, or a negated string, perhaps joined with a message."""
    inside = literal.strip('"').replace('\\"', '"')
    outside = "".join(inside.split('"')[::2])
    return not any(char.isalpha() or char == "_" for char in outside.replace("false", "").replace("NULL", ""))


def _read_again(cfa: Cfa) -> frozenset[int]:
    """The edges that assign any value to a temporary to which a local variable was assigned just before: lowering reads what is
    `volatile` so (`frontend.declarations.volatile`)."""
    found = set()
    for edge in cfa.edges:
        effect = edge.effect
        if not isinstance(effect, ir.Assign) or not isinstance(effect.value, ir.Unknown) or not isinstance(effect.target, ir.Var):
            continue
        before = cfa.incoming.get(edge.source, ())
        read = before[0].effect if len(before) == 1 else None
        if not isinstance(read, ir.Assign) or read.target != effect.target or not isinstance(read.value, ir.Var):
            continue
        if read.value.scope in ("local", "parameter"):
            found.add(edge.id)
    return frozenset(found)


def asks_for_failures(effect: ir.Effect) -> bool:
    """Whether it matters at the effect what has failed before: the function returns, or sets a pointer of its own to null, as
    functions do before they return it."""
    if isinstance(effect, ir.Return):
        return True
    if not isinstance(effect, ir.Assign) or not isinstance(effect.target, ir.Var) or effect.target.scope == "global":
        return False
    value = ir.strip_casts(effect.value)
    return isinstance(value, ir.IntConst) and value.value == 0 and isinstance(effect.target.type, Pointer)


@lru_cache(maxsize=10_000)
def fact_names(paths: tuple[Path, ...]) -> frozenset[str]:
    """The roots and cells on which the paths depend; disjoint from an edge's `touched`, the edge does nothing to them."""
    return frozenset((ANY_NAME, *(name for path in paths for name in (path[0], *path_cells(path)))))
