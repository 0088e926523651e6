"""A freed pointer that a function hands out: `free(p); *out = p; return -1;`.

No caller can use it. Where a caller does, the function's own code says all that there is to know, if it never gets to the
statement that hands it out without having freed it. `if (--p->users == 0) free(p); return p;` is another matter.
"""

from __future__ import annotations

from collections.abc import Sequence

from analysis.c.blocks import RESIZES
from analysis.cfa.graph import Cfa, Program
from analysis.engines.automaton.facts.ownership import may_end
from analysis.engines.automaton.facts.product import ProgramDelta
from analysis.engines.automaton.functions.access_paths import path_of
from analysis.engines.automaton.report.places_in_memory import is_reachable
from analysis.engines.automaton.report.trace import Taken
from analysis.model import ir


def is_handed_out_freed(delta: ProgramDelta, steps: Sequence[Taken], home: Taken) -> bool:
    """Whether the first step frees or closes the object in a function called from that of `home`, which then stores the pointer
    where its caller finds it, or returns it, and does so in no run without the first step."""
    first = steps[0]
    cfa = delta.program.functions[first.function]
    if first.event != "edge" or first.depth <= home.depth or not _ends(delta.program, cfa.by_id[first.edge].effect):
        return False
    for taken in steps[1:]:
        if taken.depth < first.depth:
            return False
        if (taken.function, taken.depth, taken.event) != (first.function, first.depth, "edge"):
            continue
        edge = cfa.by_id[taken.edge]
        if _is_given(edge.effect, delta, taken) and not _is_reached_without(cfa, edge.source, first.edge):
            return True
    return False


def _ends(program: Program, effect: ir.Effect) -> bool:
    """Whether an edge calls a function of the library that ends an object, whatever it returns."""
    name = ir.direct_callee(effect) if isinstance(effect, ir.Call) else None
    is_external = name is not None and name not in program.functions and name not in RESIZES
    return is_external and isinstance(effect, ir.Call) and may_end(program, effect)


def _is_given(effect: ir.Effect, delta: ProgramDelta, taken: Taken) -> bool:
    """Whether a statement returns the tracked pointer, or stores it in memory that others reach."""
    value = effect.value if isinstance(effect, ir.Assign | ir.Return) else None
    if value is None or path_of(value) not in delta.facts[taken.before].paths:
        return False
    target = path_of(effect.target) if isinstance(effect, ir.Assign) else None
    return isinstance(effect, ir.Return) or (target is not None and is_reachable(target))


def _is_reached_without(cfa: Cfa, location: int, edge: int) -> bool:
    """Whether a run through a function can get to a location without taking an edge, given by its id."""
    reached, waiting = {cfa.entry}, [cfa.entry]
    while waiting:
        for one in cfa.outgoing.get(waiting.pop(), ()):
            if one.id != edge and one.target not in reached:
                reached.add(one.target)
                waiting.append(one.target)
    return location in reached
