"""Formulas as C expressions that are true in the same states: invariants as a programmer would write them.

Linear comparisons are written with positive factors on both sides. What has no counterpart in C (memory as a whole, the values of
variables at a function's entry) cannot be said; of a conjunction, the parts that can are said.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from analysis.certificate.c_values import InexpressibleError, Name, Values, Written, common
from analysis.model.c_types import Pointer
from analysis.smt.logic import linear
from analysis.smt.logic.term_building import integer
from analysis.smt.logic.terms import BOOL, INT, Term

_OR, _AND, _EQUAL, _NOT = 3, 4, 6, 11
_LONGEST = 160  # characters of one condition: a longer one helps nobody


class Conditions:
    """Writes formulas; `names` gives the names of symbols."""

    def __init__(self, names: Mapping[Term, Name]) -> None:
        self._names = names
        self._values = Values(names, lambda term: self.condition(term)[0])

    def said(self, formula: Term) -> list[str]:
        """The conjuncts of a formula that C can express and that are not trivially true, each once."""
        found: dict[str, None] = {}
        for part in formula.args if formula.op == "and" else (formula,):
            try:
                text, _ = self.condition(part)
            except InexpressibleError:
                continue
            if text != "1" and len(text) <= _LONGEST:
                found[text] = None
        return list(found)

    def condition(self, term: Term) -> tuple[str, int]:
        """A formula as an expression that is 0 or 1, and how it binds. Raises InexpressibleError."""
        match term.op:
            case "value":
                return str(term.data), 12
            case "not":
                return self._negated(term.args[0])
            case "and":
                return self._joined("&&", term.args, _AND)
            case "or":
                return self._joined("||", term.args, _OR)
            case "ite":
                condition, then, otherwise = (self._inside(part, _OR) for part in term.args)
                return f"({condition} ? {then} : {otherwise})", 12
            case "=" if term.args[0].sort == BOOL:
                one, other = (self._inside(part, _EQUAL + 1) for part in term.args)
                return f"{one} == {other}", _EQUAL
            case "=" | "<=" | ">=" | "<" | ">" if term.args[0].sort == INT:
                return self._compared(term.op, *term.args)
            case _:
                raise InexpressibleError

    def _joined(self, operator: str, parts: Sequence[Term], binds: int) -> tuple[str, int]:
        """In parentheses within another kind of junction, as compilers ask for."""
        texts = [self._inside(part, _EQUAL if part.op in ("and", "or") else binds) for part in parts]
        left = [text for text in dict.fromkeys(texts) if text != ("1" if operator == "&&" else "0")]
        return (f" {operator} ".join(left), binds) if left else ("1" if operator == "&&" else "0", 12)

    def _inside(self, term: Term, binds: int) -> str:
        text, own = self.condition(term)
        return text if own >= binds else f"({text})"

    def _negated(self, term: Term) -> tuple[str, int]:
        if term.op == "=" and term.args[0].sort == INT:
            return self._compared("!=", *term.args)
        return f"!{self._inside(term, _NOT)}", _NOT

    def _compared(self, operator: str, one: Term, other: Term) -> tuple[str, int]:
        pointers = self._pointers(operator, one, other)
        if pointers is not None:
            return pointers, _EQUAL
        if operator in (">=", ">"):
            operator, one, other = {">=": "<=", ">": "<"}[operator], other, one
        if operator == "<":
            operator, one = "<=", linear.add(one, integer(1))
        factors, rest = linear.parts(linear.subtract(one, other))  # what is to be <=, == or != 0
        left = {term: factor for term, factor in factors.items() if factor > 0}
        right = {term: -factor for term, factor in factors.items() if factor < 0}
        if operator != "<=":
            if not left:
                left, right, rest = right, left, -rest
            return self._sides(operator, self._sum(left, max(rest, 0)), self._sum(right, max(-rest, 0)))
        if rest == 1 and right:  # something is less than something else
            return (
                self._sides("<", self._sum(left, 0), self._sum(right, 0))
                if left
                else self._sides(">", self._sum(right, 0), self._sum({}, 0))
            )
        if not left:
            return self._sides(">=", self._sum(right, 0), self._sum({}, rest))
        return self._sides("<=", self._sum(left, max(rest, 0)), self._sum(right, max(-rest, 0)))

    def _sum(self, factors: dict[Term, int], rest: int) -> Written:
        return self._values.sum((factors, rest))

    def _sides(self, operator: str, one: Written, other: Written) -> tuple[str, int]:
        known = _known(operator, one, other)
        if known is not None:
            return str(int(known)), 12
        left, right = common(one, other)
        binds = _EQUAL if operator in ("==", "!=", "=") else _EQUAL + 1
        return f"{left.inside(8)} {'==' if operator == '=' else operator} {right.inside(8)}", binds

    def _pointers(self, operator: str, one: Term, other: Term) -> str | None:
        """A comparison of pointers with each other or with null, None if it is none; addresses are not negative."""
        is_pointer = [self._is_pointer(term) for term in (one, other)]
        if not any(is_pointer):
            return None
        texts = [
            self._names[term].text if known else str(term.data) for term, known in zip((one, other), is_pointer, strict=True)
        ]
        spelled = {"=": "==", "!=": "!="}.get(operator)
        null = [term.op == "value" and term.data in (0, 1) for term in (one, other)]
        if spelled is not None and (all(is_pointer) or (null[1] and other.data == 0)):
            return f"{texts[0]} {spelled} {texts[1]}"
        if null[1]:
            at_least_one = (operator, other.data) in ((">=", 1), (">", 0))
            if at_least_one or (operator, other.data) in (("<=", 0), ("<", 1)):
                return f"{texts[0]} {'!=' if at_least_one else '=='} 0"
        raise InexpressibleError

    def _is_pointer(self, term: Term) -> bool:
        name = self._names.get(term)
        return name is not None and isinstance(name.type, Pointer) and not name.is_array


def _known(operator: str, one: Written, other: Written) -> bool | None:
    """The truth of a comparison that is the same for all values; None if it depends on them."""
    match operator:
        case "<=" | "<":
            strict = operator == "<"
            if one.high + strict <= other.low:
                return True
            return False if one.low + strict > other.high else None
        case ">=" | ">":
            return _known("<=" if operator == ">=" else "<", other, one)
        case _:
            apart = one.high < other.low or other.high < one.low
            return (operator == "!=") if apart else None


def joined(alternatives: Iterable[Sequence[str]]) -> str:
    """One condition that says one of several conjunctions; empty if one of these says nothing."""
    texts = list(dict.fromkeys(" && ".join(parts) for parts in alternatives))
    if any(not text for text in texts):
        return ""
    return texts[0] if len(texts) == 1 else " || ".join(f"({text})" if "&&" in text else text for text in texts)
