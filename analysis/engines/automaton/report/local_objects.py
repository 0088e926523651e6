"""Values that a variable of a function on the path holds itself, or a member of one: `struct text t; set_up(&t); clear(&t);`.

Other code knows such an object only by the address that calls are passed, if these only borrow it (`lent_objects`). What they do
to the value was followed. An object whose address is used in any other way is one of those that others may know.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.cfa.graph import Program
from analysis.engines.automaton.facts.passed_paths import arguments_of
from analysis.engines.automaton.facts.product import ProgramDelta
from analysis.engines.automaton.functions.access_paths import CALLER, RESULT, Path
from analysis.engines.automaton.report.every_run import is_unavoidable
from analysis.engines.automaton.report.lent_objects import is_never_taken, is_only_lent
from analysis.engines.automaton.report.places_in_memory import is_in_union
from analysis.engines.automaton.report.trace import Taken
from analysis.model import ir
from analysis.model.c_types import RecordDefinition

_DOWN = frozenset(("call", "descent"))


def is_local(program: Program, function: str, path: Path, looked: set[str]) -> bool:
    """Whether a value is in a variable of the function that nobody else knows. Adds to `looked` the functions that this depends
    on."""
    return _is_named(path, program.records) and is_only_lent(program, program.functions[function], path[0], looked)


def is_unknown_so_far(delta: ProgramDelta, path: Sequence[Taken], home: Taken, value: Path) -> bool:
    """Whether a value is in a variable of the function of a step of the path, and the steps of that activation up to there do not
    use its address."""
    cfa = delta.program.functions[home.function]
    own = list[int]()
    for taken in reversed(path[: _number(path, home) + 1]):
        if taken.depth < home.depth:
            break
        if taken.depth == home.depth and taken.edge >= 0:
            own.append(taken.edge)
    return _is_named(value, delta.program.records) and is_never_taken(cfa, own, value[0])


def _number(path: Sequence[Taken], step: Taken) -> int:
    return max(number for number, taken in enumerate(path) if taken is step)


def _is_named(path: Path, records: Mapping[str, RecordDefinition]) -> bool:
    """Whether a value is in a variable of the function, or in a member of one that is no union. Which element of an array it is
    in is not known well enough."""
    is_named = path[0] not in (CALLER, RESULT) and not path[0].startswith("@")
    return is_named and all(operation.startswith(".") for operation in path[1:]) and not is_in_union(path, records)


def holding(delta: ProgramDelta, steps: Sequence[Taken], looked: set[str]) -> Taken:
    """A step of the activation of which a local object holds what the last step loses, if that is lost in each run of what is
    called there; else the last step."""
    functions, home = delta.program.functions, steps[-1]
    while is_unavoidable(functions[home.function], home.edge):
        call = next((taken for taken in reversed(steps) if taken.depth < home.depth), None)
        if call is None or call.event not in _DOWN:
            break
        if all(is_local(delta.program, call.function, path, looked) for path in delta.facts[call.before].paths):
            return call
        home = call
    return steps[-1]


def is_passed_local(delta: ProgramDelta, steps: Sequence[Taken], number: int, parameter: str, looked: set[str]) -> bool:
    """Whether a parameter of the function of a step was passed the address of a local object, in the call or further up."""
    depth, name = steps[number].depth, parameter
    for before in range(number - 1, -1, -1):
        call = steps[before]
        if call.depth >= depth or call.event not in _DOWN:
            continue
        cfa = delta.program.functions[steps[before + 1].function]
        effect = delta.program.functions[call.function].by_id[call.edge].effect
        passed = arguments_of(effect, cfa.parameters) if isinstance(effect, ir.Call) else ()
        path = next((one.path for one in passed if one.parameter == name), None)
        if path is None:
            return False
        if path[-1] == "&" and _is_named(path[:-1], delta.program.records):
            return is_only_lent(delta.program, delta.program.functions[call.function], path[0], looked)
        is_behind = path[-1] == "&" and path[1] == "*" and _is_named((path[0], *path[2:-1]), delta.program.records)
        if len(path) > 1 and not is_behind:
            return False
        depth, name = call.depth, path[0]
    return False
