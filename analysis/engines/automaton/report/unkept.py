"""Functions that keep what they are passed in other runs, on paths on which they do not: `insert(tree, node);`, where the tree
has a node of that key already.

Whether there is one is a matter of the program's data, and a caller who does not look at the answer knows that there is none. It
is something else where memory is short, or a file cannot be read: that can happen in any run. Or where there is no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analysis.c.functions import known
from analysis.cfa.graph import Cfa, Program
from analysis.engines.automaton.facts.product import ProgramDelta
from analysis.engines.automaton.functions.access_paths import root_of
from analysis.engines.automaton.functions.lending import flows_of, held_by
from analysis.engines.automaton.report.questions import only_computes
from analysis.engines.automaton.report.trace import Taken
from analysis.model import ir
from analysis.model.c_types import Void

_COMPARING = ("C 7.24.", "C 7.29.4.4", "POSIX strcasecmp", "POSIX strncasecmp")  # <string.h>; the same of wide characters
_DEEP = 4  # calls that are looked into


def is_unkept(delta: ProgramDelta, steps: Sequence[Taken], looked: set[str]) -> bool:
    """Whether a function on these steps is passed the value, stores it in memory in other runs and does not in this one because
    of the program's data; and no caller on the steps tests what it answers. Adds to `looked` what this depends on."""
    return any(_is_unkept(delta, steps, number, looked) for number, taken in enumerate(steps) if taken.event == "call")


def _is_unkept(delta: ProgramDelta, steps: Sequence[Taken], number: int, looked: set[str]) -> bool:
    called = steps[number]
    back = next((at for at in range(number + 1, len(steps)) if steps[at].depth == called.depth), None)
    if back is None or back == number + 1 or steps[back].event != "return":
        return False
    callee = steps[number + 1].function
    roots = {path[0] for path in delta.facts[called.after].paths}
    cfa = delta.program.functions[callee]
    if isinstance(cfa.type.result, Void):
        return False
    positions = [at for at, parameter in enumerate(cfa.parameters) if root_of(parameter) in roots]
    inside = [taken for taken in steps[number + 1 : back] if taken.depth == called.depth + 1]
    return (
        any(may_store(delta.program, cfa, position, looked, set()) for position in positions)
        and _is_decided_by_data(delta.program, cfa, inside, looked)
        and not _is_tested(delta.program, steps[back:])
    )


def may_store(program: Program, cfa: Cfa, position: int, looked: set[str], seen: set[tuple[str, int]]) -> bool:
    """Whether a function, or one that it passes its parameter on to, stores the parameter in memory."""
    if position >= len(cfa.parameters) or (cfa.name, position) in seen:
        return False
    seen.add((cfa.name, position))
    looked.add(cfa.name)
    flows = list(flows_of(cfa))
    held = held_by(cfa.parameters[position].name, flows)
    for flow in flows:
        if held.isdisjoint(flow.sources) or flow.into is not None or flow.returned:
            continue
        target = None if flow.call is None else program.functions.get(ir.direct_callee(flow.call) or "")
        if flow.call is None or (target is not None and may_store(program, target, flow.position, looked, seen)):
            return True
    return False


def _is_decided_by_data(program: Program, cfa: Cfa, inside: Iterable[Taken], looked: set[str]) -> bool:
    """Whether the last branch that a function takes on the path tests no answer that memory, files or input decide."""
    outside: set[ir.Expr] = set()
    is_by_data = False
    for taken in inside:
        effect = cfa.by_id[taken.edge].effect if taken.edge >= 0 and taken.event != "call" else None
        if isinstance(effect, ir.Call) and effect.result is not None:
            if not _only_looks(program, effect, looked, _DEEP):
                outside.add(effect.result)
        elif isinstance(effect, ir.Assign) and not outside.isdisjoint(ir.walk(effect.value)):
            outside.add(effect.target)
        elif isinstance(effect, ir.Assume) and not isinstance(effect.condition, ir.IntConst):
            is_by_data = outside.isdisjoint(ir.walk(effect.condition))
    return is_by_data


def _only_looks(program: Program, call: ir.Call, looked: set[str], deep: int) -> bool:
    """Whether a call's result depends on nothing but the values that the program has in memory, as that of a comparison does."""
    name = ir.direct_callee(call) or ""
    cfa = program.functions.get(name)
    if cfa is None:
        function = known(name)
        return only_computes(call) or (function is not None and function.described.startswith(_COMPARING))
    looked.add(name)
    if deep == 0 or cfa.unsupported:
        return False
    return all(isinstance(e.effect, ir.Call) and _only_looks(program, e.effect, looked, deep - 1) for e in cfa.calls)


def _is_tested(program: Program, steps: Sequence[Taken]) -> bool:
    """Whether a branch tests what the first step, a return, gives to its caller, or what that caller makes of it for its own; or
    the last function of these hands it on."""
    depth, answers = steps[0].depth, _result(program, steps[0])
    is_returned = False
    for taken in steps[1:]:
        if not answers or taken.depth > depth or taken.edge < 0:
            continue
        effect = program.functions[taken.function].by_id[taken.edge].effect
        if taken.depth < depth:
            depth, answers = taken.depth, _result(program, taken) if is_returned and taken.event == "return" else set()
            is_returned = False
        elif not any(not answers.isdisjoint(ir.walk(value)) for value in ir.values_of(effect)):
            continue
        elif isinstance(effect, ir.Assume):
            return True
        elif isinstance(effect, ir.Assign):
            answers.add(effect.target)
        is_returned = is_returned or isinstance(effect, ir.Return)
    return is_returned


def _result(program: Program, back: Taken) -> set[ir.Expr]:
    """Where the caller has the result of a call that a step returns from."""
    effect = program.functions[back.function].by_id[back.edge].effect
    return {effect.result} if isinstance(effect, ir.Call) and effect.result is not None else set()
