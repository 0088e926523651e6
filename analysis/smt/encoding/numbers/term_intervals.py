"""Intervals of Int terms, from the ranges of the symbols in them: tells which operations cannot leave the range of a type."""

from __future__ import annotations

import math
import weakref

from analysis.smt.logic.terms import Term

Interval = tuple[float, float]  # integers, or infinite
ANY: Interval = (-math.inf, math.inf)
_LARGEST = 1 << 600  # beyond it bounds are infinite: a float could not hold them


class Intervals:
    """The interval of every term, for symbols as declared. A declaration must follow from what is asserted with the term."""

    def __init__(self) -> None:
        self._known: weakref.WeakKeyDictionary[Term, Interval] = weakref.WeakKeyDictionary()
        self._passed: weakref.WeakSet[Term] = weakref.WeakSet()  # terms without an interval, such as conditions

    def declare(self, term: Term, low: float, high: float) -> None:
        """Every value of the term lies from `low` to `high`."""
        before = self._known.get(term)
        if before is not None:
            low, high = max(low, before[0]), min(high, before[1])
        if term.op != "value":
            self._known[term] = (low, high)

    def of(self, term: Term) -> Interval:
        """Bounds of the values of a term."""
        if term.op == "value":
            value = term.data if isinstance(term.data, int) else 0
            return value, value
        known = self._known.get(term)
        if known is None:
            self._compute_under(term)
            known = self._known[term]
        return known

    def _compute_under(self, term: Term) -> None:
        """The interval of a term, after those of the terms in it: these can be too deep for recursion. What is under a term that
        was come by before is known."""
        waiting = [term]
        while waiting:
            here = waiting[-1]
            left = [a for a in here.args if a not in self._known and a not in self._passed]
            waiting.extend(reversed(left))
            if left:
                continue
            waiting.pop()
            if here.sort.kind != "Int":
                self._passed.add(here)
            elif here not in self._known:
                self._known[here] = self._computed(here)

    def _computed(self, term: Term) -> Interval:
        low, high = self._bounds(term)
        return (low if low > -_LARGEST else -math.inf), (high if high < _LARGEST else math.inf)

    def _bounds(self, term: Term) -> Interval:
        match term.op:
            case "value":
                return self.of(term)
            case "+":
                each = [self.of(a) for a in term.args]
                return sum(low for low, _ in each), sum(high for _, high in each)
            case "*":
                return _product(self.of(term.args[0]), self.of(term.args[1]))
            case "ite":
                (low, high), (other_low, other_high) = self.of(term.args[1]), self.of(term.args[2])
                return min(low, other_low), max(high, other_high)
            case "mod" if term.args[1].op == "value" and term.args[1].data:
                return self._remainder(self.of(term.args[0]), abs(int(str(term.args[1].data))))
            case "div" if term.args[1].op == "value" and int(str(term.args[1].data)) > 0:
                low, high = self.of(term.args[0])
                divisor = int(str(term.args[1].data))
                return _floor(low, divisor), _floor(high, divisor)
            case "div":  # by something that is not 0, as every division is constrained
                low, high = self.of(term.args[0])
                most = max(abs(low), abs(high))
                return (0 if low >= 0 and self.of(term.args[1])[0] >= 0 else -most), most
            case "mod":
                low, high = self.of(term.args[0])
                most = max(map(abs, self.of(term.args[1]))) - 1
                return 0, min(most, high) if low >= 0 else most
            case _:
                return ANY

    @staticmethod
    def _remainder(interval: Interval, divisor: int) -> Interval:
        low, high = interval
        return (low, high) if low >= 0 and high < divisor else (0, divisor - 1)


def _floor(value: float, divisor: int) -> float:
    return value // divisor if math.isfinite(value) else value


def _product(one: Interval, other: Interval) -> Interval:
    corners = [0 if 0 in (a, b) else a * b for a in one for b in other]
    return min(corners), max(corners)
