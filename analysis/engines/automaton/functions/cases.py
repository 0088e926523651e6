"""What a function returns, by what it is passed, and whether it returns at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from functools import cached_property

import msgspec

from analysis.c.control import SETJMP
from analysis.c.declared import agrees
from analysis.cfa.graph import Cfa, Edge, Program
from analysis.engines.automaton.functions.access_paths import root_of
from analysis.engines.automaton.functions.constant_runs import only_computes, result_for
from analysis.engines.automaton.functions.footprint import Footprints
from analysis.engines.automaton.functions.known_conditions import Conditions, Known, KnownConditions, bare
from analysis.engines.automaton.functions.matching import Matcher
from analysis.engines.automaton.functions.returning import call_returns
from analysis.engines.automaton.functions.told_conditions import Told, told
from analysis.engines.automaton.functions.value_ranges import stored_as
from analysis.engines.automaton.functions.variable_sources import Assignments
from analysis.model import ir
from analysis.model.intervals import ANY, NONZERO, ZERO, Interval, join, meet


class Case(msgspec.Struct, frozen=True, cache_hash=True):
    """What is known of a call's arguments, by index; ~index stands for the first character of a string."""

    shallow: bool
    given: tuple[tuple[int, Interval], ...]


class Surroundings:
    """What models of functions ask beside their own function. All models of a revision share one. It is brought up to date for
    the next one, so that unchanged functions keep their models, and none of these is looked at for it."""

    def __init__(self, program: Program, footprints: Footprints, matcher: Matcher, cases: Callable[[str], Cases]) -> None:
        self.program = program
        self.footprints = footprints
        self.matcher = matcher
        self.cases = cases


