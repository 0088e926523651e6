"""Stores the intervals of values along one path; expressions that surely hold the same value share an interval.

The store of `error_paths`. Each expression that is followed has a *symbol*, and each symbol has an interval. An
assignment of one expression to another gives both the same symbol, so that a later test of either narrows both. Calls
that are opened push a frame of expressions; symbols belong to the whole path, so that a test of an argument in a callee
also narrows the caller's expression.

It over-approximates: an expression without symbol can have any value of its type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from analysis.c.results import compared, results
from analysis.engines.automaton.functions.access_paths import RESULT
from analysis.engines.automaton.functions.known_conditions import bare, condition_of, natural_range
from analysis.model import ir
from analysis.model.c_types import Integer, Pointer, Type
from analysis.model.comparisons import COMPARISONS
from analysis.model.digest import digest_text
from analysis.model.intervals import ANY, NONZERO, ZERO, Interval, make, meet
from analysis.model.ranges import bounds

_FIRST_ADDRESS = 1 << 62  # no number that programs compare pointers to functions with, as they do with SIG_IGN

Item = tuple[str, ir.Expr]  # function and expression
Key = tuple[object, ...]

RESULT_VALUE = ir.Var(RESULT, "temporary", Integer(64, True, "long"))  # what the innermost call will return, of any type


class Store:
    """The values along one path so far.

    `follows(function, expression)` says whether an expression is followed; `origins[symbol]` are the items without which the
    symbol's interval would not be known.
    """

    def __init__(self, function: str, follows: Callable[[str, ir.Expr], bool], wanted: set[Item] | None = None) -> None:
        self._follows = follows
        self._wanted = wanted
        self.sure = False
        self._frames: list[tuple[str, dict[ir.Expr, int]]] = [(function, {})]
        self._values: dict[int, Interval] = {}
        self._origins: dict[int, frozenset[Item]] = {}
        self._next = 0
        self._key: Key | None = None
        self.contradiction: frozenset[Item] = frozenset()
        self.returned: ir.Expr | None = None

    def begin(self, variables: Iterable[tuple[ir.Expr, Interval]]) -> None:
        """What variables are at the start of the program."""
        for variable, interval in variables:
            self._set(variable, None, interval, frozenset())

    @property
    def function(self) -> str:
        """The function of the innermost open call."""
        return self._frames[-1][0]

    def copy(self) -> Store:
        """An independent copy."""
        other = Store.__new__(Store)
        other._follows = self._follows
        other._wanted = self._wanted
        other.sure = self.sure
        other._frames = [(function, dict(bindings)) for function, bindings in self._frames]
        other._values = dict(self._values)
        other._origins = dict(self._origins)
        other._next = self._next
        other._key = None
        other.contradiction = self.contradiction
        other.returned = self.returned
        return other

    def key(self, number: Callable[[ir.Expr], int]) -> Key:
        """Equal for stores that know the same. A store is not changed after it was asked for its key."""
        if self._key is not None:
            return self._key
        names: dict[int, int] = {}
        found: list[object] = []
        for function, bindings in self._frames:
            items = sorted((number(expr), symbol) for expr, symbol in bindings.items())
            found.append((function, tuple((expr, names.setdefault(symbol, len(names))) for expr, symbol in items)))
        self._key = (*found, tuple(self._values.get(symbol, ANY) for symbol in names))
        return self._key

    # -- reading ------------------------------------------------------------------------------------------------

    def value(self, expr: ir.Expr) -> tuple[Interval, frozenset[Item]]:
        """Returns the interval of a value, and the items that it was derived from."""
        expr = bare(expr)
        if isinstance(expr, ir.IntConst):
            return Interval(expr.value, expr.value, expr.value != 0), frozenset()
        if isinstance(expr, ir.AddressOf) and isinstance(expr.lvalue, ir.Var) and expr.lvalue.scope == "function":
            address = code_address(expr.lvalue.name)
            return Interval(address, address, True), frozenset()
        symbol = self._frames[-1][1].get(expr)
        if symbol is not None:
            natural = natural_range(expr)
            return meet(self._values[symbol], natural) or natural, self._origins[symbol]
        if isinstance(expr, ir.Unary) and expr.operator == "!":
            truth, items = self.truth(expr.operand)
            return _boolean(None if truth is None else not truth), items
        if isinstance(expr, ir.Binary):
            return self._binary(expr)
        if isinstance(expr, ir.Cast):
            return self._cast(expr)
        return natural_range(expr), frozenset()

    def _binary(self, expr: ir.Binary) -> tuple[Interval, frozenset[Item]]:
        if expr.operator in COMPARISONS:
            truth, items = self.truth(expr)
            return _boolean(truth), items
        if expr.operator in ("+", "-") and isinstance(expr.type, Integer):
            (left, some), (right, more) = self.value(expr.left), self.value(expr.right)
            left, right = _bounded(left, expr.left.type), _bounded(right, expr.right.type)
            total = _computed(expr.operator, left, right)
            if total is not None and _fits(total, expr.type):
                return total, some | more
        return natural_range(expr), frozenset()

    def _cast(self, expr: ir.Cast) -> tuple[Interval, frozenset[Item]]:
        if isinstance(expr.type, Integer) and isinstance(getattr(expr.operand, "type", None), Integer):
            value, items = self.value(expr.operand)
            if value.low is not None and value.high is not None and _fits(value, expr.type):
                return value, items
        return natural_range(expr), frozenset()

    def truth(self, expr: ir.Expr) -> tuple[bool | None, frozenset[Item]]:
        """Whether a condition holds, None if that is not known, and the items that the answer rests on."""
        expr = bare(expr)
        symbol = self._frames[-1][1].get(expr)
        if symbol is None and isinstance(expr, ir.Binary) and expr.operator in COMPARISONS:
            left_symbol, right_symbol = self._symbol(expr.left), self._symbol(expr.right)
            if left_symbol is not None and left_symbol == right_symbol:
                return expr.operator in ("==", "<=", ">="), self._origins[left_symbol]
            (left, some), (right, more) = self.value(expr.left), self.value(expr.right)
            answer = _compare(expr.operator, left, right)
            if answer is not None:
                return answer, some | more
            condition = condition_of(ir.Assume(expr, True))
            if condition is not None:
                have, items = self._known(condition[0])
                if have is not None and meet(have, condition[1]) is None:
                    return False, items
                opposite = condition_of(ir.Assume(expr, False))
                if have is not None and opposite is not None and meet(have, opposite[1]) is None:
                    return True, items
            return None, frozenset()
        value, items = self.value(expr)
        if value == ZERO:
            return False, items
        return (True if value.nonzero else None), items

    def _symbol(self, expr: ir.Expr) -> int | None:
        return self._frames[-1][1].get(bare(expr))

    def _known(self, key: ir.Expr) -> tuple[Interval | None, frozenset[Item]]:
        symbol = self._frames[-1][1].get(key)
        return (None, frozenset()) if symbol is None else (self._values[symbol], self._origins[symbol])

    def can_call(self, pointer: ir.Expr, function: str) -> bool:
        """Whether a call through the pointer can reach the function; if not, `contradiction` says because of what."""
        value, items = self.value(pointer)
        if value.low is None or value.low != value.high or value.low < _FIRST_ADDRESS or value.low == code_address(function):
            return True
        self.contradiction = items
        return False

    # -- writing ------------------------------------------------------------------------------------------------

    def follow(self, pointer: ir.Expr) -> None:
        """The pointer is followed: it is not null from then on."""
        value, _ = self.value(pointer)
        narrowed = meet(value, NONZERO)
        if narrowed is not None and narrowed != value:
            self._narrow(pointer, narrowed)

    def assume(self, effect: ir.Assume) -> bool:
        """Takes a branch; False when it cannot be taken (then `contradiction` says by what)."""
        truth, items = self.truth(effect.condition)
        self.sure = truth is not None
        if truth is not None and truth != effect.truth:
            self.contradiction = items
            return False
        condition = condition_of(effect)
        if condition is None or isinstance(condition[0], ir.IntConst):
            return True
        key, interval = condition
        value, items = self.value(key)
        narrowed = meet(value, interval)
        if narrowed is None:
            self.contradiction = items
            return False
        if narrowed != value or self._symbol(key) is not None:
            self._narrow(key, narrowed)
        self._relate(key, narrowed)
        return True

    def _relate(self, key: ir.Expr, truth: Interval) -> None:
        """Narrows each of two compared expressions by the bounds of the other, given whether the comparison holds."""
        if not isinstance(key, ir.Binary) or key.operator not in ("<", "==") or truth not in (ZERO, NONZERO):
            return
        (left, some), (right, more) = self.value(key.left), self.value(key.right)
        if key.operator == "==":
            below, above = (right, left) if truth == NONZERO else (ANY, ANY)
        elif truth == NONZERO:  # left < right
            left, right = _bounded(left, key.left.type), _bounded(right, key.right.type)
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
                    self._origins[symbol] |= items

    def _narrow(self, key: ir.Expr, interval: Interval) -> None:
        function, bindings = self._frames[-1]
        if not self._follows(function, key):
            return
        symbol = bindings.get(key)
        if symbol is None:
            symbol = self._bind(key, interval, frozenset())
        self._values[symbol] = interval
        self._origins[symbol] |= {(function, key)}

    def assign(self, target: ir.Expr, value: ir.Expr, kill: Callable[[ir.Expr], bool]) -> None:
        """`target = value`, where `kill` says which followed expressions the write can change."""
        value = bare(value)
        interval, items = self.value(value)
        symbol = self._symbol(value)
        if symbol is None and isinstance(value, ir.LVALUES) and self._follows(self._frames[-1][0], value):
            symbol = self._bind(value, interval, frozenset())
        self.havoc(kill)
        if isinstance(target, ir.LVALUES):
            self._set(target, symbol, interval, items)
            if symbol is None and interval == ANY:
                self._want(target, value)
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
            self._origins[symbol] |= {(function, target)}
        elif interval != ANY:
            self._bind(target, interval, items)

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

    def havoc(self, kill: Callable[[ir.Expr], bool]) -> None:
        """Forgets the expressions of the innermost frame that a write can change."""
        bindings = self._frames[-1][1]
        for expr in [expr for expr in bindings if kill(expr)]:
            del bindings[expr]

    # -- calls --------------------------------------------------------------------------------------------------

    def enter(self, callee: str, seen: Iterable[tuple[ir.Expr, ir.Expr]]) -> None:
        """Opens a call: `seen` pairs the callee's expressions with what they are in the caller."""
        found: list[tuple[ir.Expr, int | None, Interval, frozenset[Item]]] = []
        for inner, outer in seen:
            if self._follows(callee, inner):
                found.append((inner, self._symbol(outer), *self.value(outer)))
        self._frames.append((callee, {}))
        for inner, symbol, interval, items in found:
            self._set(inner, symbol, interval, items)

    def drop_callers(self) -> None:
        """Forgets the callers' frames, for a call that the path does not come back from."""
        del self._frames[:-1]

    def keep_result(self, value: ir.Expr) -> None:
        """The innermost call is about to end with this value."""
        self.returned = bare(value) if isinstance(bare(value), ir.Var) else None
        self.assign(RESULT_VALUE, value, lambda _: False)

    def leave(self, target: ir.Expr | None, kill: Callable[[ir.Expr], bool], seen: Iterable[tuple[ir.Expr, ir.Expr]]) -> None:
        """Closes a call whose result goes to `target`; `seen` pairs the callee's expressions, at its exit, with the caller's."""
        bindings = self._frames[-1][1]
        result = bindings.get(RESULT_VALUE)
        callee = self.function
        back = [(outer, symbol) for inner, outer in seen if (symbol := bindings.get(inner)) is not None]
        del self._frames[-1]
        self.havoc(kill)
        for outer, symbol in back:
            self._set(outer, symbol, self._values[symbol], self._origins[symbol])
        if target is not None and result is None and self._wanted is not None and self._follows(self.function, target):
            self._wanted.add((callee, RESULT_VALUE))
        if target is not None and result is not None:
            self._set(target, result, self._values[result], self._origins[result])


