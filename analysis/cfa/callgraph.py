"""The call graph of a program and its strongly connected components."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.cfa.components import strongly_connected
from analysis.cfa.graph import Cfa, Program
from analysis.model import ir
from analysis.model.kept_with import kept_with


@kept_with
def called(cfa: Cfa) -> tuple[tuple[str, ...], tuple[ir.Call, ...]]:
    """The functions that a function calls by their names, each once, and its calls through pointers."""
    calls = [edge.effect for edge in cfa.calls if isinstance(edge.effect, ir.Call)]
    direct = dict.fromkeys(name for call in calls if (name := ir.direct_callee(call)) is not None)
    return tuple(direct), tuple(call for call in calls if ir.direct_callee(call) is None)


@kept_with
def callees(program: Program) -> Mapping[str, tuple[str, ...]]:
    """For each function, what it can call, defined or not, each once: what it names, in the order of the calls, then what its
    pointers reach."""
    found: dict[str, tuple[str, ...]] = {}
    for name, cfa in program.functions.items():
        direct, others = called(cfa)
        reached = (target for call in others for target in program.targets(call))
        found[name] = tuple(dict.fromkeys((*direct, *reached))) if others else direct
    return found


@kept_with
def callers(program: Program) -> Mapping[str, tuple[str, ...]]:
    """For each defined or called function, the functions that can call it, in the program's order."""
    found: dict[str, list[str]] = {name: [] for name in program.functions}
    for name, called in callees(program).items():
        for target in called:
            found.setdefault(target, []).append(name)
    return {name: tuple(names) for name, names in found.items()}


@kept_with
def components(program: Program) -> tuple[tuple[str, ...], ...]:
    """The strongly connected components of the defined functions, callees before callers; each in the program's order."""
    order = {name: position for position, name in enumerate(program.functions)}
    return tuple(tuple(sorted(found, key=order.__getitem__)) for found in strongly_connected(callees(program)))


@kept_with
def groups(program: Program) -> Mapping[str, int]:
    """The number of the group of each function: functions that call each other are one group, after all that they call."""
    return {name: number for number, group in enumerate(components(program)) for name in group}


@kept_with
def recursive(program: Program) -> frozenset[str]:
    """The functions that may call themselves, also through others."""
    called = callees(program)
    return frozenset(name for group in components(program) for name in group if len(group) > 1 or name in called[name])


def callees_first(program: Program, group: Sequence[str]) -> Mapping[str, int]:
    """The positions of the functions of a component in an order in which most come after those of it that they call."""
    called, members, order = callees(program), set(group), dict[str, int]()
    reached: set[str] = set()
    for first in group:
        if first in reached:
            continue
        reached.add(first)
        waiting = [(first, iter(called[first]))]
        while waiting:
            name, others = waiting[-1]
            other = next((one for one in others if one in members and one not in reached), None)
            if other is None:
                waiting.pop()
                order[name] = len(order)
            else:
                reached.add(other)
                waiting.append((other, iter(called[other])))
    return order


def reached_by_pointers(program: Program, cfa: Cfa) -> tuple[tuple[str, ...], ...]:
    """What each call of a function through a pointer can reach."""
    return tuple(program.targets(call) for call in called(cfa)[1])


def roots(program: Program) -> tuple[str, ...]:
    """The functions that no other function calls or could call through a pointer, in the program's order."""
    called = {target for name, targets in callees(program).items() for target in targets if target != name}
    return tuple(name for name in program.functions if name not in called and name not in program.address_taken)
