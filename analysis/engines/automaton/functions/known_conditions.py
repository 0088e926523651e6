"""What branches imply: conditions as (expression, interval), and what is surely known of them at each location.

A condition `e op constant` says that e lies in an interval; any other condition c says that c is (not) zero. The tested
expressions of a function are its *condition keys*, numbered in order. Two branches on the same key are correlated until
something that the key reads is written. That is enough for flags, return codes, repeated tests and null tests; it is no
arithmetic: `i + 1` is unknown.

`KnownConditions` is a forward must-analysis (conditional constant propagation [CONSTANTS], without SSA) of
one function: at each location the keys whose interval holds on every path there.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from heapq import heappop, heappush

from analysis.cfa.graph import Cfa, Edge
from analysis.engines.automaton.functions.access_paths import cells_read
from analysis.engines.automaton.functions.flag_bits import bits_after, changed_bits, without_complement
from analysis.engines.automaton.functions.value_ranges import limits, natural_range
from analysis.model import ir
from analysis.model.c_types import Floating, Integer, Pointer, spell
from analysis.model.comparisons import MIRRORED, NEGATED
from analysis.model.intervals import ANY, NONZERO, ZERO, Interval, interval_of, join, make, meet, within
from analysis.model.ranges import keeps

_WIDENING_VISITS = 3

Condition = tuple[ir.Expr, Interval]
Known = dict[int, Interval]


def bare(expr: ir.Expr) -> ir.Expr:
    """The expression without conversions that keep every value."""
    while isinstance(expr, ir.Cast):
        inner, outer = expr.operand.type, expr.type
        if isinstance(inner, Pointer) and isinstance(outer, Pointer):
            expr = expr.operand
        elif isinstance(inner, Integer) and isinstance(outer, Integer):
            if not keeps(inner, outer):
                return expr
            expr = expr.operand
        else:
            return expr
    return expr


@lru_cache(maxsize=10_000)
def condition_of(assume: ir.Assume) -> Condition | None:
    """What the branch implies, None if that is nothing; a branch that cannot be taken is ZERO for the constant 1."""
    expr, truth = bare(assume.condition), assume.truth
    while isinstance(expr, ir.Unary) and expr.operator == "!":
        expr, truth = bare(expr.operand), not truth
    if isinstance(expr, ir.Binary) and expr.operator in MIRRORED and not isinstance(expr.left.type, Floating):
        operator = expr.operator if truth else NEGATED[expr.operator]
        left, right = bare(expr.left), bare(expr.right)
        if isinstance(left, ir.IntConst):
            left, right, operator = right, left, MIRRORED[operator]
        if isinstance(right, ir.IntConst):
            interval = interval_of(operator, right.value)
            return None if interval is None else _nested(left, interval)
        # a >= b and a > b as the negation of a < b and as b < a, so that equal tests get equal keys
        positive = operator in ("==", "<", ">")
        canonical = operator if positive else NEGATED[operator]
        if canonical == ">":
            left, right, canonical = right, left, "<"
        return ir.Binary(canonical, left, right, expr.type), NONZERO if positive else ZERO  # type: ignore[arg-type]
    return _of_bit(expr, NONZERO if truth else ZERO)


def _nested(expr: ir.Expr, interval: Interval) -> Condition | None:
    """`(a < b) == 0` and the like are conditions on `a < b`."""
    if isinstance(expr, ir.Binary) and expr.operator in MIRRORED and interval in (ZERO, NONZERO, make(1, 1, False)):
        return condition_of(ir.Assume(expr, interval != ZERO))
    return _of_bit(expr, interval)


def _of_bit(expr: ir.Expr, interval: Interval) -> Condition:
    """`~a & 4` is a condition on `a & 4`."""
    opposite = without_complement(expr) if interval in (ZERO, NONZERO) else None
    return (expr, interval) if opposite is None else (opposite, ZERO if interval == NONZERO else NONZERO)


@lru_cache(maxsize=10_000)
def pointers_followed(effect: ir.Effect) -> tuple[ir.Expr, ...]:
    """The pointers that the effect follows: they are not null, or nothing comes after it (C11 6.5.3.2p4)."""
    found: dict[ir.Expr, None] = {}
    for expr in ir.expressions(effect):
        for part in ir.walk(expr):
            if isinstance(part, ir.Deref):
                base = bare(part.pointer)
                while isinstance(base, ir.Binary) and base.operator in ("+", "-"):
                    base = bare(base.left)
                if isinstance(base, ir.LVALUES):
                    found[base] = None
    return tuple(found)


class Conditions:
    """The condition keys of a function.

    `tested` are the keys of branches; `of_edge` the key of each branch with the interval that it implies. `cells[i]` are the
    cells that `keys[i]` reads, `limits[i]` the values that it can have at all."""

    def __init__(self, cfa: Cfa, address_taken: frozenset[str]) -> None:
        self.keys: list[ir.Expr] = []
        self.numbers: dict[ir.Expr, int] = {}
        self.cells: list[frozenset[str]] = []
        self.natural: list[Interval] = []
        self.limits: list[Interval] = []
        self._address_taken = address_taken
        self._pointers: dict[int, tuple[int, ...]] = {}
        self.of_edge: dict[int, tuple[int, Interval]] = {}
        tested: set[int] = set()
        for edge in cfa.edges:
            if isinstance(edge.effect, ir.Assume) and (condition := condition_of(edge.effect)) is not None:
                number = self._number(condition[0])
                if number is not None:
                    self.of_edge[edge.id] = (number, condition[1])
                    tested.add(number)
            elif isinstance(edge.effect, ir.Return) and isinstance(edge.effect.value, ir.Var | ir.Cast):
                value = bare(edge.effect.value)
                if isinstance(value, ir.Var):
                    self._number(value)

        self.tested = frozenset(self.keys[number] for number in tested)
        for edge in cfa.edges:
            if isinstance(edge.effect, ir.Assign) and edge.effect.target in self.numbers:
                source = bare(edge.effect.value)
                if isinstance(source, ir.Var) and source.scope == "temporary":  # what is tested then, as in `q = c ? f() : g();`
                    self._number(source)

    def _number(self, key: ir.Expr) -> int | None:
        number = self.numbers.get(key)
        if number is None:
            cells = frozenset(expr_cells(key, self._address_taken))
            if "?" in cells:
                return None
            number = self.numbers[key] = len(self.keys)
            self.keys.append(key)
            self.cells.append(cells)
            self.natural.append(natural_range(key))
            self.limits.append(limits(key))
        return number

    def pointers(self, edge: Edge) -> tuple[int, ...]:
        """The numbers of the pointers that the edge follows, of those that are keys."""
        found = self._pointers.get(edge.id)
        if found is None:
            numbers = map(self.numbers.get, pointers_followed(edge.effect))
            found = self._pointers[edge.id] = tuple(number for number in numbers if number is not None)
        return found

    def evaluate(self, value: ir.Expr, known: Mapping[int, Interval]) -> Interval:
        """What is known of a value. Arithmetic is not followed, so that loops make finitely many values."""
        value = bare(value)
        if isinstance(value, ir.IntConst):
            return Interval(value.value, value.value, value.value != 0)
        number = self.numbers.get(value)
        if number is not None and number in known:
            return known[number]
        if isinstance(value, ir.Binary) and value.operator in MIRRORED:
            condition = condition_of(ir.Assume(value, True))
            if condition is not None and condition[0] in self.numbers:
                number = self.numbers[condition[0]]
                verdict = decide(number, condition[1], known, self.limits[number])
                if verdict is not None:
                    return make(int(verdict), int(verdict), False) or ANY
            return Interval(0, 1, False)
        return natural_range(value)


def expr_cells(expr: ir.Expr, address_taken: frozenset[str]) -> list[str]:
    """The cells that the expression reads; variables whose address is taken can also be written as objects of their type."""
    cells = list(cells_read(expr))
    for var in ir.variables(expr):
        if var.scope != "global" and var.name in address_taken:
            cells.append("*" + spell(var.type))
    return cells


def decide(number: int, interval: Interval, known: Mapping[int, Interval], natural: Interval = ANY) -> bool | None:
    """Whether the key surely lies in the interval (True), surely does not (False), or neither is known."""
    have = meet(known.get(number, ANY), natural)
    if have is None or meet(have, interval) is None:
        return False
    return True if within(have, interval) else None


class KnownConditions:
    """What is known at each location: `at[location]`, None where the location cannot be reached.

    `written` are the cells that each edge can change, `dead_ends` the calls that never return,
    `results` says what is known of the results of calls, `initial` is known at the entry.
    """

    def __init__(
        self,
        cfa: Cfa,
        conditions: Conditions,
        written: Mapping[int, frozenset[str]],
        dead_ends: frozenset[int],
        results: Mapping[int, Interval],
        initial: Known,
    ) -> None:
        self._dead_ends = dead_ends
        self._results = results
        self._conditions = conditions
        self._written = written
        self._by_cell: dict[str, list[int]] = {}
        self._killed: dict[int, frozenset[int]] = {}
        for number, cells in enumerate(conditions.cells):
            for cell in cells:
                self._by_cell.setdefault(cell, []).append(number)
        self.at: dict[int, Known | None] = dict.fromkeys(cfa.locations)
        self._solve(cfa, initial)

    def killed(self, edge: Edge) -> frozenset[int]:
        """The keys that the edge's effect can change."""
        killed = self._killed.get(edge.id)
        if killed is None:
            found = (self._by_cell.get(cell, ()) for cell in self._written[edge.id])
            killed = self._killed[edge.id] = frozenset().union(*found)
        return killed

    def after(self, edge: Edge, known: Known) -> Known | None:
        """What is known after the edge, None when it cannot be taken. What is known before it is left as it is, and returned
        where the edge changes nothing."""
        effect = edge.effect
        for number in self._conditions.pointers(edge):
            if number not in known:
                known = {**known, number: NONZERO}
        if isinstance(effect, ir.Assume):
            return self._assume(edge, known)
        killed = self.killed(edge)
        result = known
        if not killed.isdisjoint(known):
            result = {number: interval for number, interval in known.items() if number not in killed}
        if isinstance(effect, ir.Assign):
            target = self._conditions.numbers.get(effect.target)
            if target is not None and self._written[edge.id]:
                value = self._conditions.evaluate(effect.value, known)
                if value != ANY:
                    result = {**result, target: value}
            if changed_bits(effect) is not None:
                result = {**result, **self._bits_after(effect, known, killed)}
        elif edge.id in self._results and isinstance(effect, ir.Call) and effect.result is not None:
            target = self._conditions.numbers.get(effect.result)
            if target is not None:
                result = {**result, target: self._results[edge.id]}
        return result

    def _bits_after(self, effect: ir.Assign, known: Known, killed: frozenset[int]) -> Known:
        """What is known of tests of bits, of those that an assignment to bits of the same flags can change."""
        found: Known = {}
        for number in killed:
            after = bits_after(effect, self._conditions.keys[number])
            if isinstance(after, Interval):
                found[number] = after
            elif after and number in known:
                found[number] = known[number]
        return found

    def _assume(self, edge: Edge, known: Known) -> Known | None:
        test = self._conditions.of_edge.get(edge.id)
        if test is None:
            return known
        number, interval = test
        key = self._conditions.keys[number]
        have = meet(known.get(number, ANY), self._conditions.natural[number])
        narrowed = None if have is None else meet(have, interval)
        if narrowed is None or meet(narrowed, self._conditions.limits[number]) is None:
            return None
        if isinstance(key, ir.IntConst):
            return known if meet(Interval(key.value, key.value), interval) is not None else None
        return known if known.get(number) == narrowed else {**known, number: narrowed}

    def _solve(self, cfa: Cfa, initial: Known) -> None:
        visits: dict[int, int] = {}
        self.at[cfa.entry] = initial
        order = cfa.reverse_postorder
        work = [(0, cfa.entry)]
        waiting = {cfa.entry}
        while work:
            _, location = heappop(work)
            waiting.discard(location)
            known = self.at[location]
            assert known is not None, "only reached locations are waiting"
            for edge in cfa.outgoing.get(location, ()):
                after = None if edge.id in self._dead_ends else self.after(edge, known)
                if after is None:
                    continue
                before = self.at[edge.target]
                merged = after if before is None else _merge(before, after, visits.get(edge.target, 0) > _WIDENING_VISITS)
                if merged != before:
                    self.at[edge.target] = merged
                    visits[edge.target] = visits.get(edge.target, 0) + 1
                    if edge.target not in waiting:
                        waiting.add(edge.target)
                        heappush(work, (order[edge.target], edge.target))


def _merge(one: Known, other: Known, widen: bool) -> Known:
    if one is other:
        return one
    merged = {}
    for number, interval in one.items():
        if number in other:
            both = join(interval, other[number])
            if widen and both != interval:
                both = _widened(interval, both)
            if both is not ANY and both != ANY:
                merged[number] = both
    return merged


def _widened(one: Interval, both: Interval) -> Interval:
    """An interval that grew too often: its bounds go on to 0 or 1, then away."""
    low, high = both.low, both.high
    if low is not None and low != one.low:
        low = 0 if low >= 0 else None
    if high is not None and high != one.high:
        high = 0 if high <= 0 else 1 if high == 1 else None
    return make(low, high, both.nonzero, both.holes) or ANY
