"""Violations that runs of one function show, whoever calls it and whatever it is passed: a loop that goes one too far, an index
that is too large for its array, a number that was never set.

The function is run from its entry, in the middle of a program's life: what it is passed, and what memory holds, are inputs, which
are drawn at random. Nothing is known of what its callers keep to, so one run shows little. A violation counts if

- it was seen in several runs, on inputs of different kinds, each time with the same numbers, and no run took the edge and came to
  its end;
- or if the run took nothing from the function's caller but pointers to objects, so that the system's answers alone led there.

Memory is found in all of them: what happens where it is not is looked for elsewhere. What depends on an argument, or on what
memory holds, differs from run to run, and falls out. Such a run is a good reason to believe the violation, and no run of the
program. Runs of `main` are: there, one is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

from analysis.c.undefined import SHOWN_ALONE
from analysis.cfa.graph import Program
from analysis.cfa.linking.obstructed import MAIN
from analysis.cpa.predicates.violations import violations_in
from analysis.engines.symbolic.caller import doubts
from analysis.engines.symbolic.choices import NeverFailing, unread_parameters
from analysis.engines.symbolic.other_addresses import happens_elsewhere
from analysis.engines.symbolic.random_inputs import Random, constants_of, random_inputs, words_of
from analysis.engines.symbolic.task import Confirmed, Spent, Target
from analysis.interpreter.expressions import ADDRESSES
from analysis.interpreter.interpreter import execute
from analysis.interpreter.memory import FROM_OUTSIDE, NO_OBJECT
from analysis.interpreter.outcome import Bounds, Exited, Observation, Replayed, Returned, Run, Start, Step, Stuck
from analysis.interpreter.replay import replay
from analysis.model.c_types import DataModel, Pointer
from analysis.model.spelling import display_name

_FIRST = 2  # runs that are made in any case; if none of them violates a rule, no more are
_RUNS = 24
_SEEN = 6  # runs in which a violation must be seen
_BOUNDS = Bounds(steps=2_000, depth=100, memory=4_000_000)

_Violation = tuple[Step, str]


class _Hit(NamedTuple):
    make: Callable[[], Random]
    run: Run
    seen: Observation


def violations(program: Program, function: str, model: DataModel, rules: Collection[str]) -> tuple[Confirmed, ...]:
    """The violations of these rules that runs of the function show: at most one for each edge and rule."""
    wanted = SHOWN_ALONE.intersection(rules)
    if not any(True for rule in wanted for _ in violations_in(program, function, rule)):
        return ()
    start = Start(function, any_globals=function != MAIN, data_model=model)
    hits: dict[_Violation, list[_Hit]] = {}
    passed: set[Step] = set()
    constants, words = constants_of(program, [function]), words_of(program, [function])
    for number, make in enumerate(random_inputs(constants, words, model.pointer_bits // 8, _RUNS)):
        if number == _FIRST and not hits:
            break
        run = execute(program, start, NeverFailing(make()), _BOUNDS, record=True)
        if isinstance(run.end, Observation) and run.end.kind in wanted and run.path:
            hits.setdefault((run.path[-1], run.end.kind), []).append(_Hit(make, run, run.end))
        elif isinstance(run.end, Returned | Exited | Stuck):
            passed.update(run.path)
    found = (_judged(program, start, same, passed) for same in hits.values())
    return tuple(one for one in found if one is not None)


def _judged(program: Program, start: Start, hits: list[_Hit], passed: Collection[Step]) -> Confirmed | None:
    """The violation as one run shows it; None if it may depend on what callers do."""
    hits = [hit for hit in hits if FROM_OUTSIDE not in hit.seen.text and NO_OBJECT not in hit.seen.text]
    is_same = len({hit.seen.text for hit in hits}) == 1 and len({hit.make().range for hit in hits}) > 1
    is_anywhere = len(hits) >= _SEEN and is_same and hits[0].run.path[-1] not in passed
    if start.function != MAIN and not is_anywhere and _takes_numbers(program, start.function):
        return None
    found = (_confirmed(program, start, hit, is_anywhere=is_anywhere) for hit in hits)
    return next((one for one in found if one is not None), None)


def _takes_numbers(program: Program, function: str) -> bool:
    """Whether the function uses something that it is passed and that is no pointer."""
    cfa = program.functions[function]
    unread = unread_parameters(cfa)
    return any(not isinstance(one.type, Pointer) and display_name(one.name) not in unread for one in cfa.parameters)


def _confirmed(program: Program, start: Start, hit: _Hit, *, is_anywhere: bool) -> Confirmed | None:
    kind, path = hit.seen.kind, hit.run.path
    found = replay(program, start, path, NeverFailing(hit.make()), kind, _BOUNDS)
    if not isinstance(found, Replayed) or found.observation is None or ADDRESSES in found.assumptions:
        return None
    if not happens_elsewhere(program, start, path, NeverFailing(hit.make()), kind, found, _BOUNDS):
        return None
    if any(question.kind == "memory" and question.name in found.observation.text for question, _ in found.asked):
        return None  # what the object holds, such as a text and its end, is what the run assumes
    target = Target(path[-1].function, path[-1].edge, kind)
    if doubts(program, start.function, found, target, start.data_model, is_anywhere=is_anywhere):
        return None
    return Confirmed(start.function, found.steps, found.asked, found.observation, found.assumptions, Spent(runs=_RUNS))
