"""What is known of the values along one path: intervals of expressions, and whether conditions hold.

Each expression that is followed has a *symbol*, and each symbol has an interval. A symbol for the result of an operator knows its
operands (`Made`): what is learnt of `size` after `len = n * size` is known of `len`.

It over-approximates: an expression without symbol can have any value of its type. `path_values` changes what is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import msgspec

from analysis.c.results import compared
from analysis.engines.automaton.feasibility.unsigned_sums import Sums, is_positive_sum, is_small
from analysis.engines.automaton.functions.flag_bits import tested_bits
from analysis.engines.automaton.functions.known_conditions import bare, condition_of
from analysis.engines.automaton.functions.value_ranges import bounded, computed, converted, natural_range
from analysis.model import ir
from analysis.model.c_types import Floating, Integer
from analysis.model.comparisons import COMPARISONS, HOLDS
from analysis.model.digest import digest_text
from analysis.model.intervals import ANY, NONZERO, ZERO, Interval, meet

_FIRST_ADDRESS = 1 << 62  # no number that programs compare pointers to functions with, as they do with SIG_IGN

Item = tuple[str, ir.Expr]  # function and expression
Key = tuple[object, ...]

ARITHMETIC = frozenset(("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"))


Operand = int | Interval  # a symbol, or what was known where there is none


class Made(msgspec.Struct, frozen=True):
    """What a symbol's value was computed from: by an operator, or as a conversion ("cast") of `left`. `depth`: how many deep."""

    operator: str
    left: Operand
    right: Operand
    type: Integer
    depth: int


