"""Stores the intervals of values along one path; expressions that surely hold the same value share an interval.

The store of `error_paths`. Each expression that is followed has a *symbol*, and each symbol has an interval. An
assignment of one expression to another gives both the same symbol, so that a later test of either narrows both. Calls
that are opened push a frame of expressions; symbols belong to the whole path, so that a test of an argument in a callee
also narrows the caller's expression. A symbol for the result of an operator knows its operands (`Made`): what is learnt
of `size` after `len = n * size` is known of `len`.

It over-approximates: an expression without symbol can have any value of its type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from analysis.c.results import compared
from analysis.engines.automaton.functions.access_paths import RESULT
from analysis.engines.automaton.functions.known_conditions import bare, condition_of
from analysis.engines.automaton.functions.value_ranges import bounded, computed, converted, natural_range
from analysis.model import ir
from analysis.model.c_types import Integer, Pointer
from analysis.model.comparisons import COMPARISONS
from analysis.model.digest import digest_text
from analysis.model.intervals import ANY, NONZERO, ZERO, Interval, meet

_FIRST_ADDRESS = 1 << 62  # no number that programs compare pointers to functions with, as they do with SIG_IGN

Item = tuple[str, ir.Expr]  # function and expression
Key = tuple[object, ...]

_DEPTH = 3  # of operators whose operands a symbol knows
_ARITHMETIC = frozenset(("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"))

RESULT_VALUE = ir.Var(RESULT, "temporary", Integer(64, True, "long"))  # what the innermost call will return, of any type


Operand = int | Interval  # a symbol, or what was known where there is none


class Made(msgspec.Struct, frozen=True):
    """What a symbol's value was computed from: by an operator, or as a conversion ("cast") of `left`. `depth`: how many deep."""

    operator: str
    left: Operand
    right: Operand
    type: Integer
    depth: int


