"""Where executions start.

In a program with `main`: there, in the `main` of each further program (`cfa.linking.programs`), and in each function that other
programs can call though nobody in this one does: a library often lies beside a demo. Without `main`, in every function that
nobody in the program calls.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from analysis.cfa.callgraph import callees
from analysis.cfa.graph import Program
from analysis.cfa.linking.obstructed import MAIN
from analysis.cfa.open_functions import direct_callees, open_functions, uncalled
from analysis.model.report import Message
from analysis.model.spelling import display_name


class Entries(NamedTuple):
    """The linkage names of the entry functions, in a fixed order, and a message for each wanted name there is none of."""

    names: tuple[str, ...]
    messages: tuple[Message, ...] = ()


class _Chosen(NamedTuple):
    program: Program
    of_system: Collection[str]
    entries: Entries


class EntryChoice:
    """Chooses entries for one revision after the other; does not look again where none of what matters is another."""

    def __init__(self) -> None:
        self._last: _Chosen | None = None

    @property
    def last(self) -> Entries:
        """The entries chosen last."""
        return Entries(()) if self._last is None else self._last.entries

    def choose(self, program: Program, wanted: Sequence[str], of_system: Collection[str]) -> Entries:
        """What `choose_entries` chooses. `wanted` is the same each time."""
        last = self._last
        if last is not None and last.program is program and last.of_system == of_system:
            return last.entries
        by_calls = not wanted and MAIN in program.functions
        if last is not None and last.of_system == of_system and _is_alike(last.program, program, by_calls=by_calls):
            entries = last.entries
        else:
            entries = choose_entries(program, wanted, of_system)
        self._last = _Chosen(program, of_system, entries)
        return entries


def _is_alike(before: Program, program: Program, *, by_calls: bool) -> bool:
    """Whether the entries are those that were chosen for the program before. A function can be one now without any edit of a
    body: an initialiser names another function. `by_calls`: bodies matter for nothing but the functions that they name."""
    if before.address_taken != program.address_taken or list(before.functions) != list(program.functions):
        return False
    changed = [(cfa, new) for name, cfa in before.functions.items() if (new := program.functions[name]) is not cfa]
    if by_calls and all(direct_callees(cfa) == direct_callees(new) for cfa, new in changed):
        return True
    return not changed and before.externals == program.externals and before.called == program.called


def choose_entries(program: Program, wanted: Sequence[str], of_system: Collection[str] = ()) -> Entries:
    """The entries of a program. `of_system` are functions that headers of the system define: other programs have their own.

    A wanted name may be a static function's; then every function of that name is an entry.
    """
    if wanted:
        return _named(program, wanted)
    if MAIN in program.functions:
        return Entries((MAIN, *sorted(open_functions(program).difference(of_system))))
    # Not `callgraph.roots`: a function whose address only goes to code outside the program (a callback) is called by nobody here.
    return Entries(tuple(sorted(uncalled(callees(program)))))


def _named(program: Program, wanted: Sequence[str]) -> Entries:
    entries: set[str] = set()
    messages: list[Message] = []
    for name in wanted:
        found = [link for link in program.functions if link == name or display_name(link) == name]
        entries.update(found)
        if not found:
            text = f"There is no function {name} to enter: --entry takes the name of a function that the files define."
            messages.append(Message("error", "", text))
    return Entries(tuple(sorted(entries)), tuple(messages))
