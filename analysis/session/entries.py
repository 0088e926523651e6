"""Where executions start: `main` if there is one, else every function nobody in the program calls."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.cfa.callgraph import callees
from analysis.cfa.components import strongly_connected
from analysis.cfa.graph import Program
from analysis.model.report import Message
from analysis.model.spelling import display_name


def choose_entries(program: Program, wanted: Sequence[str]) -> tuple[tuple[str, ...], tuple[Message, ...]]:
    """The linkage names of the entry functions, in alphabetical order, and a message for each wanted name there is none of.

    A wanted name may be a static function's; then every function of that name is an entry.
    """
    if wanted:
        return _named(program, wanted)
    if "main" in program.functions:
        return ("main",), ()
    # Not `callgraph.roots`: a function whose address only goes to code outside the program (a callback) is called by nobody here.
    # Functions that only call each other are called by nobody else: each of them can be where an execution starts.
    calls = callees(program)
    groups = strongly_connected(calls)
    group_of = {name: number for number, group in enumerate(groups) for name in group}
    called = {group_of[t] for name, targets in calls.items() for t in targets if t in group_of and group_of[t] != group_of[name]}
    return tuple(sorted(name for name, number in group_of.items() if number not in called)), ()


def _named(program: Program, wanted: Sequence[str]) -> tuple[tuple[str, ...], tuple[Message, ...]]:
    entries: set[str] = set()
    messages: list[Message] = []
    for name in wanted:
        found = [link for link in program.functions if link == name or display_name(link) == name]
        entries.update(found)
        if not found:
            text = f"There is no function {name} to enter: --entry takes the name of a function that the files define."
            messages.append(Message("error", "", text))
    return tuple(sorted(entries)), tuple(messages)