class Cases:
    """The cases of one function that were asked about. `written` are the cells that its edges write, as they are now."""

    def __init__(
        self,
        cfa: Cfa,
        conditions: Conditions,
        assignments: Assignments,
        written: Mapping[int, frozenset[str]],
        constants: Mapping[str, Interval],
        around: Surroundings,
    ) -> None:
        self._cfa = cfa
        self._conditions = conditions
        self._assignments = assignments
        self._written = written
        self._constants = constants
        self.around = around
        self._known: dict[Case, Interval | None] = {}
        self._ran: dict[tuple[int, ...], int | None] = {}  # on constants

    def passes(self, edge: Edge) -> bool:
        """Whether control can get past the edge: always, but for calls that never return."""
        return edge.id not in self._dead_ends

    def feasible(self, edge: Edge) -> bool:
        """Whether the edge can be taken at all, by what is known at its source."""
        known = self.known.at[edge.source]
        if known is None or not isinstance(edge.effect, ir.Assume):
            return known is not None
        return self.known.after(edge, known) is not None

    @cached_property
    def known(self) -> KnownConditions:
        """What is known where, whoever calls the function."""
        return self._solve(self._globals, self._results)

    def _solve(self, initial: Known, results: Mapping[int, Interval]) -> KnownConditions:
        return KnownConditions(self._cfa, self._conditions, self._written, self._dead_ends, results, initial)

    @cached_property
    def _globals(self) -> Known:
        """What is known of globals where the function begins."""
        return {
            number: value
            for key, number in self._conditions.numbers.items()
            if isinstance(key, ir.Var) and (value := self._constants.get(key.name)) is not None and key.scope == "global"
        }

    def asks_for(self, names: Set[str]) -> bool:
        """Whether what is known where the function begins depends on one of these globals."""
        return any(isinstance(key, ir.Var) and key.scope == "global" and key.name in names for key in self._conditions.keys)

    @cached_property
    def _setjmp(self) -> dict[int, Interval]:
        """The results of `setjmp` as long as nothing jumps: it returns once, with zero."""
        jumps = (e.id for e in self._cfa.calls if isinstance(e.effect, ir.Call) and ir.direct_callee(e.effect) in SETJMP)
        return dict.fromkeys(jumps, ZERO)

    @cached_property
    def _dead_ends(self) -> frozenset[int]:
        """The calls that never return, whatever they are passed or with what they are passed here."""
        cases = (e.id for e in self._cfa.calls if isinstance(e.effect, ir.Call) and self._constant_case(e.effect) is None)
        return self._hopeless.union(cases)

    @cached_property
    def _hopeless(self) -> frozenset[int]:
        returning = self.around.footprints.returning
        calls = ((edge.id, edge.effect) for edge in self._cfa.calls)
        return frozenset(
            id_ for id_, call in calls if isinstance(call, ir.Call) and not call_returns(call, self.around.program, returning)
        )

    @cached_property
    def _results(self) -> dict[int, Interval]:
        """What is known of the results of calls, by edge, where that is anything."""
        cases = (
            (e.id, self._constant_case(e.effect)) for e in self._cfa.calls if isinstance(e.effect, ir.Call) and e.effect.result
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

        Nothing else is known of external functions, and nothing of several targets.
        """
        name = ir.direct_callee(call)
        components = self.around.footprints.component
        if name is None or name not in components:
            is_end = name is not None and self._ends(name) and bool(values) and meet(values[0], ZERO) is None
            return None if is_end else ANY
        if name not in self.around.footprints.returning:
            return None
        callee = self.around.cases(name)
        found = callee.case(call.arguments, values, components[name] == components[self._cfa.name])
        returned = callee._cfa.type.result
        return found if found is None or call.result is None else stored_as(found, returned, call.result.type)

    def _ends(self, name: str) -> bool:
        """Whether an external function ends the program unless its first argument is 0."""
        program = self.around.program
        library, declared = program.known(name), program.externals.get(name)
        return library is not None and library.ends_on_status and declared is not None and agrees(name, declared.type)

    def case(self, arguments: Sequence[ir.Expr], values: Sequence[Interval], shallow: bool) -> Interval | None:
        """The function's result for arguments in the given intervals, None if it never returns then, or only because of a
        `longjmp`. Of the arguments themselves only strings matter, for their first character. `shallow`: in recursion; what
        the function's own calls do is not asked."""
        ran = self._run_on(values)
        if ran is not None:
            return Interval(ran, ran, ran != 0)
        given: list[tuple[int, Interval]] = []
        for index, (argument, value) in enumerate(zip(arguments, values, strict=False)):
            value = coarse(value)
            if value != ANY and index in self.asked[0]:
                given.append((index, value))
            literal = ir.strip_casts(argument)
            character = first_character(literal) if isinstance(literal, ir.StringConst) else None
            if character is not None and index in self.asked[1]:
                given.append((~index, Interval(character, character, character != 0)))
        return self.answer(Case(shallow, tuple(given)))

    def _run_on(self, values: Sequence[Interval]) -> int | None:
        """The result of a function that only computes, where each argument is a constant."""
        constants = tuple(value.low for value in values if value.low is not None and value.low == value.high)
        if len(constants) != len(self._cfa.parameters) or len(constants) != len(values) or not only_computes(self._cfa):
            return None
        return self._ran_on(constants)

    def _ran_on(self, constants: tuple[int, ...]) -> int | None:
        if constants not in self._ran:
            self._ran[constants] = result_for(self._cfa, constants)
        return self._ran[constants]

    def answer(self, case: Case) -> Interval | None:
        """The result in a case."""
        if case not in self._known:
            whole, first = self.asked
            initial = {(whole[index] if index >= 0 else first[~index]): value for index, value in case.given}
            self._known[case] = self._result(self._assuming(initial, case.shallow))
        return self._known[case]

    @cached_property
    def asked(self) -> tuple[dict[int, int], dict[int, int]]:
        """The condition keys that are parameters, and those that are the first characters of parameters, by index."""
        whole, first = {}, {}
        for index, parameter in enumerate(self._cfa.parameters):
            if parameter in self._conditions.numbers:
                whole[index] = self._conditions.numbers[parameter]
            if parameter in self._first_characters:
                first[index] = self._first_characters[parameter]
        return whole, first

    def looks_like(self, other: Cases) -> bool:
        """Whether callers cannot tell the function from another version of it, beside its footprint."""
        mine, others = self.asked, other.asked
        return (
            [set(keys) for keys in mine] == [set(keys) for keys in others]
            and self.can_return == other.can_return
            and self.ensures == other.ensures
            and (self.formula, self.told, self._cfa.parameters) == (other.formula, other.told, other._cfa.parameters)
            and only_computes(self._cfa) == only_computes(other._cfa)
            and all(self.answer(case) == result for case, result in list(other._known.items()))
            and all(self._ran_on(constants) == result for constants, result in list(other._ran.items()))
        )

    def _assuming(self, initial: Known, shallow: bool) -> KnownConditions:
        jumps, start = self._setjmp, {**self._globals, **initial}
        if shallow:
            return KnownConditions(self._cfa, self._conditions, self._written, self._hopeless, jumps, start)
        if not initial and not jumps:
            return self.known
        return self._solve(start, {**self._results, **jumps})

    def _result(self, known: KnownConditions) -> Interval | None:
        if known.at[self._cfa.exit] is None:
            return None
        found: Interval | None = None
        for edge in self._cfa.incoming.get(self._cfa.exit, ()):
            here = known.at[edge.source]
            if here is None or not isinstance(edge.effect, ir.Return):
                continue
            value = ANY if edge.effect.value is None else self._conditions.evaluate(edge.effect.value, here)
            found = value if found is None else join(found, value)
        return ANY if found is None else found

    @cached_property
    def can_return(self) -> bool:
        """Whether the function can return."""
        return self.known.at[self._cfa.exit] is not None

    @cached_property
    def formula(self) -> ir.Expr | None:
        """What a function returns that does nothing else, as an expression over its parameters and the memory that it reads:
        `return code > LIMIT;`, `return list->head;`. None for all other functions; those that return a constant have a case."""
        effects = [edge.effect for edge in self._cfa.edges]
        if len(effects) != 1 or not isinstance(effects[0], ir.Return) or effects[0].value is None:
            return None
        return effects[0].value if any(True for _ in ir.variables(effects[0].value)) else None

    @cached_property
    def ensures(self) -> tuple[tuple[int, bool], ...]:
        """The parameters, by index, that are not zero (True) or zero whenever the function returns, like that of an `assume`."""
        at_exit = self.known.at[self._cfa.exit] or {}
        found = []
        for index, parameter in enumerate(self._cfa.parameters):
            value = at_exit.get(self._conditions.numbers.get(parameter, -1), ANY)
            if root_of(parameter) not in self._assignments.reassigned and (value.nonzero or value == ZERO):
                found.append((index, value.nonzero))
        return tuple(found)

    @cached_property
    def told(self) -> Told:
        """What the function's result tells of its arguments."""
        return told(self._cfa, self._conditions, self._assignments, self.known)

    @cached_property
    def _first_characters(self) -> dict[ir.Var, int]:
        """The condition keys that are the first character of a string parameter."""
        found = {}
        for key, number in self._conditions.numbers.items():
            key = bare(key)
            if isinstance(key, ir.Deref) and isinstance(pointer := bare(key.pointer), ir.Var) and pointer.scope == "parameter":
                found[pointer] = number
        return found


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
