"""Stores the intervals of values along one path; expressions that surely hold the same value share a symbol.

The store of `error_paths`. It changes what is known (`known_values`) by each statement of the path. An assignment of one
expression to another gives both the same symbol, so that a later test of either narrows both. Calls that are opened push a frame
of expressions. Symbols belong to the whole path, so that a test of an argument in a callee also narrows the caller's expression.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from functools import lru_cache

import msgspec

from analysis.engines.automaton.feasibility.known_values import ARITHMETIC, Item, KnownValues, Made, Operand
from analysis.engines.automaton.functions.access_paths import RESULT
from analysis.engines.automaton.functions.flag_bits import bits_after, changed_bits, tested_bits
from analysis.engines.automaton.functions.known_conditions import bare, condition_of
from analysis.engines.automaton.functions.value_ranges import bounded, is_stored_as_it_is, natural_range, stored_as
from analysis.model import ir
from analysis.model.c_types import Integer, Pointer, Type
from analysis.model.intervals import ANY, NONZERO, ZERO, Interval, meet

Kill = Callable[[Set[ir.Expr]], Set[ir.Expr]]
"""Which of the expressions a write can change."""
_DEPTH = 3  # of operators whose operands a symbol knows

_OWN = ("local", "temporary")  # a caller learns what its arguments are from what is known of parameters at the end
RESULT_VALUE = ir.Var(RESULT, "temporary", Integer(64, True, "long"))  # what the innermost call will return, of any type


class Store(KnownValues):
    """The values along one path so far, and what each statement does to them."""

    def begin(self, variables: Iterable[tuple[ir.Expr, Interval]]) -> None:
        """What variables are at the start of the program."""
        for variable, interval in variables:
            if interval != ANY and self._follows(self.function, variable):
                self._bind(variable, interval, frozenset())

    def copy(self) -> Store:
        """An independent copy."""
        other = Store.__new__(Store)
        other._follows = self._follows
        other._sums = self._sums
        other._wanted = self._wanted
        other.sure = self.sure
        other._frames = [(function, dict(bindings)) for function, bindings in self._frames]
        other._values = dict(self._values)
        other._origins = dict(self._origins)
        other._made = dict(self._made)
        other._related = self._related
        other._agrees = self._agrees
        other._intervals = self._intervals  # one that changes what is known gets a table of its own
        other._targets = dict(self._targets)
        other._next = self._next
        other._key = None
        other.contradiction = self.contradiction
        other.returned = self.returned
        return other

    # -- writing ------------------------------------------------------------------------------------------------

    def follow(self, pointer: ir.Expr) -> None:
        """The pointer is followed: it is not null from then on."""
        if not self._follows(self._frames[-1][0], pointer):
            return
        value, _ = self.value(pointer)
        narrowed = meet(value, NONZERO)
        if narrowed is not None and narrowed != value:
            self._narrow(pointer, narrowed)

    def assume(self, effect: ir.Assume) -> bool:
        """Takes a branch; False when it cannot be taken (then `contradiction` says by what)."""
        truth, items = self.truth(effect.condition)
        self.sure = truth is not None
        if truth is not None and truth != effect.truth:
            return self._contradict(items, effect)
        condition = condition_of(effect)
        if condition is None or isinstance(condition[0], ir.IntConst):
            return True
        return self.learn(*condition, effect)

    def learn(self, key: ir.Expr, interval: Interval, effect: ir.Assume) -> bool:
        """An expression lies in an interval, as a branch tells; False when it cannot (then `contradiction` says by what)."""
        value, items = self.value(key)
        narrowed = meet(value, interval)
        if narrowed is None:
            return self._contradict(items, effect)
        if narrowed != value or self._symbol(key) is not None:
            self._narrow(key, narrowed)
        self._relate(key, narrowed)
        return self._agrees or self._results_agree()

    def _contradict(self, items: frozenset[Item], effect: ir.Assume) -> bool:
        """The branch cannot be taken; if that rests on nothing that is followed, what it tests is to be."""
        function = self._frames[-1][0]
        parts = (part for part in ir.walk(effect.condition) if isinstance(part, ir.LVALUES))
        self.contradiction = items or frozenset((function, part) for part in parts)
        return False

    def _results_agree(self) -> bool:
        """Whether what is known of computed values agrees with what is known of their operands by now."""
        for _, bindings in self._frames:
            for symbol in bindings.values():
                made = self._made.get(symbol)
                if made is None:
                    continue
                now, items = self._recomputed(made)
                if now is not None and meet(self._values[symbol], now) is None:
                    self.contradiction = self._origins[symbol] | items
                    return False
        self._agrees = True
        return True

    def _relate(self, key: ir.Expr, truth: Interval) -> None:
        """Narrows each of two compared expressions by the bounds of the other, given whether the comparison holds."""
        if not isinstance(key, ir.Binary) or key.operator not in ("<", "==") or truth not in (ZERO, NONZERO):
            return
        (left, some), (right, more) = self.value(key.left), self.value(key.right)
        if key.operator == "==":
            below, above = (right, left) if truth == NONZERO else (ANY, ANY)
        elif truth == NONZERO:  # left < right
            left, right = bounded(left, key.left.type), bounded(right, key.right.type)
            below = Interval(None, None if right.high is None else right.high - 1)
            above = Interval(None if left.low is None else left.low + 1, None)
        else:  # left >= right
            below, above = Interval(right.low, None), Interval(None, left.high)
        for side, have, bound, items in ((key.left, left, below, more), (key.right, right, above, some)):
            narrowed = meet(have, bound)
            if narrowed is not None and narrowed != have and isinstance(bare(side), ir.LVALUES):
                self._narrow(bare(side), narrowed)
                symbol = self._symbol(side)
                if symbol is not None:
                    self._add_origins(symbol, items)

    def _narrow(self, key: ir.Expr, interval: Interval) -> None:
        function, bindings = self._frames[-1]
        if not self._follows(function, key):
            return
        symbol = bindings.get(key)
        if symbol is None:
            made = self._computation(key)
            symbol = self._bind(key, interval, frozenset())
            self._note(symbol, made)
        if symbol in self._related and self._values[symbol] != interval:
            self._agrees, self._intervals = False, {}
        self._values[symbol] = interval
        self._add_origins(symbol, {(function, key)})

    def _add_origins(self, symbol: int, items: Set[Item]) -> None:
        before = self._origins[symbol]
        if not items <= before:
            self._origins[symbol] = before | items
            if symbol in self._related:
                self._intervals = {}

    def assign(self, target: ir.Expr, value: ir.Expr, kill: Kill) -> None:
        """`target = value`, where `kill` says what the write can change."""
        value, target = self._resolved(bare(value)), self._resolved(target)
        interval, items = self.value(value)
        symbol = self._symbol(value)
        if symbol is None and isinstance(value, ir.LVALUES) and self._follows(self._frames[-1][0], value):
            symbol = self._bind(value, interval, frozenset())
        made = self._computation(value) if symbol is None and self._follows(self._frames[-1][0], target) else None
        bits = self._bits_after(target, value)
        self.havoc(kill)
        self._frames[-1][1].update(bits)
        if isinstance(target, ir.LVALUES) and made is not None and interval.low != interval.high:
            self._note(self._bind(target, interval, items), made)
        elif isinstance(target, ir.LVALUES):
            self._set(target, symbol, interval, items)
            if symbol is None and interval == ANY:
                self._want(target, value)
        self._point(target, value)
        self._copy_members(target, value)

    def _bits_after(self, target: ir.Expr, value: ir.Expr) -> dict[ir.Expr, int]:
        """The tests of bits that an assignment to other bits of the same flags leaves as they are."""
        effect = ir.Assign(target, value)
        if changed_bits(effect) is None:
            return {}
        return {key: symbol for key, symbol in self._frames[-1][1].items() if bits_after(effect, key) is True}

    def _point(self, target: ir.Expr, value: ir.Expr) -> None:
        """Notes what a pointer points to that the address of a variable, or of a member of one, was assigned to."""
        if isinstance(value, ir.AddressOf) and isinstance(value.lvalue, ir.Var | ir.Field) and _is_named(value.lvalue):
            pointer = self._frames[-1][1].get(target)
            if pointer is not None:
                self._targets[pointer] = len(self._frames), value.lvalue

    def _copy_members(self, target: ir.Expr, value: ir.Expr) -> None:
        """What is known behind one pointer is known behind its copy."""
        if isinstance(target, ir.Var) and isinstance(value, ir.Var) and isinstance(target.type, Pointer):
            bindings = self._frames[-1][1]
            for expr in [expr for expr in bindings if isinstance(expr, ir.Deref | ir.Field) and value in ir.walk(expr)]:
                copy = replaced(expr, value, target)
                if isinstance(copy, ir.LVALUES):
                    self._set(copy, bindings[expr], self._values[bindings[expr]], self._origins[bindings[expr]])

    def _want(self, target: ir.Expr, value: ir.Expr) -> None:
        """A followed expression gets a value of which nothing is known: its parts would make more known."""
        function = self._frames[-1][0]
        if self._wanted is not None and self._follows(function, target):
            self._wanted.update((function, part) for part in ir.walk(value) if isinstance(part, ir.LVALUES))

    def _set(self, target: ir.Expr, symbol: int | None, interval: Interval, items: frozenset[Item]) -> None:
        function, bindings = self._frames[-1]
        if not self._follows(function, target):
            return
        if symbol is not None:
            bindings[target] = symbol
            self._add_origins(symbol, {(function, target)})
        elif interval != ANY:
            self._bind(target, interval, items)

    def _computation(self, expr: ir.Expr) -> Made | None:
        """What the value of an expression is computed from, if one of the operands is followed."""
        if isinstance(expr, ir.Cast) and isinstance(expr.type, Integer) and isinstance(expr.operand.type, Integer):
            return self._noted("cast", self._side(expr.operand), ZERO, expr.type)
        if not isinstance(expr, ir.Binary) or expr.operator not in ARITHMETIC or not isinstance(expr.type, Integer):
            return None
        return self._noted(expr.operator, self._side(expr.left), self._side(expr.right), expr.type)

    def _noted(self, operator: str, left: Operand, right: Operand, type_: Integer) -> Made | None:
        symbols = [side for side in (left, right) if isinstance(side, int)]
        if not symbols:
            return None
        return Made(operator, left, right, type_, 1 + max(self._depth(symbol) for symbol in symbols))

    def _depth(self, symbol: int) -> int:
        made = self._made.get(symbol)
        return 0 if made is None else made.depth

    def _side(self, expr: ir.Expr) -> Operand:
        """An operand: its symbol, if it has the operand's values as they are, else what is known of it."""
        inner = bare(expr)
        symbol = self._symbol(inner)
        if symbol is None and isinstance(inner, ir.LVALUES) and self._follows(self._frames[-1][0], inner):
            symbol = self._bind(inner, bounded(natural_range(inner), inner.type), frozenset())
        if symbol is None and isinstance(inner, ir.Cast) and (made := self._computation(inner)) is not None:
            symbol = self._next  # of a conversion that no expression is bound to
            self._next += 1
            self._values[symbol], self._origins[symbol] = bounded(self.value(inner)[0], inner.type), frozenset()
            self._note(symbol, made)
        if symbol is None or self._depth(symbol) >= _DEPTH:
            return bounded(self.value(expr)[0], expr.type)
        return symbol

    def _note(self, symbol: int, made: Made | None) -> None:
        if made is not None:
            self._made[symbol] = made
            self._related |= {side for side in (symbol, made.left, made.right) if isinstance(side, int)}
            self._agrees, self._intervals = False, {}

    def put(self, target: ir.Expr, interval: Interval, items: frozenset[Item]) -> None:
        """The expression is in the interval, because of the items."""
        self._set(target, None, interval, items)

    def expressions(self) -> list[ir.Expr]:
        """What is known of in the innermost frame."""
        return list(self._frames[-1][1])

    def _bind(self, expr: ir.Expr, interval: Interval, items: frozenset[Item]) -> int:
        function, bindings = self._frames[-1]
        symbol = bindings[expr] = self._next
        self._next += 1
        self._values[symbol] = interval
        self._origins[symbol] = items | {(function, expr)}
        return symbol

    def without_dead(self, live: frozenset[str]) -> Store:
        """This store without what it knows of variables of the innermost function that nothing reads any more, and is not about
        to be returned. `live` are those that may be read."""
        returned = self.returned.name if isinstance(self.returned, ir.Var) else None
        dead = [e for e in self._frames[-1][1] if not (own := _own_variables(e)) <= live and own - live != {returned}]
        if not dead:
            return self
        other = self.copy()
        for expr in dead:
            del other._frames[-1][1][expr]
        return other

    def havoc(self, kill: Kill) -> None:
        """Forgets the expressions of the innermost frame that a write can change."""
        bindings = self._frames[-1][1]
        for expr in kill(bindings.keys()):
            del bindings[expr]

    def keep_flags(self) -> None:
        """Forgets all numbers but 0 and 1, and what lies between other ones."""
        bindings = self._frames[-1][1]
        for expr in [expr for expr, symbol in bindings.items() if not _is_flag(self._values[symbol])]:
            del bindings[expr]

    # -- calls --------------------------------------------------------------------------------------------------

    def enter(self, callee: str, seen: Iterable[tuple[ir.Expr, ir.Expr]]) -> None:
        """Opens a call: `seen` pairs the callee's expressions with what they are in the caller. What is followed in both is one
        value, so that the caller learns what the callee finds out, also where a parameter gets another value later."""
        found: list[tuple[ir.Expr, int | None, Interval, frozenset[Item]]] = []
        for inner, outer in seen:
            if self._follows(callee, inner):
                symbol, (interval, items) = self._symbol(outer), self.passed(outer)
                if symbol is not None and interval.nonzero and not self._values[symbol].nonzero:
                    self._narrow(self._resolved(bare(outer)), meet(self._values[symbol], NONZERO) or interval)
                if symbol is None and is_noted(outer) and self._follows(self.function, bare(outer)):
                    symbol = self._bind(bare(outer), interval, items)
                found.append((inner, symbol, interval, items))
        self._frames.append((callee, {}))
        for inner, symbol, interval, items in found:
            self._set(inner, symbol, interval, items)

    def drop_callers(self) -> None:
        """Forgets the callers' frames, for a call that the path does not come back from."""
        del self._frames[:-1]
        self._targets = {}

    def keep_result(self, value: ir.Expr) -> None:
        """The innermost call is about to end with this value."""
        self.returned = bare(value) if isinstance(bare(value), ir.Var) else None
        self.assign(RESULT_VALUE, value, lambda _: frozenset())

    def leave(self, target: ir.Expr | None, returned: Type, kill: Kill, seen: Iterable[tuple[ir.Expr, ir.Expr]]) -> None:
        """Closes a call whose result, of the type `returned`, goes to `target`; `seen` pairs the callee's expressions, at its
        exit, with the caller's."""
        bindings = self._frames[-1][1]
        result = bindings.get(RESULT_VALUE)
        callee = self.function
        pairs = [(outer, symbol) for inner, outer in seen if (symbol := bindings.get(inner)) is not None]
        del self._frames[-1]
        back = [(self._resolved(outer), symbol) for outer, symbol in pairs]
        self.havoc(kill)
        for outer, symbol in back:
            self._set(outer, symbol, self._values[symbol], self._origins[symbol])
        if target is not None and result is None and self._wanted is not None and self._follows(self.function, target):
            self._wanted.add((callee, RESULT_VALUE))
        if target is not None and result is not None and is_stored_as_it_is(returned, target.type):
            self._set(target, result, self._values[result], self._origins[result])
        elif target is not None and result is not None:
            self._set(target, None, stored_as(self._values[result], returned, target.type), self._origins[result])


