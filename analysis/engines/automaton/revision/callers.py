"""Who calls a function, from one revision of a program to the next: the callers are kept, and an edit costs what it changes."""

from __future__ import annotations

from collections.abc import Sequence, Set

from analysis.cfa.callgraph import called
from analysis.cfa.graph import Program

Known = dict[str, set[str]]
"""The callers of each function."""


class Callers:
    """Which of the functions that there are now call a function, in one revision or the other; found out when it is first
    asked. `is_alike`: calls of functions that are not `changed` reach what they did; then `known`, the callers in the old
    revision, is taken over, and must not be used any more."""

    def __init__(self, program: Program, old: Program, changed: Set[str], known: Known | None, *, is_alike: bool) -> None:
        self._program = program
        self._old = old
        self._changed = changed
        self._is_alike = is_alike
        self._found = known if is_alike else None
        if self._found is not None:
            _add(self._found, program, changed)

    def of(self, name: str) -> set[str]:
        """Returns the callers of a function."""
        if self._found is None:
            self._found = {}
            _add(self._found, self._program, self._program.functions.keys())
            _add(self._found, self._old, self._program.functions.keys() & self._old.functions.keys())
        return self._found.get(name, set())

    def settled(self) -> Known | None:
        """The callers in the new revision alone, None if nobody has asked, or it takes longer to say. Nothing is asked any
        more then."""
        if self._found is None or not self._is_alike:
            return None
        for name in self._changed:
            for target in set(_targets(self._old, name)).difference(_targets(self._program, name)):
                self._found[target].discard(name)
        return self._found


def _add(found: Known, program: Program, names: Set[str]) -> None:
    for name in names:
        for target in _targets(program, name):
            found.setdefault(target, set()).add(name)


def _targets(program: Program, name: str) -> Sequence[str]:
    direct, others = called(program.functions[name])
    return (*direct, *(target for call in others for target in program.targets(call))) if others else direct
