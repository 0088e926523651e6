"""C conditions as formulas: what others say of a program, read (the counterpart of `c_syntax`).

An allow list of C11 6.5: decimal constants, names of variables with members and elements, casts to integer types, `+ - *`,
comparisons, `! && || ?:`. Arithmetic is that of mathematical integers, and a cast changes nothing: what a condition means in C
may be something else. That does not matter, because what is read is never believed; it is checked as it was read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from analysis.certificate.c_values import Name
from analysis.smt.logic import linear
from analysis.smt.logic.term_building import FALSE, TRUE, and_, eq, integer, ite, not_, or_, select
from analysis.smt.logic.terms import BOOL, INT, Term

_TOKEN = re.compile(
    r"\s*(?P<cast>\(\s*(?:(?:un)?signed|long|int|short|char|__int128|\s)+\))|\s*(?P<number>\d+)[uUlL]*(?![\w.])"
    r"|\s*(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[\d+\])*)|\s*(?P<sign>&&|\|\||[=!<>]=|[-+*!<>()?:\[\]])"
)
_LONGEST = 2_000  # characters of a condition
_DEEPEST = 50  # parentheses and operators in each other
_BINDS = {"||": 1, "&&": 2, "==": 3, "!=": 3, "<": 4, "<=": 4, ">": 4, ">=": 4, "+": 5, "-": 5, "*": 6}


class UnreadableConditionError(Exception):
    """A condition is none that can be read; the text is a clause in lower case."""


def read_condition(text: str, names: Mapping[Term, Name]) -> Term:
    """The condition as a formula over the state variables that are written so. Raises UnreadableConditionError."""
    if len(text) > _LONGEST:
        raise UnreadableConditionError(f"it is longer than {_LONGEST:,} characters")
    return _Reader(text, {name.text: term for term, name in names.items()}).whole()


class _Reader:
    def __init__(self, text: str, variables: Mapping[str, Term]) -> None:
        self._variables = variables
        self._tokens = _tokens(text)
        self._at = 0
        self._depth = 0

    def whole(self) -> Term:
        found = _truth(self._choice())
        if self._next is not None:
            raise UnreadableConditionError(f"`{self._next}` was not expected in it")
        return found

    @property
    def _next(self) -> str | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _take(self, expected: str) -> None:
        if self._next != expected:
            raise UnreadableConditionError(f"`{expected}` is missing in it")
        self._at += 1

    def _choice(self) -> Term:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise UnreadableConditionError("it is nested too deeply")
        condition = self._binary(1)
        if self._next == "?":
            self._at += 1
            then = self._choice()
            self._take(":")
            condition = ite(_truth(condition), _number(then), _number(self._choice()))
        self._depth -= 1
        return condition

    def _binary(self, binds: int) -> Term:
        left = self._unary()
        while (sign := self._next) is not None and _BINDS.get(sign, 0) >= binds:
            self._at += 1
            left = _applied(sign, left, self._binary(_BINDS[sign] + 1))
        return left

    def _unary(self) -> Term:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise UnreadableConditionError("it is nested too deeply")
        token, self._at = self._next, self._at + 1
        match token:
            case "!":
                found = not_(_truth(self._unary()))
            case "-":
                found = linear.negate(_number(self._unary()))
            case "+" | "(cast)":
                found = _number(self._unary())
            case "(":
                found = self._choice()
                self._take(")")
            case _:
                found = self._primary(token)
        self._depth -= 1
        return found

    def _primary(self, token: str | None) -> Term:
        if token is not None and token.isdigit():
            return integer(int(token))
        found = self._variables.get(token or "")
        if found is None:
            raise UnreadableConditionError(f"`{token}` is not known in it" if token else "it ends too early")
        if self._next == "[":
            self._at += 1
            index = _number(self._choice())
            self._take("]")
            found = select(found, index) if found.sort not in (BOOL, INT) else found
        if found.sort != INT:
            raise UnreadableConditionError(f"`{token}` is no integer")
        return found


def _tokens(text: str) -> list[str]:
    found, at, end = [], 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            raise UnreadableConditionError(f"`{text[at : at + 20].strip()}` cannot be read in it")
        at = match.end()
        found.append("(cast)" if match["cast"] else match["number"] or match["name"] or match["sign"])
    return found


def _applied(sign: str, left: Term, right: Term) -> Term:
    if sign in ("&&", "||"):
        return (and_ if sign == "&&" else or_)(_truth(left), _truth(right))
    one, other = _number(left), _number(right)
    match sign:
        case "==":
            return eq(one, other)
        case "!=":
            return not_(eq(one, other))
        case "<" | ">":
            return linear.less(one, other) if sign == "<" else linear.less(other, one)
        case "<=" | ">=":
            return linear.at_most(one, other) if sign == "<=" else linear.at_most(other, one)
        case "+":
            return linear.add(one, other)
        case "-":
            return linear.subtract(one, other)
    for factor, term in ((one, other), (other, one)):
        if factor.op == "value":
            return linear.scale(int(factor.data), term)  # type: ignore[arg-type]  # of an Int value
    raise UnreadableConditionError("it multiplies variables")


def _truth(term: Term) -> Term:
    """What is true where a number is not 0 (C11 6.8.4.1)."""
    return term if term.sort == BOOL else not_(eq(term, integer(0)))


def _number(term: Term) -> Term:
    """What C has for a truth value: 1 or 0 (C11 6.5.8)."""
    if term in (TRUE, FALSE):
        return integer(1 if term == TRUE else 0)
    return term if term.sort == INT else ite(term, integer(1), integer(0))
