"""Calls through a pointer that come down to the same library function, whichever function they reach.

A library that lets its user choose the allocator calls `free` through a pointer: `static void (*do_free)(void *) = free;`. Where
all that the program assigns to the pointer frees what it is passed in each run, which of them is reached makes no difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

from analysis.cfa.graph import Cfa, Program
from analysis.engines.automaton.report.every_run import is_unavoidable
from analysis.model import ir
from analysis.model.c_types import Pointer
from analysis.model.kept_with import kept_with


def agreeing(program: Program, call: ir.Call, begins: ir.Effect | None) -> frozenset[str] | None:
    """The functions with a body that a call through a pointer can reach, if all that the program assigns to the pointer comes
    down to the library function that the effect `begins` calls; None if some does not, or nothing is assigned."""
    assigned = program.assigned(call)
    if not assigned or not isinstance(begins, ir.Call):
        return None
    for name in program.assigned(begins):
        looked: set[str] = set()
        if name not in program.functions and all(_comes_down(program, target, name, looked) for target in assigned):
            return frozenset(looked)
    return None


def gives(program: Program, call: ir.Call, begins: ir.Effect | None, looked: set[str]) -> bool:
    """Whether all that a call can reach returns, in each run, null or what the library function gives that the effect `begins`
    calls, and stores it nowhere. Adds to `looked` the functions that this depends on."""
    if not isinstance(begins, ir.Call):
        return False
    targets, made = program.assigned(call), program.assigned(begins)
    names = [name for name in made if name not in program.functions]
    return bool(targets) and any(_giving(program, targets, name, looked).issuperset(targets) for name in names)


def _giving(program: Program, targets: Sequence[str], name: str, looked: set[str]) -> set[str]:
    """The functions that give what the library function `name` gives, itself among them: of these, and of all that they call.
    Each is asked once, callees first. A call that leads back to a function that is not yet answered gives nothing."""
    found, waiting = {name}, [*reversed(targets)]
    entered, answered = set[str](), {name}
    while waiting:
        target = waiting[-1]
        cfa = program.functions.get(target)
        if cfa is None or target in answered:
            waiting.pop()
        elif target in entered:
            waiting.pop()
            answered.add(target)
            if _gives(program, cfa, found):
                found.add(target)
        else:
            entered.add(target)
            looked.add(target)
            waiting.extend(reversed([callee for callee in _asked(program, cfa) if callee not in entered]))
    return found


def _asked(program: Program, cfa: Cfa) -> Iterable[str]:
    """The functions whose results decide what a function gives."""
    calls = [call for call in _calls(cfa) if call.result] if _hands_out_results(cfa) else []
    return dict.fromkeys(callee for call in calls for callee in program.assigned(call))


def _gives(program: Program, cfa: Cfa, giving: set[str]) -> bool:
    """Whether a function returns what calls of these functions give, or null, and stores it nowhere."""
    if not _hands_out_results(cfa):
        return False
    calls = _calls(cfa)
    making = {call.result for call in calls if call.result and (targets := program.assigned(call)) and giving.issuperset(targets)}
    made = _derived(cfa, making)
    if not _returns_only(cfa, made) or any(call.result in made - making or _hands_on(program, call, made) for call in calls):
        return False
    return not any(_mixes(edge.effect, made) for edge in cfa.edges if isinstance(edge.effect, ir.Assign))


@kept_with
def _hands_out_results(cfa: Cfa) -> bool:
    """Whether all that a function returns, but for null, are results of calls."""
    return _returns_only(cfa, _derived(cfa, [call.result for call in _calls(cfa) if call.result]))


def _calls(cfa: Cfa) -> list[ir.Call]:
    return [edge.effect for edge in cfa.calls if isinstance(edge.effect, ir.Call)]


def _returns_only(cfa: Cfa, made: Set[ir.Expr]) -> bool:
    """Whether a function returns one of these values, or null."""
    returned = [edge.effect.value for edge in cfa.edges if isinstance(edge.effect, ir.Return)]
    values = [value for value in returned if value is not None and not _is_null(value)]
    return bool(values) and all(_bare(value) in made for value in values)


def _hands_on(program: Program, call: ir.Call, made: Set[ir.Expr]) -> bool:
    """Whether a function of the program is passed what was made: it may keep it."""
    is_of_library = all(target not in program.functions for target in program.assigned(call))
    return not is_of_library and any(_bare(argument) in made for argument in call.arguments)


def _mixes(effect: ir.Assign, made: Set[ir.Expr]) -> bool:
    """Whether what was made is stored in memory, or something else than it where it is held."""
    is_local = isinstance(effect.target, ir.Var) and effect.target.scope != "global"
    is_made = _bare(effect.value) in made
    return (is_made and not is_local) or (effect.target in made and not is_made and not _is_null(effect.value))


def _is_null(expr: ir.Expr) -> bool:
    bare = ir.strip_casts(expr)
    return isinstance(bare, ir.IntConst) and bare.value == 0


def _comes_down(program: Program, target: str, name: str, looked: set[str]) -> bool:
    """Whether a function is the library function `name`, or passes it in each run what it is passed itself. What recursion does
    is not looked into."""
    waiting = [target]
    while waiting:
        target = waiting.pop()
        cfa = program.functions.get(target)
        if target == name:
            return True
        if cfa is not None and target not in looked:
            looked.add(target)
            waiting.extend(reversed([*_instead(cfa)]))
    return False


def _instead(cfa: Cfa) -> Iterable[str]:
    """The functions that a function calls in each run with what it is passed."""
    passed = _derived(cfa, [one for one in cfa.parameters if isinstance(one.type, Pointer)])
    for edge in cfa.calls:
        callee = ir.direct_callee(edge.effect) if isinstance(edge.effect, ir.Call) else None
        is_passed = isinstance(edge.effect, ir.Call) and any(_bare(one) in passed for one in edge.effect.arguments)
        if callee is not None and is_passed and is_unavoidable(cfa, edge.id):
            yield callee


def _derived(cfa: Cfa, begin: Iterable[ir.Expr]) -> frozenset[ir.Expr]:
    """The variables that hold one of these pointers, or one into the same object."""
    found = set(begin)
    assigned = [edge.effect for edge in cfa.edges if isinstance(edge.effect, ir.Assign)]
    while more := {one.target for one in assigned if _bare(one.value) in found} - found:
        found |= more
    return frozenset(found)


def _bare(expr: ir.Expr) -> ir.Expr:
    """The pointer that an expression adds to."""
    bare = ir.strip_casts(expr)
    while isinstance(bare, ir.Binary) and bare.operator in ("+", "-") and isinstance(bare.type, Pointer):
        bare = ir.strip_casts(bare.left)
    return bare