def replaced(expr: ir.Expr, old: ir.Expr, new: ir.Expr) -> ir.Expr | None:
    """The lvalue with one expression in place of another, None where it holds more than members and pointers."""
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
    return None


def code_address(function: str) -> int:
    """A number that stands for the address of a function: different ones for different functions (C11 6.5.9p6)."""
    return _FIRST_ADDRESS + int(digest_text(function)[:15], 16)


def _boolean(truth: bool | None) -> Interval:
    if truth is None:
        return Interval(0, 1)
    return Interval(1, 1, True) if truth else ZERO


def _compare(operator: str, left: Interval, right: Interval) -> bool | None:
    """Whether the comparison holds for all values of the intervals (True), for none (False), or neither."""
    if operator in ("==", "!=") and meet(left, right) is None:
        return operator == "!="
    return compared(operator, (left.low, left.high), (right.low, right.high))


def _computed(operator: str, left: Interval, right: Interval) -> Interval | None:
    """The exact results of an operator; None if they are not known."""
    if left.low is None or left.high is None or right.low is None or right.high is None:
        return None
    low, high = results(operator, (left.low, left.high), (right.low, right.high))
    return make(low, high, False)


def _bounded(interval: Interval, type_: Type) -> Interval:
    """The interval with the bounds of the type where it has none."""
    if not isinstance(type_, Integer):
        return interval
    low, high = bounds(type_)
    found = make(
        low if interval.low is None else interval.low, high if interval.high is None else interval.high, interval.nonzero
    )
    return interval if found is None else found


def _fits(interval: Interval, type_: Integer) -> bool:
    """Whether a sum surely does not wrap: both bounds are known to be values of the type. (What overflows may have any value:
    nothing is assumed about it.)"""
    low, high = bounds(type_)
    return interval.low is not None and interval.high is not None and low <= interval.low and interval.high <= high
