"""Why an exploration of CFAs may not see all runs of a program: control flow that CFAs do not have, anywhere that can be reached.

An engine that leaves out states, because no edges lead from them to the target, must ask here first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from analysis.c.control import ERRNO, UNMODELLED
from analysis.c.functions import known
from analysis.cfa.callgraph import callees, components
from analysis.cfa.graph import Cfa, Edge, Program
from analysis.cfa.linking.obstacle_words import described
from analysis.cfa.linking.project_contracts import used_contracts
from analysis.cfa.marks import marked
from analysis.cfa.open_functions import is_main
from analysis.cpa.obstacles.compared_objects import compared_reasons
from analysis.cpa.obstacles.ended_pointers import ended_reasons
from analysis.cpa.obstacles.padding_bytes import padding_reasons
from analysis.cpa.obstacles.passed_code import may_call_back
from analysis.frontend.declarations.file_level import UNSEEN
from analysis.model import ir
from analysis.model.c_types import Pointer
from analysis.model.kept_with import kept_with
from analysis.model.spelling import display_name

KEEPS_ERRNO = "a pointer to errno is kept, which library functions change"


def hidden_flow(program: Program, entries: tuple[str, ...]) -> tuple[str, ...]:
    """The reasons, each once, in the program's order."""
    found: dict[str, None] = {}
    if keeps_errno(program):
        found[KEEPS_ERRNO] = None
    if UNSEEN in program.externals and any(map(is_main, entries)):
        found["attributes make functions run before or after main, or give them other names"] = None
    for name in reachable(program, entries):
        for edge in program.functions[name].edges:
            found.update(dict.fromkeys(_hidden(program, name, edge)))
    found.update(dict.fromkeys(address_reasons(program, entries)))
    return tuple(found)


def address_reasons(program: Program, entries: tuple[str, ...]) -> Iterator[str]:
    """Which comparisons of pointers may come out otherwise than in models, in which each object has an address of its own
    for ever, far from all others; and which reads may find other bytes there."""
    functions = reachable(program, entries)
    yield from ended_reasons(program, functions)
    yield from compared_reasons(program, functions)
    yield from padding_reasons(program, functions)


def reachable(program: Program, entries: tuple[str, ...]) -> list[str]:
    """The functions that may be called from the entries, these included."""
    seen = dict.fromkeys(entry for entry in entries if entry in program.functions)
    waiting = list(seen)
    while waiting:
        for edge in program.functions[waiting.pop()].calls:
            if not isinstance(edge.effect, ir.Call):
                continue
            for callee in program.targets(edge.effect):
                if callee in program.functions and callee not in seen:
                    seen[callee] = None
                    waiting.append(callee)
    return list(seen)


def called_outside(program: Program, entries: tuple[str, ...]) -> Iterator[str]:
    """The external functions that may be called; an empty name stands for what a pointer leads to that is not known."""
    below = _outside_below(program)
    yield from dict.fromkeys(name for entry in entries if entry in below for name in below[entry])


def calls_unknown(program: Program, entries: tuple[str, ...]) -> bool:
    """Whether an external function may be called of which it is not known all that it does."""
    below, unknown = _outside_below(program), _unknown_outside(program)
    return not all(unknown.isdisjoint(below[entry]) for entry in entries if entry in below)


@kept_with
def _unknown_outside(program: Program) -> frozenset[str]:
    return frozenset(name for name in {*chain(*_outside_below(program).values())} if not program.knows(name))


@kept_with
def _outside_below(program: Program) -> Mapping[str, tuple[str, ...]]:
    """For each function, the external functions that it, or what it calls, may call; each once."""
    called, found = callees(program), dict[str, tuple[str, ...]]()
    for group in components(program):
        names = dict[str, None]()
        for name in group:
            for target in (*called[name], *([""] if _calls_unknown(program, name) else [])):
                names.update(dict.fromkeys(found.get(target, ()) if target in program.functions else (target,)))
        found.update(dict.fromkeys(group, tuple(names)))
    return found


def _calls_unknown(program: Program, name: str) -> bool:
    """Whether a function calls through a pointer of which it is not known where it may lead."""
    calls = (edge.effect for edge in program.functions[name].calls)
    return any(isinstance(effect, ir.Call) and not program.targets(effect) for effect in calls)