def _is_flag(value: Interval) -> bool:
    """Whether a value is 0, 1, either, or known only not to be 0."""
    return value == NONZERO or (value.low is not None and value.high is not None and 0 <= value.low <= value.high <= 1)


@lru_cache(maxsize=10_000)
def _own_variables(expr: ir.Expr) -> frozenset[str]:
    """The variables in an expression that only its function knows, parameters aside."""
    own = (variable for variable in ir.variables(expr) if variable.scope in _OWN and variable != RESULT_VALUE)
    return frozenset(variable.name for variable in own)


def is_noted(expr: ir.Expr) -> bool:
    """Whether something can be known of an expression by itself: of what is stored somewhere, and of some of its bits."""
    return isinstance(expr, ir.LVALUES) or tested_bits(expr) is not None


def _is_named(lvalue: ir.Expr) -> bool:
    """Whether the lvalue is a variable, or a member of one."""
    while isinstance(lvalue, ir.Field):
        lvalue = lvalue.record
    return isinstance(lvalue, ir.Var)


def replaced(expr: ir.Expr, old: ir.Expr, new: ir.Expr) -> ir.Expr | None:
    """The lvalue, or the test of some of its bits, with one expression in place of another; None where it holds more than members
    and pointers."""
    if expr == old:
        return new
    match expr:
        case ir.Var() | ir.IntConst():
            return expr
        case ir.Deref(inner):
            changed = replaced(inner, old, new)
            return None if changed is None else ir.Deref(changed, expr.type)
        case ir.Field(inner, name):
            changed = replaced(inner, old, new)
            return None if changed is None else ir.Field(changed, name, expr.type)
        case ir.Cast(inner):
            changed = replaced(inner, old, new)
            return None if changed is None else msgspec.structs.replace(expr, operand=changed)
        case ir.Binary("&", inner, ir.IntConst()):
            changed = replaced(inner, old, new)
            return None if changed is None else msgspec.structs.replace(expr, left=changed)
    return None
