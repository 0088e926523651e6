"""Which functions of a program do for the same arguments and memory what they did in the version before.

A function is as before if its control-flow automaton is, with the lives of its variables, up to names of static functions and
variables and to places in the text, and everything that it uses: types of variables, declarations of external functions, members
of records, and the functions that it can call. Where a CFA does not show all that the text says (`hidden_text`), the text has to
be the same, but for layout. What external functions do is taken to be the same. What a variable holds is no part of what a
function does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from analysis.cfa.callgraph import callees
from analysis.cfa.graph import Cfa, Program
from analysis.cfa.revisions.beside_edges import beside_edges
from analysis.cfa.revisions.counterparts import counterparts
from analysis.cfa.revisions.delta import ProgramChange, Revision
from analysis.cfa.revisions.used import used_by
from analysis.engines.difference.hidden_text import hides_text, text_of
from analysis.model import ir
from analysis.model.spelling import display_name

Difference = Literal["none", "proved-equivalent", "possible"]
"""Whether a function can do something else: not, as nothing that it is made of is another; not, as was proved
(`equal_functions`); or possibly."""


def differences(old: Revision, new: Revision, change: ProgramChange) -> dict[str, Difference]:
    """For each function of the new version, by linkage name, whether it can do something else; `change` is from old to new."""
    names = counterparts(new.program, old.program)
    changed = {name for name in new.program.functions if _is_other(names.get(name, name), change)}
    changed |= _using_others(new, names, change)
    changed |= {name for name in new.program.functions if _hides_a_change(old, new, names.get(name, name), name)}
    changed |= _with_other_lives(old.program, new.program, names)
    changed |= _without_body(names, change)
    changed |= _not_understood(old, new)
    changed = _with_callers(new.program, changed)
    return {name: "possible" if name in changed else "none" for name in new.program.functions}


def _is_other(name: str, change: ProgramChange) -> bool:
    """Whether a function, by the name that it had, has another body, is new, or does not parse in one of the versions."""
    others = {found.old.name for found in change.modified}.union(change.added, change.unparsed)
    return name in others


def _with_other_lives(old: Program, new: Program, names: Mapping[str, str]) -> set[str]:
    """The functions in which local variables live for another time, or other operands have no order, though no edge differs."""
    both = ((cfa, old.functions.get(names.get(name, name))) for name, cfa in new.functions.items())
    others = ((cfa, before) for cfa, before in both if before is not None and before.digest != cfa.digest)
    return {cfa.name for cfa, before in others if beside_edges(cfa) != beside_edges(before)}


def _without_body(names: Mapping[str, str], change: ProgramChange) -> set[str]:
    """The functions, by the names that calls use now, that the new version lacks, or that do not parse in one of the versions."""
    lost = {*change.deleted, *change.unparsed}
    return lost.union(name for name, before in names.items() if before in lost)


def _not_understood(old: Revision, new: Revision) -> set[str]:
    """The functions that do not parse in one of the versions, by the names that calls use. What is known of one may be what it
    was before."""
    unparsed = old.unparsed | new.unparsed
    if not unparsed:
        return set()
    called = {target for names in callees(new.program).values() for target in names}
    return {name for name in called.union(new.program.functions) if display_name(name) in unparsed}


def _hides_a_change(old: Revision, new: Revision, old_name: str, name: str) -> bool:
    """Whether the text of a function differs, and its CFA does not show all that the text says."""
    if old_name not in old.program.functions:
        return False
    if not hides_text(old.program.functions[old_name]) and not hides_text(new.program.functions[name]):
        return False
    return text_of(old.places, old_name) != text_of(new.places, name)


def _using_others(new: Revision, names: Mapping[str, str], change: ProgramChange) -> set[str]:
    """The functions that use what is declared otherwise, or call through pointers where these can lead elsewhere."""
    declared = {one.name for one in change.globals}.union(one.name for one in change.externals)
    records = {one.name for one in change.records}
    found: set[str] = set()
    if declared or records:
        for name in new.program.functions:
            used = used_by(new.program, new.system, name)
            if not records.isdisjoint(used.records) or any(names.get(one, one) in declared for one in used.names):
                found.add(name)
    if change.targets:
        found.update(name for name, cfa in new.program.functions.items() if _calls_through_pointers(cfa))
    return found


def _calls(cfa: Cfa) -> Iterator[ir.Call]:
    return (edge.effect for edge in cfa.calls if isinstance(edge.effect, ir.Call))


def _calls_through_pointers(cfa: Cfa) -> bool:
    return any(ir.direct_callee(call) is None for call in _calls(cfa))


def _with_callers(program: Program, changed: set[str]) -> set[str]:
    """These functions, and all that can come to call one of them."""
    callers: dict[str, set[str]] = {}
    for name, cfa in program.functions.items():
        for call in _calls(cfa):
            for target in program.targets(call):
                callers.setdefault(target, set()).add(name)
    found = set(changed)
    waiting = list(changed)
    while waiting:
        for caller in callers.get(waiting.pop(), ()):
            if caller not in found:
                found.add(caller)
                waiting.append(caller)
    return found
