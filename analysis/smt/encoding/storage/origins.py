"""What the value of a pointer that came from outside is made of: it says where the pointer may lead."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.smt.logic.terms import Term


class Origins:
    """The symbols of terms, and the numbers in them that can be addresses, which are at least `first`. They depend on the terms
    alone. Terms share most of their parts, so each is looked at once; a set of leaves is a number with a bit for each."""

    def __init__(self, first: int) -> None:
        self._first = first
        self._leaves: list[Term] = []
        self._known: dict[Term, int] = {}

    def of(self, term: Term) -> Iterator[Term]:
        """The symbols and the numbers in a term, each once."""
        left = self._set(term)
        while left:
            lowest = left & -left
            yield self._leaves[lowest.bit_length() - 1]
            left ^= lowest

    def _set(self, term: Term) -> int:
        known, waiting = self._known, [term]
        while waiting:
            top = waiting[-1]
            missing = () if top in known else [part for part in top.args if part not in known]
            if missing:
                waiting.extend(missing)
                continue
            waiting.pop()
            if top not in known:
                known[top] = self._made(top)
        return known[term]

    def _made(self, term: Term) -> int:
        is_number = term.op == "value" and isinstance(term.data, int) and term.data >= self._first
        if is_number or term.op == "symbol":
            self._leaves.append(term)
            return 1 << (len(self._leaves) - 1)
        found = 0
        for part in term.args:
            found |= self._known[part]
        return found
