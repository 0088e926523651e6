"""All that the engine precomputes of one function: conditions, what is known where, written cells and pattern matches.

A model depends on the function's CFA, the rules, the types of what it calls, and the cells that its callees can write; it
lives as long as these are unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from functools import cached_property, lru_cache

import msgspec

from analysis.cfa.graph import Cfa, Edge, Program
from analysis.engines.automaton.conditions import Conditions, Known, KnownConditions, bare, decide, natural_range
from analysis.engines.automaton.copies import AvailableCopies
from analysis.engines.automaton.footprint import Footprints, Moved, address_taken, external_writes
from analysis.engines.automaton.matching import EdgeMatches, Matcher
from analysis.engines.automaton.paths import Path, lvalue_cell, path_cells, path_of, root_of
from analysis.engines.automaton.returning import call_returns
from analysis.model import ir
from analysis.model.c_types import Pointer
from analysis.model.intervals import ANY, NONZERO, ZERO, Interval, join
from analysis.rules.automaton import START

_SETJMP = frozenset({"setjmp", "_setjmp", "__sigsetjmp", "sigsetjmp", "__builtin_setjmp"})
ANY_NAME = "<any>"  # among the names of every fact
EVERYTHING = (ANY_NAME,)


class Case(msgspec.Struct, frozen=True, cache_hash=True):
    """What is known of a call's arguments, by index; ~index stands for the first character of a string."""

    shallow: bool
    told: tuple[tuple[int, Interval], ...]


class Rewritten(msgspec.Struct, frozen=True):
    """What differs in a function where the footprints of those that it calls do: the cells written or read, by call edge, and all
    those that its calls write now and did not, or the other way round."""

    calls: dict[int, frozenset[str]]
    written: frozenset[str]