class Store:
    """The values along one path so far.

    `follows(function, expression)` says whether an expression is followed; `origins[symbol]` are the items without which the
    symbol's interval would not be known. `_targets[symbol]` is what an address points to, in the frame of that number.
    """

    def __init__(self, function: str, follows: Callable[[str, ir.Expr], bool], wanted: set[Item] | None = None) -> None:
        self._follows = follows
        self._wanted = wanted
        self.sure = False
        self._frames: list[tuple[str, dict[ir.Expr, int]]] = [(function, {})]
        self._values: dict[int, Interval] = {}
        self._origins: dict[int, frozenset[Item]] = {}
        self._made: dict[int, Made] = {}
        self._targets: dict[int, tuple[int, ir.Expr]] = {}
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
        other._made = dict(self._made)
        other._targets = dict(self._targets)
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
        for symbol in names if not self._made else self._closure(names):
            found.append((self._values.get(symbol, ANY), self._spelled(symbol, names), self._targets.get(symbol)))
        self._key = tuple(found)
        return self._key

    def _closure(self, names: dict[int, int]) -> list[int]:
        """The named symbols, and those that they were computed from, which get names as well."""
        found = list(names)
        for symbol in found:  # grows while it is read
            made = self._made.get(symbol)
            for operand in () if made is None else (made.left, made.right):
                if isinstance(operand, int) and operand not in names:
                    names[operand] = len(names)
                    found.append(operand)
        return found

    def _spelled(self, symbol: int, names: dict[int, int]) -> Key:
        made = self._made.get(symbol)
        if made is None:
            return ()
        sides = ((names[side], None) if isinstance(side, int) else (None, side) for side in (made.left, made.right))
        return (made.operator, made.type, *sides)

    # -- reading ------------------------------------------------------------------------------------------------

    def value(self, expr: ir.Expr) -> tuple[Interval, frozenset[Item]]:
        """Returns the interval of a value, and the items that it was derived from."""
        expr = self._resolved(bare(expr))
        if isinstance(expr, ir.IntConst):
            return Interval(expr.value, expr.value, expr.value != 0), frozenset()
        if isinstance(expr, ir.AddressOf) and isinstance(expr.lvalue, ir.Var) and expr.lvalue.scope == "function":
            address = code_address(expr.lvalue.name)
            return Interval(address, address, True), frozenset()
        symbol = self._frames[-1][1].get(expr)
        if symbol is not None:
            have, items = self._interval(symbol)
            natural = natural_range(expr)
            return meet(have, natural) or natural, items
        if isinstance(expr, ir.Unary) and expr.operator == "!":
            truth, items = self.truth(expr.operand)
            return _boolean(None if truth is None else not truth), items
        if isinstance(expr, ir.Binary):
            return self._binary(expr)
        if isinstance(expr, ir.Cast):
            return self._cast(expr)
        return natural_range(expr), frozenset()

    def _interval(self, symbol: int) -> tuple[Interval, frozenset[Item]]:
        """What is known of a symbol, also by what it was computed from."""
        have, items = self._values[symbol], self._origins[symbol]
        made = self._made.get(symbol)
        if made is None:
            return have, items
        now, more = self._recomputed(made)
        narrowed = None if now is None else meet(have, now)
        return (have, items) if narrowed is None or narrowed == have else (narrowed, items | more)

    def _recomputed(self, made: Made) -> tuple[Interval | None, frozenset[Item]]:
        """The result, by what is known of the operands by now."""
        (left, some), (right, more) = self._operand(made.left), self._operand(made.right)
        if made.operator == "cast":
            return converted(left, made.type), some
        return computed(made.operator, left, right, made.type), some | more

    def _operand(self, side: Operand) -> tuple[Interval, frozenset[Item]]:
        return (side, frozenset()) if isinstance(side, Interval) else self._interval(side)

    def _binary(self, expr: ir.Binary) -> tuple[Interval, frozenset[Item]]:
        if expr.operator in COMPARISONS:
            truth, items = self.truth(expr)
            return _boolean(truth), items
        if expr.operator in _ARITHMETIC and isinstance(expr.type, Integer):
            (left, some), (right, more) = self.value(expr.left), self.value(expr.right)
            total = computed(expr.operator, bounded(left, expr.left.type), bounded(right, expr.right.type), expr.type)
            if total is not None:
                return total, some | more
        return natural_range(expr), frozenset()

    def _cast(self, expr: ir.Cast) -> tuple[Interval, frozenset[Item]]:
        if isinstance(expr.type, Integer) and isinstance(getattr(expr.operand, "type", None), Integer):
            value, items = self.value(expr.operand)
            kept = converted(bounded(value, expr.operand.type), expr.type)
            if kept is not None:
                return kept, items
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
            answer = _compare(expr.operator, bounded(left, expr.left.type), bounded(right, expr.right.type))
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
        return self._frames[-1][1].get(self._resolved(bare(expr)))

    def _resolved(self, expr: ir.Expr) -> ir.Expr:
        """The object itself in place of the one behind a pointer that is known to point to it."""
        if not self._targets:
            return expr
        if isinstance(expr, ir.Deref):
            symbol = self._frames[-1][1].get(bare(expr.pointer))
            target = None if symbol is None else self._targets.get(symbol)
            if target is not None and target[0] == len(self._frames) and target[1].type == expr.type:
                return target[1]
        elif isinstance(expr, ir.Field):
            record = self._resolved(expr.record)
            if record is not expr.record and isinstance(record, ir.LVALUES):
                return ir.Field(record, expr.name, expr.type)
        return expr

    def _known(self, key: ir.Expr) -> tuple[Interval | None, frozenset[Item]]:
        symbol = self._frames[-1][1].get(key)
        return (None, frozenset()) if symbol is None else self._interval(symbol)

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
            return self._contradict(items, effect)
        condition = condition_of(effect)
        if condition is None or isinstance(condition[0], ir.IntConst):
            return True
        key, interval = condition
        value, items = self.value(key)
        narrowed = meet(value, interval)
        if narrowed is None:
            return self._contradict(items, effect)
        if narrowed != value or self._symbol(key) is not None:
            self._narrow(key, narrowed)
        self._relate(key, narrowed)
        return not self._made or self._results_agree()

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
                    self._origins[symbol] |= items

    def _narrow(self, key: ir.Expr, interval: Interval) -> None:
        function, bindings = self._frames[-1]
        if not self._follows(function, key):
            return
        symbol = bindings.get(key)
        if symbol is None:
            made = self._computation(key)
            symbol = self._bind(key, interval, frozenset())
            self._note(symbol, made)
        self._values[symbol] = interval
        self._origins[symbol] |= {(function, key)}

    def assign(self, target: ir.Expr, value: ir.Expr, kill: Callable[[ir.Expr], bool]) -> None:
        """`target = value`, where `kill` says which followed expressions the write can change."""
        value, target = self._resolved(bare(value)), self._resolved(target)
        interval, items = self.value(value)
        symbol = self._symbol(value)
        if symbol is None and isinstance(value, ir.LVALUES) and self._follows(self._frames[-1][0], value):
            symbol = self._bind(value, interval, frozenset())
        made = self._computation(value) if symbol is None and self._follows(self._frames[-1][0], target) else None
        self.havoc(kill)
        if isinstance(target, ir.LVALUES) and made is not None and interval.low != interval.high:
            self._note(self._bind(target, interval, items), made)
        elif isinstance(target, ir.LVALUES):
            self._set(target, symbol, interval, items)
            if symbol is None and interval == ANY:
                self._want(target, value)
        self._point(target, value)
        self._copy_members(target, value)

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
            self._origins[symbol] |= {(function, target)}
        elif interval != ANY:
            self._bind(target, interval, items)

    def _computation(self, expr: ir.Expr) -> Made | None:
        """What the value of an expression is computed from, if one of the operands is followed."""
        if isinstance(expr, ir.Cast) and isinstance(expr.type, Integer) and isinstance(expr.operand.type, Integer):
            return self._noted("cast", self._side(expr.operand), ZERO, expr.type)
        if not isinstance(expr, ir.Binary) or expr.operator not in _ARITHMETIC or not isinstance(expr.type, Integer):
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
        self._targets = {}

    def keep_result(self, value: ir.Expr) -> None:
        """The innermost call is about to end with this value."""
        self.returned = bare(value) if isinstance(bare(value), ir.Var) else None
        self.assign(RESULT_VALUE, value, lambda _: False)

    def leave(self, target: ir.Expr | None, kill: Callable[[ir.Expr], bool], seen: Iterable[tuple[ir.Expr, ir.Expr]]) -> None:
        """Closes a call whose result goes to `target`; `seen` pairs the callee's expressions, at its exit, with the caller's."""
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
        if target is not None and result is not None:
            self._set(target, result, self._values[result], self._origins[result])


def _is_named(lvalue: ir.Expr) -> bool:
    """Whether the lvalue is a variable, or a member of one."""
    while isinstance(lvalue, ir.Field):
        lvalue = lvalue.record
    return isinstance(lvalue, ir.Var)


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
