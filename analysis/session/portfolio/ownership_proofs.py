"""Proofs about blocks of memory and streams of one function by closed sets of memory states: called in any state, or in runs from
the entries, where its callers keep what it requires."""

from __future__ import annotations

from analysis.certificate.ownership.closed_checker import (
    NOTHING,
    check_closed_sets,
    count_states,
    obstacle,
    open_reason,
    refusal,
    refused_anyway,
)
from analysis.certificate.ownership.closed_search import ClosedSearch
from analysis.certificate.ownership.closed_sets import ClosedSets
from analysis.certificate.refusal import RefusedError
from analysis.cfa.graph import Program
from analysis.cpa.framework.algorithm import Cancellation
from analysis.model import clock
from analysis.session.portfolio.counted_steps import CountedSteps
from analysis.session.portfolio.request import Answer, Proved, Request, Unknown
from analysis.session.portfolio.request_terms import NOTHING_TO_PROVE, ONLY_BY_PATHS

ENGINE = "ownership"
_last: ClosedSearch | None = None
"""What was found of the functions of the last program: the next question is often about the same one."""


def prove(request: Request, seconds: float, cancellation: Cancellation) -> Answer:
    """A proof about a function from any state, also where runs are asked about that begin elsewhere: there its callers are
    seen, too."""
    (rule,) = request.about.rules
    function, program = request.about.function, request.program
    if function is None:
        return Unknown(ONLY_BY_PATHS, final=True)
    reason = obstacle(program, rule)
    if reason:
        return Unknown(reason, final=True)
    search = _search(program)
    search.goes_on = CountedSteps(seconds, cancellation).goes_on
    followed = search.follow(function)
    if followed is None:
        return Unknown("there was no time to follow the pointers of all that it calls")
    clock.work(clock.STEP * count_states((followed.states,)))  # what it calls counts for the question about that
    reason = refusal(program, followed.found, function, rule)
    if reason == NOTHING:
        return Unknown(NOTHING_TO_PROVE, final=True, nothing=True)
    names: tuple[str, ...] = (function,)
    runs_from: tuple[str, ...] = ()
    if reason and request.whole and not refused_anyway(followed.found, rule):
        with_callers = search.follow_callers(function, rule)
        if with_callers is None:
            return Unknown(f"{reason}; there was no time to follow these")
        names, runs_from = with_callers, request.entries
        why = open_reason(program, search.found_below(names, function, rule), function, rule, runs_from)
        if why == NOTHING:
            return Unknown(NOTHING_TO_PROVE, final=True, nothing=True)
        reason = f"{reason}; {why}" if why else ""
    if reason:
        return Unknown(reason, final=True)
    claim = ClosedSets(function, rule, search.sets(*names), runs_from)
    try:
        checked = check_closed_sets(program, claim)
    except RefusedError as refused:
        return Unknown(str(refused), final=True)
    return Proved(ENGINE, checked.assumptions, (claim,), checked.states)


def _search(program: Program) -> ClosedSearch:
    global _last
    if _last is None or _last.program is not program:
        _last = ClosedSearch(program)
    return _last