def _hidden(program: Program, name: str, edge: Edge) -> Iterator[str]:
    effect = edge.effect
    if isinstance(effect, ir.Unsupported):
        yield not_supported(name, effect.reason)
    if not isinstance(effect, ir.Call):
        return
    targets = program.targets(effect)
    if not targets:
        yield leads_nowhere(name)
    for callee in targets:
        if callee in program.functions:
            continue
        if callee in UNMODELLED:
            yield not_modelled(name, callee)
        elif may_call_back(program, callee, effect):
            yield calls_back(name, callee)


def calls_the_unknown(program: Program, path: Sequence[tuple[str, int]]) -> bool:
    """Whether a path, its edges by function and id, goes over a call of an external function that is not a known one: it
    could write to any global that other files can name, while formulas of paths say that it writes what its arguments lead to."""
    return any(
        name not in program.functions and not is_known(name)
        for function, edge in path
        if isinstance(effect := program.functions[function].by_id[edge].effect, ir.Call)
        for name in program.targets(effect) or ("",)
    )


def is_known(name: str) -> bool:
    """Whether a row of the table says all that an external function does. That a header of the system declares it is not
    enough: it may write to what an earlier call returned (`gmtime`), or to variables that headers declare (`optind`)."""
    function = known(name)
    return function is not None and function.is_complete


def keeps_errno(program: Program) -> bool:
    """Whether a pointer to `errno` goes anywhere but to where it is read or written at once: any library function may change what
    it leads to (C11 7.5p3), also those that write to nothing else."""
    if not program.address_taken.isdisjoint(ERRNO):
        return True
    return any(name in program.externals for name in ERRNO) and any(map(_keeps_errno, program.functions.values()))


@kept_with
def _keeps_errno(cfa: Cfa) -> bool:
    calls = [edge.effect for edge in cfa.calls if isinstance(edge.effect, ir.Call)]
    results = [call.result for call in calls if ir.direct_callee(call) in ERRNO and call.result is not None]
    pointers = {result.name for result in results if isinstance(result, ir.Var) and result.scope == "temporary"}
    return len(pointers) < len(results) or any(_uses(edge.effect, pointers) for edge in cfa.edges if pointers)


def _uses(effect: ir.Effect, pointers: set[str]) -> bool:
    """Whether the effect does anything with one of the pointers but to read or write what it leads to."""
    waiting = list(ir.expressions_read(effect) if isinstance(effect, ir.Call) else ir.expressions(effect))
    while waiting:
        expr = waiting.pop()
        if isinstance(expr, ir.Var) and expr.name in pointers:
            return True
        if not (isinstance(expr, ir.Deref) and isinstance(expr.pointer, ir.Var)):
            waiting.extend(ir.operands(expr))
    return False


def depends_on_compiler(program: Program, entries: tuple[str, ...]) -> bool:
    """Whether a run can depend on what each compiler decides: the numbers of addresses, or the bytes of padding."""
    return address_number(program, entries) is not None or any(padding_reasons(program, reachable(program, entries)))


def address_number(program: Program, entries: tuple[str, ...]) -> str | None:
    """Why a run can depend on the numbers of addresses; None if it cannot."""
    for name in reachable(program, entries):
        for edge, parts in program.functions[name].parts.items():
            for part in parts:
                if isinstance(part, ir.Cast) and isinstance(part.operand.type, Pointer) and not isinstance(part.type, Pointer):
                    where = marked(program, name, edge)
                    return f"a pointer is converted to an integer at {where}, and where objects lie in memory is not known"
    return None


def not_supported(function: str, reason: str) -> str:
    """What to say of an edge that lowering does not model."""
    return f"{display_name(function)}() {described(reason)}"


def not_modelled(function: str, callee: str) -> str:
    """What to say of a call that is not modelled."""
    return f"{display_name(function)}() calls {callee}(), whose effects are not known"


def leads_nowhere(function: str) -> str:
    """What to say of a call through a pointer that leads to nothing that is known."""
    return f"{display_name(function)}() calls through a pointer that leads to no known function"


def may_write_globals(callee: str) -> str:
    """What to say of an external function that is not known; of none, where a pointer leads to it."""
    function = f"{callee}()" if callee else "a function called through a pointer"
    return f"{function} is external, and could write to global variables (--assume externals-keep-globals says that it does not)"


def contracts_not_followed(program: Program) -> str:
    """What to say where a contract of the project says what a function does that is used, and that is not followed; empty if
    there is none."""
    first = next(iter(used_contracts(program)), None)
    return "" if first is None else f"what {first.name}() does is said in {first.described} only, and not followed here"


def calls_back(function: str, callee: str) -> str:
    """What to say of a call of an external function that is given functions of the program."""
    return f"{display_name(function)}() passes functions to {callee}(), which is external and may call them"
