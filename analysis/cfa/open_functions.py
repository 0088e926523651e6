"""Functions of a program with `main` that may be called from outside of it: a library often lies beside a demo.

These are the functions that other files can name (C11 6.2.2p4) and nobody in the program calls, and the `main` of each further
program (`cfa.linking.programs`). One whose address is used is left out: where it goes is not followed here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from analysis.cfa.callgraph import callees, callers
from analysis.cfa.components import strongly_connected
from analysis.cfa.graph import Cfa, Program
from analysis.cfa.linking.obstructed import MAIN, mentions
from analysis.model import ir
from analysis.model.kept_with import kept_with


@kept_with
def open_functions(program: Program) -> frozenset[str]:
    """The functions by which a program with `main` can be entered elsewhere; none of one without, which has no start."""
    if MAIN not in program.functions:
        return frozenset()
    found = uncalled({name: direct_callees(cfa) for name, cfa in program.functions.items()})
    named = {name for name in found & program.functions.keys() if "::" not in name and name not in program.address_taken}
    return frozenset(named.union(filter(is_main, program.functions))) - {MAIN}


@kept_with
def only_started(program: Program) -> frozenset[str]:
    """The functions `main` that nothing in the program calls, or could."""
    called = callers(program)
    return frozenset(filter(is_main, program.functions)) - program.address_taken - {name for name, by in called.items() if by}


@kept_with
def entered_elsewhere(program: Program) -> frozenset[str]:
    """The open functions and all that they lead to."""
    calls, functions = callees(program), program.functions
    found = set(open_functions(program))
    waiting = list(found)
    while waiting:
        name = waiting.pop()
        used = mentions(functions[name]) & program.address_taken if name in functions else frozenset[str]()
        new = used.union(calls.get(name, ())) - found
        found |= new
        waiting += new
    return frozenset(found)


@kept_with
def called_from_outside(program: Program) -> frozenset[str]:
    """The functions whose address is used and that nobody in the program calls, by name or through a pointer. Code outside of the
    program does: they are the start of a thread, handlers of signals, what `qsort` compares with."""
    waiting = set(program.address_taken & program.functions.keys())
    for cfa in program.functions.values() if waiting else ():
        waiting -= direct_callees(cfa)
    for cfa in program.functions.values() if waiting else ():
        for call in pointer_calls(cfa):
            waiting.difference_update(program.targets(call))
    return frozenset(waiting)


def with_outside_calls(entries: Sequence[str], program: Program) -> tuple[str, ...]:
    """The entries, and where code outside of the program begins to run more of it in runs from `main`."""
    more = called_from_outside(program).difference(entries) if MAIN in entries else frozenset[str]()
    return (*entries, *sorted(more))


def is_main(name: str) -> bool:
    """Whether the linkage name is that of a `main`: of the first program, or of a further one."""
    return name == MAIN or name.startswith(f"{MAIN}~")


def uncalled(calls: Mapping[str, Collection[str]]) -> set[str]:
    """The functions that no others call. Of functions that only call each other, each can be where an execution starts."""
    groups = strongly_connected({name: tuple(sorted(called)) for name, called in calls.items()})
    group_of = {name: number for number, group in enumerate(groups) for name in group}
    called = {group_of[t] for name, targets in calls.items() for t in targets if t in group_of and group_of[t] != group_of[name]}
    return {name for name, number in group_of.items() if number not in called}


@kept_with
def direct_callees(cfa: Cfa) -> frozenset[str]:
    """The functions that a function calls by name."""
    found = (ir.direct_callee(edge.effect) for edge in cfa.calls if isinstance(edge.effect, ir.Call))
    return frozenset(name for name in found if name is not None)


@kept_with
def pointer_calls(cfa: Cfa) -> tuple[ir.Call, ...]:
    """The calls of a function through pointers."""
    found = (edge.effect for edge in cfa.calls if isinstance(edge.effect, ir.Call))
    return tuple(call for call in found if ir.direct_callee(call) is None)
