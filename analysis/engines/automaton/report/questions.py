"""Questions that a function asks on a path before it uses a value: of the value itself, or of what it asks the value for.

`if (!valid(p)) return; use(p);` and `if (!has(table, key)) return; use(get(table, key));` ask other functions of the program.
What these answer may exclude that the value is null. Whether it does is not looked into: that they were asked is evidence, and
no proof.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from analysis.c.functions import known
from analysis.cfa.graph import Cfa, Edge, Program
from analysis.engines.automaton.facts.facts import NOTHING
from analysis.engines.automaton.facts.product import ProgramDelta
from analysis.engines.automaton.functions.access_paths import path_of
from analysis.engines.automaton.report.searches import not_null
from analysis.engines.automaton.report.trace import Taken
from analysis.model import ir

_COMPUTING = ("C 7.4.", "C 7.12")  # <ctype.h>, <math.h>


def is_asked_about(delta: ProgramDelta, own: Sequence[Taken]) -> bool:
    """Whether a function of the program is passed the value on steps of one activation, and a branch tests its answer."""
    answers: set[ir.Expr] = set()
    for taken in own:
        effect = delta.program.functions[taken.function].by_id[taken.edge].effect if taken.event in ("edge", "call") else None
        if isinstance(effect, ir.Assume) and not answers.isdisjoint(ir.walk(effect.condition)):
            return True
        if isinstance(effect, ir.Call) and effect.result is not None and ir.direct_callee(effect) in delta.program.functions:
            held = delta.facts[taken.before].paths if taken.before != NOTHING else ()
            if any(path_of(argument) in held for argument in effect.arguments):
                answers.add(effect.result)
    return False


def is_answered_before(program: Program, path: Sequence[Taken], call: tuple[str, Edge], depth: int) -> bool:
    """Whether the function that is called was called before, in the same function at this depth, with the same arguments,
    constants aside, only to ask whether its result is null (`if (!terminal(0)) return; fflush(terminal(1));`): it was not, and
    nobody kept it, as one would keep a new block."""
    function, edge = call
    cfa = program.functions[function]
    own = [taken for taken in path if (taken.function, taken.depth) == (function, depth) and taken.event in ("edge", "call")]
    place = next((number for number, taken in enumerate(own) if taken.edge == edge.id), 0)
    edges = [cfa.by_id[taken.edge] for taken in own[:place]]
    return any(_is_only_tested(cfa, one, following, edge.effect) for one, following in pairwise(edges))


def _is_only_tested(cfa: Cfa, one: Edge, following: Edge, again: ir.Effect) -> bool:
    """Whether an edge calls what another effect calls `again`, and all that is done with its result is the test that follows."""
    call, test = one.effect, following.effect
    if not (isinstance(call, ir.Call) and isinstance(again, ir.Call) and isinstance(test, ir.Assume)) or call.result is None:
        return False
    users = (other.effect for other in cfa.edges if other.id != one.id and call.result in cfa.parts[other.id])
    is_same = call.callee == again.callee and _asked(call) == _asked(again)
    return is_same and call.result in not_null(test) and all(isinstance(user, ir.Assume) for user in users)


def is_asked_before(program: Program, path: Sequence[Taken], call: tuple[str, Edge], depth: int) -> bool:
    """Whether the last branch before a call, in its function at this depth, tests what a function answered that was passed the
    same, constants aside."""
    function, edge = call
    own = [taken for taken in path if (taken.function, taken.depth) == (function, depth) and taken.event in ("edge", "call")]
    place = next((number for number, taken in enumerate(own) if taken.edge == edge.id), 0)
    effects = [program.functions[function].by_id[taken.edge].effect for taken in own[:place]]
    branches = [one for one in effects if isinstance(one, ir.Assume) and not isinstance(one.condition, ir.IntConst)]
    tested = set(ir.walk(branches[-1].condition)) if branches else set()
    answers = [one for one in effects if isinstance(one, ir.Call) and one.result in tested]
    asked = _asked(edge.effect)
    return bool(answers) and bool(asked) and asked <= set(_arguments(answers[-1]))


def only_computes(call: ir.Call) -> bool:
    """Whether a call's result depends on the numbers alone that it is passed, like that of `isdigit` or `isnan`."""
    name = ir.direct_callee(call) or ""
    function = known(name)
    if function is None:
        return name.startswith("__builtin_")
    if "table" in function.besides:  # of the kinds of characters
        return True
    return function.leaves_memory and function.described.startswith(_COMPUTING)


def _asked(effect: ir.Effect) -> set[ir.Expr]:
    """The arguments of a call that are no constants."""
    return {argument for argument in _arguments(effect) if not isinstance(argument, ir.IntConst | ir.StringConst)}


def _arguments(effect: ir.Effect) -> Iterator[ir.Expr]:
    """The arguments of a call, casts aside."""
    return map(ir.strip_casts, effect.arguments if isinstance(effect, ir.Call) else ())
