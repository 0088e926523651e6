"""Answers about runs within a bound, by summaries of calls that are repaired from revision to revision ([UPPROVER]).

They prove nothing. Where a run within the bound may violate the rule, the search for runs is asked about each place that the
formulas name, and then about any other: formulas over-approximate, and can name a wrong one. What the search executes is a
violation, and the rest is only said to be possible.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

import msgspec

from analysis.cfa.marks import marked
from analysis.cpa.framework.algorithm import Cancellation
from analysis.cpa.predicates.violations import PROPERTIES, Property
from analysis.engines.summary.bounded_answer import BoundedAnswer
from analysis.engines.summary.known_bodies import KnownBodies
from analysis.engines.summary.known_calls import KnownCall, KnownCalls, read, write
from analysis.engines.summary.level_chain import LEVELS, LevelChain
from analysis.engines.summary.partition_abstraction import Abstractions
from analysis.engines.summary.revision_chain import ChainOptions
from analysis.engines.summary.validation_work import Work
from analysis.engines.symbolic import Effort, ProgramTask, Target, Task, decide, decide_program
from analysis.engines.symbolic.task import Confirmed, Decision, Refuted, Undecided
from analysis.model import clock
from analysis.model.report import Repaired, SummaryRepair, SummaryWork, Within
from analysis.session.portfolio.request import Answer, Bounded, Request, Unknown

_NOT_ABOUT = "--engine summary says nothing about this rule"
_QUESTION = 20_000  # milliseconds at most, for one question to the solver
_bodies = KnownBodies()
_abstractions: Abstractions = {}  # of the functions of the last program: the next one is often the same but for one
_FORMULAS = 0.75  # of the time, at most; the rest is for runs
_PLACES = 3  # at most, that a run is looked for


def by_summaries(request: Request, seconds: float, cancellation: Cancellation) -> Answer:
    """What the summaries of calls say of the runs within the bound."""
    (rule,) = request.about.rules
    if rule not in PROPERTIES:
        return Unknown(_NOT_ABOUT, final=True)
    if "main" not in request.program.functions:
        return Unknown("the program has no main, where runs within a bound begin", final=True)
    until = clock.spent() + seconds
    before = read(request.kept.text) or KnownCalls()
    chain = _chain(request, msgspec.convert(rule, Property), before, seconds)
    with clock.within(_FORMULAS * seconds):
        found = chain.verify(request.program)
    if found.status == "unknown":
        return Unknown(found.sentence())
    runs: list[Refuted | Undecided] = []
    for run in _runs(request, found, until, cancellation):
        if isinstance(run, Confirmed):
            return run
        runs.append(run)
    return _answer(request, found, before, chain.known, runs)


def _chain(request: Request, property_: Property, known: KnownCalls, seconds: float) -> LevelChain:
    terms = request.terms
    milliseconds = max(1, min(_QUESTION, int(1_000 * seconds)))
    options = ChainOptions(property=property_, bound=terms.unwind, milliseconds=milliseconds, model=request.model)
    chain = LevelChain(
        options, LEVELS if terms.encoding == "auto" else (terms.encoding,), abstractions=_abstractions, bodies=_bodies
    )
    chain.resume(known, are_believed=request.kept.are_believed)
    return chain


def _runs(request: Request, found: BoundedAnswer, until: float, cancellation: Cancellation) -> Iterator[Decision]:
    """What searches for runs that violate the rule find: at each place that may be violated, then anywhere. Each has its share of
    the time until `clock.spent()` is `until`."""
    places, terms = found.violated[:_PLACES], request.terms
    for number, place in enumerate(places):
        effort = Effort(seconds=(until - clock.spent()) / (len(places) + 1 - number))
        target = Target(place.function, place.edge, place.property)
        yield decide(
            Task(request.program, target, request.entries, (), effort, request.model, terms.allocation_fails), cancellation
        )
    if places:
        effort, rules = Effort(seconds=until - clock.spent()), frozenset((found.property,))
        task = ProgramTask(request.program, rules, effort, request.model, terms.allocation_fails, terms.outside_writes)
        yield decide_program(task, cancellation)


def _answer(
    request: Request, found: BoundedAnswer, before: KnownCalls, known: KnownCalls, runs: Sequence[Refuted | Undecided]
) -> Bounded:
    """What is known of the runs within the bound. `runs` are what the searches for one came to, the last one the widest."""
    calls = known.levels.get(found.level, {})
    work = found.work
    within = Within(
        bound=found.bound,
        holds=found.status == "holds",
        complete=found.is_complete,
        level=found.level,
        calls=len(calls),
        summaries=sum(call.summary is not None for call in calls.values()),
    )
    done = SummaryWork(len(work.validated), len(work.held), len(work.weakened), len(work.strengthened), len(work.invalid))
    where = ", ".join(marked(request.program, place.function, place.edge) for place in found.violated[:_PLACES])
    if found.status != "holds":
        is_searched = all(isinstance(run, Refuted) or run.final for run in runs)
        searched = "no such run was found" if is_searched else "the search for such a run was given up"
        if isinstance(runs[-1], Refuted):
            searched = "no run can do that, as a search for one has shown"
        sentence = f"{found.sentence()}, at {where}; {searched}"
        return Bounded(within, sentence, done, assumptions=found.assumptions, final=is_searched)
    repairs = dict(_repairs(before.levels.get(found.level, {}), calls, work, found.bound))
    return Bounded(within, found.sentence(), done, repairs, found.assumptions, write(known), found.is_final)


def _repairs(
    before: Mapping[str, KnownCall], calls: Mapping[str, KnownCall], work: Work, bound: int
) -> Iterator[tuple[str, SummaryRepair]]:
    """What was done with the summaries of each function, from the work on its calls, whose keys begin with those above them."""
    done = {
        **dict.fromkeys(work.held, "held"),
        **dict.fromkeys(work.weakened, "weakened"),
        **dict.fromkeys(work.strengthened, "strengthened"),
    }
    validated = frozenset(work.validated)
    by_function: dict[str, list[str]] = {}
    for key, call in calls.items():
        by_function.setdefault(call.function, []).append(key)
    for function, keys in by_function.items():
        became = {_repaired(before.get(key), calls[key], done.get(key, "kept")) for key in keys}
        above = {prefix for key in keys for prefix in _prefixes(key)} & validated
        for what in get_args(Repaired):
            if what in became:
                yield function, SummaryRepair(what, bound, len(above))
                break


def _repaired(before: KnownCall | None, call: KnownCall, done: str) -> str:
    """What became of the summary of a call, to which this was `done`; nothing if it has none, and had none."""
    had = before is not None and before.summary is not None
    if call.summary is None:
        return "lost" if had else ""
    return done if had else "made"


def _prefixes(key: str) -> Iterator[str]:
    parts = key.split("/")
    return ("/".join(parts[:length]) for length in range(1, len(parts)))
