"""What a function requires of its callers, and whether all of them in the program keep it.

A rule that is proved but for what parameters lead to is safe *if callers keep* requirements: the parameter is null or leads to
what has not ended (`live`); or it is null or leads to the start of a block of a kind, which nobody else ends; or, for a rule
about leaks, it is null or leads to an object that holds nothing that has to be ended (`HOLDS_NONE`); or it leads into a block,
as far behind its start as the function takes it to be (`INSIDE_HEAP`), which calls keep only if callers of the caller keep it. A
call keeps one of the first two by

- null;
- a block of the caller's own, of that kind and at its start, or anywhere in it for `live`: nothing leads there but variables of
  the caller, so that nothing ends it meanwhile but what it is passed to;
- a pointer to a variable, a function or a literal, for `live`: these do not end;
- anything that the program never ends, for `live` (`whole_conditions`);
- what `main` is passed when the program starts, for `live`;
- the block of the caller's own parameter, which has not gone anywhere else, if the callers of the caller keep the same.

No two arguments may lead to one block. The functions on the way are called by functions of the program only, and by name; all
that `main` leads to is followed, so that no call has another name. Chains of calls are finite, so that functions that call
themselves may assume what they show (Hoare's rule of recursion).

A call keeps that an object holds nothing by null, a variable of the caller's own, an own block of memory, or the object of the
caller's own parameter, if the callers of the caller keep the same. The caller must also be proved not to leak itself, if what it
overwrites holds nothing in turn. Then what it has stored in its object since that is its own, it has found elsewhere, or got from
others: its own blocks it gave to nobody, functions that it calls hand no block over, and nothing that it or they overwrite held
one. So each block that the object leads to is also reached from where it was found.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from analysis.certificate.hidden_calls import hidden_calls
from analysis.certificate.ownership.memory_state import FIXED, NULL, OWN_VARIABLE
from analysis.certificate.ownership.obligations import HOLDS_NONE, INSIDE_HEAP, LIVE, USES, Obligations, Passed
from analysis.certificate.ownership.used_before import callers_of, unfollowed_callers
from analysis.certificate.ownership.whole_conditions import never_ends, unmet
from analysis.cfa.graph import Program
from analysis.cfa.open_functions import only_started
from analysis.model.report import IF_KEPT
from analysis.model.spelling import display_name

_NEEDED = {
    LIVE: "`{}` is null, or neither freed nor closed",
    "heap": "`{}` is null, or a whole block of memory that nothing else frees",
    INSIDE_HEAP: "`{}` is inside of a block of memory that nothing else frees, and whose start is computed from it",
    "stream": "`{}` is null, or an open stream that nothing else closes",
    "directory": "`{}` is null, or an open directory that nothing else closes",
    HOLDS_NONE["memory-leak"]: "`{}` is null, or what it points to leads to nothing that has to be freed",
    HOLDS_NONE["resource-leak"]: "`{}` is null, or what it points to leads to nothing that has to be closed",
}

FOUND_LIVE = "all that it reaches through pointers in memory is neither freed nor closed"
"""The requirement that no pointer that the function comes by leads to what has ended (`used_before`)."""
_HOLD_NONE = frozenset(HOLDS_NONE.values())


class Requirement(NamedTuple):
    """One parameter of one function, and what is needed of it."""

    function: str
    parameter: str
    need: str


def required(found: Obligations, rule: str) -> str:
    """What a rule requires of callers, as a reason why it is not proved without them; empty if nothing."""
    more = [(FOUND_LIVE, why)] if rule in USES and (why := found.first.get(rule, "")) else []
    needs = {(parameter, need): why for (of, parameter, need), why in found.requires.items() if of == rule}
    said = [_NEEDED[need].format(display_name(parameter)) for parameter, need in sorted(needs)]
    both = [*zip(said, needs.values(), strict=True), *more]
    return f"{IF_KEPT}{' and '.join(text for text, _ in both)} ({both[0][1]})" if both else ""


def needed_callers(program: Program, found: Mapping[str, Obligations], function: str, rule: str) -> Iterator[str]:
    """The functions that a proof has to follow next, so that it is seen whether callers keep what a rule requires."""
    for requirement in _above(program, found, function, rule):
        yield from (name for name in callers_of(program).get(requirement.function, ()) if name not in found)
    yield from unfollowed_callers(program, found, function, rule)


def broken(program: Program, found: Mapping[str, Obligations], function: str, rule: str, entries: Collection[str]) -> str:
    """Why callers may not keep what a rule requires in a function, in runs from the entries; empty if all do. `found` is what
    closed sets show."""
    requirements = list(_above(program, found, function, rule))
    hidden = hidden_calls(program, entries) if requirements else ""
    for requirement in () if hidden else requirements:
        if _is_given_at_start(program, requirement):
            continue
        why = unseen_calls(program, requirement.function, entries) or _not_kept(program, found, requirement, rule)
        if why:
            return why
    return hidden


def _above(program: Program, found: Mapping[str, Obligations], function: str, rule: str) -> Iterator[Requirement]:
    """The requirements of a function, and those that calls pass on to callers of callers."""
    waiting = [Requirement(function, *key[1:]) for key in sorted(found[function].requires) if key[0] == rule]
    seen = set(waiting)
    while waiting:
        requirement = waiting.pop()
        if requirement.need == LIVE and never_ends(program, requirement.function, requirement.parameter):
            continue
        yield requirement
        for caller in callers_of(program).get(requirement.function, ()):
            given = _passed(program, found, caller, requirement)
            above = [Requirement(caller, passed.name, requirement.need) for passed in given if passed.what == "parameter"]
            if requirement.need in _HOLD_NONE and caller in found:
                above += [Requirement(caller, *key[1:]) for key in sorted(found[caller].requires) if key[0] == rule]
            new = [one for one in dict.fromkeys(above) if one not in seen]
            seen.update(new)
            waiting += new


def _passed(program: Program, found: Mapping[str, Obligations], caller: str, requirement: Requirement) -> Mapping[Passed, str]:
    names = [one.name for one in program.functions[requirement.function].parameters]
    key = requirement.function, names.index(requirement.parameter)
    return found[caller].passed.get(key, {}) if caller in found else {}


def _is_given_at_start(program: Program, requirement: Requirement) -> bool:
    """Whether it is about what a `main` that nothing calls is passed: that lives to the end (C11 5.1.2.2.1p2)."""
    return requirement.need == LIVE and requirement.function in only_started(program)


def unseen_calls(program: Program, function: str, entries: Collection[str]) -> str:
    """Why a function may be called from where that is not seen."""
    name = display_name(function)
    if function in entries:
        return f"{name}() is called from outside"
    is_open = function in program.address_taken
    return f"the address of {name}() is used, through which anything may call it" if is_open else ""


def _not_kept(program: Program, found: Mapping[str, Obligations], requirement: Requirement, rule: str) -> str:
    """Why a caller does not keep a requirement; empty if all do, and there is one."""
    is_called = False
    for caller in callers_of(program).get(requirement.function, ()):
        if caller not in found or found[caller].broken:
            return f"{display_name(caller)}() calls {display_name(requirement.function)}(), and is not followed"
        if found[caller].hidden:
            return f"{display_name(caller)}() calls {display_name(requirement.function)}(), and {found[caller].hidden}"
        if requirement.need in _HOLD_NONE:
            loses = found[caller].refused.get(rule) or unmet(program, found, caller, rule, is_kept=True)
            if loses:
                names = display_name(caller), display_name(requirement.function)
                return f"{names[0]}() calls {names[1]}(), and may lose something itself: {loses}"
        for passed, place in _passed(program, found, caller, requirement).items():
            is_called = True
            if not _keeps(passed, requirement.need):
                said = _NEEDED[requirement.need].format(display_name(requirement.parameter))
                return f"at {place}, {display_name(requirement.function)}() is called, and it is not known that {said}"
    return "" if is_called else f"no call of {display_name(requirement.function)}() was found"


def _keeps(passed: Passed, need: str) -> bool:
    if need in _HOLD_NONE:
        return passed.what in (NULL, OWN_VARIABLE, "heap", "parameter")
    if need == INSIDE_HEAP:
        return passed.what == "parameter"
    if passed.what in ("other", FIXED, OWN_VARIABLE):
        return passed.what != "other" and need == LIVE
    if passed.what == "null" or need == LIVE:
        return True
    return passed.is_start and passed.what in (need, "parameter")
