"""The invariants of data that a program keeps, found and checked, revision by revision.

What was found of functions is taken over where nothing that it follows from is other than before. So an edit costs what it
changes, and the answer is that of a check from scratch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from analysis.certificate.nonzero.data_invariants import NONE, Invariants
from analysis.certificate.nonzero.kept_invariants import Walks, are_kept, find
from analysis.certificate.nonzero.needed_values import Rule
from analysis.certificate.nonzero.walk import Walked
from analysis.cfa.graph import Program
from analysis.session.contracts.unaffected import same_surroundings


class KeptData:
    """The invariants of the last program that was asked about. The checker has walks of its own: it believes no search."""

    def __init__(self) -> None:
        self._program: Program | None = None
        self._entries: tuple[str, ...] = ()
        self._found: Invariants | None = None
        self._search, self._checker = Walks(), Walks()

    @property
    def walked(self) -> int:
        """How many functions were followed so far."""
        return self._search.walked + self._checker.walked

    def of(self, program: Program, entries: Sequence[str], goes_on: Callable[[], bool]) -> Invariants:
        """The invariants of a program whose runs begin at the entries; none if the time is over before they are known."""
        is_same = self._program is program and self._entries == tuple(entries) and self._found is not None
        if not is_same and (self._program is None or not same_surroundings(self._program, program)):
            self._search, self._checker = Walks(), Walks()
        self._search.goes_on = self._checker.goes_on = goes_on
        if is_same and self._found is not None:
            return self._found
        self._program, self._entries = program, tuple(entries)
        self._found = find(program, entries, self._search)
        if self._found is not None and not are_kept(program, entries, self._found, self._checker):
            self._found = NONE if goes_on() else None
        return NONE if self._found is None else self._found

    def walks(self, program: Program, entries: Sequence[str], rule: Rule, goes_on: Callable[[], bool]) -> Mapping[str, Walked]:
        """What is shown of functions where the invariants hold, in runs from the entries."""
        invariants = self.of(program, entries, goes_on)
        followed = self._checker.of(program, invariants, rule) if invariants else None
        return {} if followed is None else followed.found


HERE = KeptData()
"""Of this process."""