class KnownValues:
    """What is known of the values along one path so far.

    `follows(function, expression)` says whether an expression is followed; `origins[symbol]` are the items without which the
    symbol's interval would not be known. `_targets[symbol]` is what an address points to, in the frame of that number.
    """

    def __init__(
        self,
        function: str,
        follows: Callable[[str, ir.Expr], bool],
        wanted: set[Item] | None = None,
        sums: Sums | None = None,
    ) -> None:
        self._follows = follows
        self._sums = Sums() if sums is None else sums
        self._wanted = wanted
        self.sure = False
        self._frames: list[tuple[str, dict[ir.Expr, int]]] = [(function, {})]
        self._values: dict[int, Interval] = {}
        self._origins: dict[int, frozenset[Item]] = {}
        self._made: dict[int, Made] = {}
        self._related = frozenset[int]()  # the symbols in `_made`, and those from which they are computed
        self._agrees = True  # whether `_made` agrees with what is known of its symbols
        self._intervals: dict[int, tuple[Interval, frozenset[Item]]] = {}  # of symbols in `_made`, until a related one changes
        self._targets: dict[int, tuple[int, ir.Expr]] = {}
        self._next = 0
        self._key: Key | None = None
        self.contradiction: frozenset[Item] = frozenset()
        self.returned: ir.Expr | None = None

    @property
    def function(self) -> str:
        """The function of the innermost open call."""
        return self._frames[-1][0]

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
            have = self._values.get(symbol, ANY)
            is_plain = symbol not in self._made and symbol not in self._targets
            found.append(have if is_plain else (have, self._spelled(symbol, names), self._targets.get(symbol)))
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
        if isinstance(expr, ir.Unary) and isinstance(expr.type, Integer):
            return self._negative(expr, expr.type)
        if isinstance(expr, ir.Binary):
            return self._binary(expr)
        if isinstance(expr, ir.Cast):
            return self._cast(expr)
        return natural_range(expr), frozenset()

    def passed(self, argument: ir.Expr) -> tuple[Interval, frozenset[Item]]:
        """The interval of an argument of a call, and what it was derived from: a sum is not 0, if sums do not wrap."""
        value, items = self.value(argument)
        positive, more = self._if_no_sum_wraps(argument, value)
        if positive is value:
            return value, items
        self._sums.mattered = True
        return positive, items | more

    def _if_no_sum_wraps(self, expr: ir.Expr, value: Interval) -> tuple[Interval, frozenset[Item]]:
        """The interval of a value, without 0 if it is an unsigned sum with something positive, as the size in
        `reserve(strlen(text) + 1)`, and the items that this rests on. The very same interval if nothing follows."""
        if value.nonzero or self._sums.may_wrap:
            return value, frozenset()
        items = self._positive_side(bare(expr))
        return (value, frozenset()) if items is None else (meet(value, NONZERO) or value, items)

    def _positive_side(self, expr: ir.Expr) -> frozenset[Item] | None:
        """Because of what an unsigned sum has a positive side; None if it has none, or is no sum."""
        if is_positive_sum(expr):
            return frozenset()
        symbol = self._symbol(expr)
        made = None if symbol is None else self._made.get(symbol)
        if made is None or made.operator != "+" or made.type.signed:
            return None
        sides = (self._operand(side) for side in (made.left, made.right))
        return next((items for side, items in sides if side.low is not None and is_small(side.low, made.type)), None)

    def _interval(self, symbol: int) -> tuple[Interval, frozenset[Item]]:
        """What is known of a symbol, also by what it was computed from."""
        have, items = self._values[symbol], self._origins[symbol]
        made = self._made.get(symbol)
        if made is None:
            return have, items
        found = self._intervals.get(symbol)
        if found is None:
            now, more = self._recomputed(made)
            narrowed = None if now is None else meet(have, now)
            found = (have, items) if narrowed is None or narrowed == have else (narrowed, items | more)
            self._intervals[symbol] = found
        return found

    def _recomputed(self, made: Made) -> tuple[Interval | None, frozenset[Item]]:
        """The result, by what is known of the operands by now."""
        (left, some), (right, more) = self._operand(made.left), self._operand(made.right)
        if made.operator == "cast":
            return converted(left, made.type), some
        return computed(made.operator, left, right, made.type), some | more

    def _operand(self, side: Operand) -> tuple[Interval, frozenset[Item]]:
        return (side, frozenset()) if isinstance(side, Interval) else self._interval(side)

    def _negative(self, expr: ir.Unary, type_: Integer) -> tuple[Interval, frozenset[Item]]:
        """`-x` is `0 - x`, and `~x` is `-1 - x`, modulo the type's width if it is unsigned (C11 6.5.3.3, 6.2.6.2)."""
        value, items = self.value(expr.operand)
        zero = ZERO if expr.operator == "-" else Interval(-1, -1, True)
        found = computed("-", zero, bounded(value, expr.operand.type), type_)
        return (natural_range(expr), frozenset()) if found is None else (found, items)

    def _binary(self, expr: ir.Binary) -> tuple[Interval, frozenset[Item]]:
        if expr.operator in COMPARISONS:
            truth, items = self.truth(expr)
            return _boolean(truth), items
        if expr.operator in ARITHMETIC and isinstance(expr.type, Integer):
            (left, some), (right, more) = self.value(expr.left), self.value(expr.right)
            total = computed(expr.operator, bounded(left, expr.left.type), bounded(right, expr.right.type), expr.type)
            if expr.operator == "&" and (cleared := self._cleared(expr)) is not None:
                return ZERO, cleared
            if total is not None:
                return meet(total, natural_range(expr)) or total, some | more
        return natural_range(expr), frozenset()

    def _cleared(self, expr: ir.Binary) -> frozenset[Item] | None:
        """Whether it is known that all bits are zero of which an expression tests some, and because of what."""
        test = tested_bits(expr)
        for key, symbol in self._frames[-1][1].items() if test is not None else ():
            more = tested_bits(key)
            if test is not None and more is not None and more[0] == test[0] and not test[1] & ~more[1]:
                have, items = self._interval(symbol)
                if have == ZERO:
                    return items
        return None

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
            answer, others = self._compared_if_no_sum_wraps(expr, left, right)
            if answer is not None:
                return answer, some | more | others
            condition = condition_of(ir.Assume(expr, True))
            if condition is not None:
                have, items = self._known(condition[0])
                if have is None:
                    return self._by_order(expr)
                if meet(have, condition[1]) is None:
                    return False, items
                opposite = condition_of(ir.Assume(expr, False))
                if opposite is not None and meet(have, opposite[1]) is None:
                    return True, items
            return self._by_order(expr)
        value, items = self.value(expr)
        if value == ZERO:
            return False, items
        return (True if value.nonzero else None), items

    def _compared_if_no_sum_wraps(self, expr: ir.Binary, left: Interval, right: Interval) -> tuple[bool | None, frozenset[Item]]:
        """Whether a comparison holds because a sum is not 0, as where a buffer of no size grows: `if (n + 1 > size)`. One with a
        constant asks whether the sum wraps."""
        if any(isinstance(ir.strip_casts(side), ir.IntConst) for side in (expr.left, expr.right)):
            return None, frozenset()
        one, some = self._if_no_sum_wraps(expr.left, bounded(left, expr.left.type))
        other, more = self._if_no_sum_wraps(expr.right, bounded(right, expr.right.type))
        if not some and not more and (one, other) == (left, right):
            return None, frozenset()
        answer = _compare(expr.operator, one, other)
        self._sums.mattered = self._sums.mattered or answer is not None
        return answer, some | more

    def _by_order(self, expr: ir.Binary) -> tuple[bool | None, frozenset[Item]]:
        """Whether a comparison holds by what others of the same two values say, in this function or in its callers: what is
        neither less nor equal is greater. `orders`: -1 where the left value is less."""
        if isinstance(expr.left.type, Floating):
            return None, frozenset()  # C11 F.9.3: what is no number is none of these
        left, right = self._named(expr.left), self._named(expr.right)
        orders, items = {-1, 0, 1}, frozenset[Item]()
        for sign, operator, symbol in self._comparisons(left, right):
            have = self._values[symbol]
            found = {order for order in orders if HOLDS[operator](sign * order, 0) == have.nonzero}
            if found != orders and (have == ZERO or have.nonzero):
                orders, items = found, items | self._origins[symbol]
        answers = {HOLDS[expr.operator](order, 0) for order in orders}
        if len(answers) != 1:
            return None, frozenset()
        return answers.pop(), items.union(*(self._origins[side] for side in (left, right) if isinstance(side, int)))

    def _comparisons(self, left: int | ir.Expr, right: int | ir.Expr) -> Iterator[tuple[int, str, int]]:
        """The comparisons of two values that are followed: -1 if the right one comes first, the operator, the symbol."""
        for _, bindings in self._frames:
            own: Mapping[ir.Expr, int | ir.Expr] = bindings
            is_innermost = bindings is self._frames[-1][1]  # an expression of another function means something else
            for key, symbol in bindings.items():
                if isinstance(key, ir.Binary) and key.operator in ("<", "=="):
                    sides = [own.get(side, side if is_innermost else None) for side in (bare(key.left), bare(key.right))]
                    if sides in ([left, right], [right, left]):
                        yield 1 if sides[0] == left else -1, key.operator, symbol

    def _named(self, expr: ir.Expr) -> int | ir.Expr:
        """The symbol of a value, or the expression itself if it has none."""
        symbol = self._symbol(expr)
        return self._resolved(bare(expr)) if symbol is None else symbol

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