class FunctionModel:
    """The engine's view of one function of a program."""

    def __init__(
        self,
        cfa: Cfa,
        program: Program,
        footprints: Footprints,
        matcher: Matcher,
        lookup: Callable[[str], FunctionModel],
        constants: Mapping[str, Interval],
    ) -> None:
        self.cfa = cfa
        self._lookup = lookup
        self._constants = constants
        self._program = program
        self._footprints = footprints
        self._matcher = matcher
        self.address_taken = address_taken(cfa)
        self.conditions = Conditions(cfa, self.address_taken)
        self.written = {edge.id: self._written(edge, footprints) for edge in cfa.edges}
        self.cases: dict[Case, Interval | None] = {}
        self.parameters = {root_of(var): index for index, var in enumerate(cfa.parameters)}
        self._matches: dict[int, EdgeMatches] = {}
        self._has: dict[tuple[int, int, Path], bool] = {}
        self._touched: dict[int, frozenset[str]] = {}
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
            names.update(root_of(part) for part in self.cfa.parts[edge.id] if isinstance(part, ir.Var))
            matches = self.matches(edge)
            for match in (*matches.before, *matches.after):
                if match.path is not None:
                    names.add(match.path[0])
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
        if isinstance(effect, ir.Call):
            for target in self._program.targets(effect):
                if target in self._footprints.returning:
                    found |= self._footprints.read[target]
        return found

    def passes(self, edge: Edge) -> bool:
        """Whether control can get past the edge: always, but for calls that never return."""
        return edge.id not in self._dead_ends

    # -- what calls do ------------------------------------------------------------------------------------------

    @cached_property
    def known(self) -> KnownConditions:
        """What is known where, whoever calls the function."""
        return self._solve(self._globals, self._results)

    def _solve(self, initial: Known, results: Mapping[int, Interval]) -> KnownConditions:
        return KnownConditions(self.cfa, self.conditions, self.written, self._dead_ends, results, initial)

    @cached_property
    def _globals(self) -> Known:
        """What is known of globals where the function begins."""
        return {
            number: value
            for key, number in self.conditions.numbers.items()
            if isinstance(key, ir.Var) and (value := self._constants.get(key.name)) is not None and key.scope == "global"
        }

    def asks_for(self, names: Set[str]) -> bool:
        """Whether what is known where the function begins depends on one of these globals."""
        return any(isinstance(key, ir.Var) and key.scope == "global" and key.name in names for key in self.conditions.keys)

    @cached_property
    def _setjmp(self) -> dict[int, Interval]:
        """The results of `setjmp` as long as nothing jumps: it returns once, with zero."""
        jumps = (e.id for e in self.cfa.calls if isinstance(e.effect, ir.Call) and ir.direct_callee(e.effect) in _SETJMP)
        return dict.fromkeys(jumps, ZERO)

    @cached_property
    def _dead_ends(self) -> frozenset[int]:
        """The calls that never return, whatever they are passed or with what they are passed here."""
        cases = (e.id for e in self.cfa.calls if isinstance(e.effect, ir.Call) and self._constant_case(e.effect) is None)
        return self._hopeless.union(cases)

    @cached_property
    def _hopeless(self) -> frozenset[int]:
        returning = self._footprints.returning
        calls = ((edge.id, edge.effect) for edge in self.cfa.calls)
        return frozenset(
            id_ for id_, call in calls if isinstance(call, ir.Call) and not call_returns(call, self._program, returning)
        )

    @cached_property
    def _results(self) -> dict[int, Interval]:
        """What is known of the results of calls, by edge, where that is anything."""
        cases = (
            (e.id, self._constant_case(e.effect)) for e in self.cfa.calls if isinstance(e.effect, ir.Call) and e.effect.result
        )
        return {id_: case for id_, case in cases if case is not None and case != ANY}

    def _constant_case(self, call: ir.Call) -> Interval | None:
        """The result of a call that is passed these constants; None if it never returns."""

        def constant(argument: ir.Expr) -> Interval:
            value = ir.strip_casts(argument)
            if isinstance(value, ir.IntConst):
                return Interval(value.value, value.value, value.value != 0)
            return NONZERO if isinstance(value, ir.StringConst | ir.AddressOf) else ANY

        return self.result_of(call, [constant(argument) for argument in call.arguments])

    def result_of(self, call: ir.Call, values: Sequence[Interval]) -> Interval | None:
        """The result of a call whose arguments are in the given intervals; None if it never returns.

        Nothing is known of functions without a body and of several targets.
        """
        name = ir.direct_callee(call)
        components = self._footprints.component
        if name is None or name not in components:
            return ANY
        if name not in self._footprints.returning:
            return None
        return self._lookup(name).case(call.arguments, values, components[name] == components[self.cfa.name])

    def case(self, arguments: Sequence[ir.Expr], values: Sequence[Interval], shallow: bool) -> Interval | None:
        """The function's result for arguments in the given intervals, None if it never returns then, or only because of a
        `longjmp`. Of the arguments themselves only strings matter, for their first character. `shallow`: in recursion; what
        the function's own calls do is not asked."""
        told: list[tuple[int, Interval]] = []
        for index, (argument, value) in enumerate(zip(arguments, values, strict=False)):
            value = coarse(value)
            if value != ANY and index in self.asked[0]:
                told.append((index, value))
            literal = ir.strip_casts(argument)
            character = first_character(literal) if isinstance(literal, ir.StringConst) else None
            if character is not None and index in self.asked[1]:
                told.append((~index, Interval(character, character, character != 0)))
        return self.answer(Case(shallow, tuple(told)))

    def answer(self, case: Case) -> Interval | None:
        """The result in a case."""
        if case not in self.cases:
            whole, first = self.asked
            initial = {(whole[index] if index >= 0 else first[~index]): value for index, value in case.told}
            self.cases[case] = self._result(self._assuming(initial, case.shallow))
        return self.cases[case]

    @cached_property
    def asked(self) -> tuple[dict[int, int], dict[int, int]]:
        """The condition keys that are parameters, and those that are the first characters of parameters, by index."""
        whole, first = {}, {}
        for index, parameter in enumerate(self.cfa.parameters):
            if parameter in self.conditions.numbers:
                whole[index] = self.conditions.numbers[parameter]
            if parameter in self._first_characters:
                first[index] = self._first_characters[parameter]
        return whole, first

    def looks_like(self, other: FunctionModel) -> bool:
        """Whether callers cannot tell the function from another version of it, beside its footprint."""
        mine, others = self.asked, other.asked
        return (
            [set(keys) for keys in mine] == [set(keys) for keys in others]
            and self.can_return == other.can_return
            and self.ensures == other.ensures
            and all(self.answer(case) == result for case, result in list(other.cases.items()))
        )

    def _assuming(self, initial: Known, shallow: bool) -> KnownConditions:
        jumps = self._setjmp
        if shallow:
            return KnownConditions(self.cfa, self.conditions, self.written, self._hopeless, jumps, {**self._globals, **initial})
        if not initial and not jumps:
            return self.known
        return self._solve({**self._globals, **initial}, {**self._results, **jumps})

    def _result(self, known: KnownConditions) -> Interval | None:
        if known.at[self.cfa.exit] is None:
            return None
        found: Interval | None = None
        for edge in self.cfa.incoming.get(self.cfa.exit, ()):
            here = known.at[edge.source]
            if here is None or not isinstance(edge.effect, ir.Return):
                continue
            value = ANY if edge.effect.value is None else self.conditions.evaluate(edge.effect.value, here)
            found = value if found is None else join(found, value)
        return ANY if found is None else found

    @cached_property
    def can_return(self) -> bool:
        """Whether the function can return."""
        return self.known.at[self.cfa.exit] is not None

    @cached_property
    def ensures(self) -> tuple[tuple[int, bool], ...]:
        """The parameters, by index, that are not zero (True) or zero whenever the function returns, like that of an `assume`."""
        at_exit = self.known.at[self.cfa.exit] or {}
        found = []
        for index, parameter in enumerate(self.cfa.parameters):
            value = at_exit.get(self.conditions.numbers.get(parameter, -1), ANY)
            if root_of(parameter) not in self.reassigned and (value.nonzero or value == ZERO):
                found.append((index, value.nonzero))
        return tuple(found)

    @cached_property
    def _first_characters(self) -> dict[ir.Var, int]:
        """The condition keys that are the first character of a string parameter."""
        found = {}
        for key, number in self.conditions.numbers.items():
            key = bare(key)
            if isinstance(key, ir.Deref) and isinstance(pointer := bare(key.pointer), ir.Var) and pointer.scope == "parameter":
                found[pointer] = number
        return found

    def single_entry(self, location: int) -> bool:
        """Whether just one edge enters the location."""
        return location in self._single_entries

    @cached_property
    def _single_entries(self) -> frozenset[int]:
        cfa = self.cfa
        return frozenset(place for place, edges in cfa.incoming.items() if len(edges) == 1 and place not in (cfa.entry, cfa.exit))

    def _written(self, edge: Edge, footprints: Footprints) -> frozenset[str]:
        effect = edge.effect
        if isinstance(effect, ir.Assign):
            return frozenset((lvalue_cell(effect.target),))
        if not isinstance(effect, ir.Call):
            return frozenset()
        written = self._written_by_callees(effect, footprints)
        if effect.result is not None:
            written.add(lvalue_cell(effect.result))
        return frozenset(written)

    def written_by_callees(self, edge: Edge) -> frozenset[str]:
        """The cells that the functions called at the edge can change."""
        assert isinstance(edge.effect, ir.Call)
        return frozenset(self._written_by_callees(edge.effect, self._footprints))

    def _written_by_callees(self, effect: ir.Call, footprints: Footprints) -> set[str]:
        written: set[str] = set()
        targets = self._program.targets(effect)
        for target in targets:
            written |= footprints.written.get(target, frozenset())
        written |= external_writes(effect, self._program.records) if self._may_be_external(targets) else self._addressed(effect)
        return written

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
    def calls_and_tests(self) -> dict[str, tuple[int, int]]:
        """How many calls that use the result of a function there are, by its name, and how many test it."""
        found: dict[str, tuple[int, int]] = {}
        for edge in self.cfa.calls:
            callee = ir.direct_callee(edge.effect) if isinstance(edge.effect, ir.Call) and edge.effect.result else None
            if callee is not None and callee in self._program.functions:
                calls, tests = found.get(callee, (0, 0))
                found[callee] = calls + 1, tests + self.tests_result(edge)
        return found

    def rebase(self, lookup: Callable[[str], FunctionModel], footprints: Footprints, matcher: Matcher, program: Program) -> None:
        """Takes the model over into another revision, in which the function and all that the model says are the same."""
        self._lookup = lookup
        self._footprints = footprints
        self._matcher = matcher
        self._program = program

    def forget_rules(self) -> None:
        """Forgets all that depends on the rules, which are others now: it is found out again when it is asked for."""
        for known in (self._matches, self._has, self._touched, self._sensitive, self._fresh):
            known.clear()

    def rewrite(self, footprints: Footprints, moved: Moved) -> Rewritten | None:
        """Takes over what the called functions write and read now, if nothing that the model says beside that is concerned; else
        it changes nothing and gives None."""
        differ: dict[int, frozenset[str]] = {}
        written: dict[int, frozenset[str]] = {}
        for edge in self.cfa.calls:
            assert isinstance(edge.effect, ir.Call)
            targets = self._program.targets(edge.effect)
            writing = [moved.written[target] for target in targets if target in moved.written]
            if writing:
                written[edge.id] = self._written(edge, footprints)
            cells = frozenset[str]().union(*writing, *(moved.read[target] for target in targets if target in moved.read))
            if cells:
                differ[edge.id] = cells
        rewritten = frozenset[str]().union(*(cells ^ self.written[id_] for id_, cells in written.items()))
        if not rewritten.isdisjoint(self._cells_of_knowledge):
            return None
        self.written.update(written)
        for id_ in differ:
            self._touched.pop(id_, None)
            self._sensitive.pop(id_, None)
        return Rewritten(differ, rewritten)

    @property
    def _cells_of_knowledge(self) -> frozenset[str]:
        """The cells of which the model knows something that a write can end."""
        found = frozenset[str]().union(*self.conditions.cells)
        return found | self.copies.cells if "copies" in self.__dict__ else found

    def answers_like(self, other: FunctionModel) -> bool:
        """Whether all that the other model was asked of the function as a whole has the same answer here."""
        return all(self.function_has(*asked) == answer for asked, answer in list(other._has.items())) and all(
            self.is_fresh(root, rule) == answer for (rule, root), answer in list(other._fresh.items())
        )

    def tests_result(self, edge: Edge) -> bool:
        """Whether the function tests the result of a call, or what it stores that in, somewhere; or hands it out as its own."""
        call = edge.effect
        assert isinstance(call, ir.Call)
        held = {call.result, *self._copied.get(call.result, ())}
        return not (held.isdisjoint(self._returned) and held.isdisjoint(self.conditions.tested))

    @cached_property
    def _copied(self) -> Mapping[ir.Expr | None, set[ir.Expr]]:
        """What is assigned to what: by the value, casts aside, the targets."""
        found: dict[ir.Expr | None, set[ir.Expr]] = {}
        for edge in self.cfa.edges:
            if isinstance(edge.effect, ir.Assign):
                found.setdefault(ir.strip_casts(edge.effect.value), set()).add(edge.effect.target)
        return found

    @cached_property
    def _returned(self) -> frozenset[ir.Expr]:
        """What the function returns, casts aside."""
        effects = (edge.effect for edge in self.cfa.edges)
        return frozenset(ir.strip_casts(e.value) for e in effects if isinstance(e, ir.Return) and e.value is not None)

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


def coarse(value: Interval) -> Interval:
    """A constant, null or not null: what tells cases of a function apart."""
    if value.low is not None and value.low == value.high:
        return value
    return NONZERO if value.nonzero else ANY


def first_character(literal: ir.StringConst) -> int | None:
    """The first character's value, None where the literal is not plain."""
    inside = literal.text[1:-1] if literal.text.startswith('"') else ""
    if literal.text == '""':
        return 0
    return ord(inside[0]) if inside and inside[0] != "\\" and inside.isascii() else None


def is_constant_text(literal: str) -> bool:
    """Whether the text of an assertion (as a string literal) is 0, false, or a negated string, perhaps joined with a message."""
    inside = literal.strip('"').replace('\\"', '"')
    outside = "".join(inside.split('"')[::2])
    return not any(char.isalpha() or char == "_" for char in outside.replace("false", "").replace("NULL", ""))


@lru_cache(maxsize=100_000)
def fact_names(paths: tuple[Path, ...]) -> frozenset[str]:
    """The roots and cells on which the paths depend; disjoint from an edge's `touched`, the edge does nothing to them."""
    return frozenset((ANY_NAME, *(name for path in paths for name in (path[0], *path_cells(path)))))
