"""Proofs that values are not zero, or null, where one function needs that.

It is called in any state, or in runs from the entries, where its callers keep what it needs of them.
"""

from __future__ import annotations

import msgspec

from analysis.certificate.nonzero.claims import Requirements
from analysis.certificate.nonzero.needed_values import RULES, Rule
from analysis.certificate.nonzero.requirement_checker import check_requirements, obstacle, open_place, required
from analysis.certificate.nonzero.requirement_search import RequirementSearch
from analysis.certificate.refusal import RefusedError
from analysis.cfa.graph import Program
from analysis.cpa.framework.algorithm import Cancellation
from analysis.model import clock
from analysis.session.portfolio.counted_steps import CountedSteps
from analysis.session.portfolio.request import Answer, Proved, Request, Unknown
from analysis.session.portfolio.request_terms import NOTHING_TO_PROVE

ENGINE = "requirements"
_FROM = ("main",)  # runs from elsewhere may call the function, too
_last: dict[Rule, RequirementSearch] = {}
"""What was found of the functions of the last program, by rule: the next question is often about the same one."""


def prove(request: Request, seconds: float, cancellation: Cancellation) -> Answer:
    """A proof about a function from any state; where that needs something of callers, and runs begin elsewhere, with these."""
    (rule,) = request.about.rules
    function, program = request.about.function, request.program
    if function is None or rule not in RULES:
        return Unknown(f"only functions by themselves are followed, and not for {rule}", final=True)
    if not request.places(rule):
        return Unknown(NOTHING_TO_PROVE, final=True, nothing=True)
    reason = obstacle(program, (function,))
    if reason:
        return Unknown(reason, final=True)
    search = _search(program, msgspec.convert(rule, Rule))
    search.while_(CountedSteps(seconds, cancellation).goes_on)
    followed = search.follow(function)
    if followed is None:
        return Unknown("there was no time to follow all that it calls")
    clock.work(clock.STEP * followed.steps)  # what it calls counts for the question about that
    reason = open_place(program, function, followed)
    if reason:
        return Unknown(reason, final=True)
    needs = followed.contract.needs
    runs_from = request.entries if needs and request.whole and request.entries == _FROM else ()
    if needs and not runs_from:
        return Unknown(required(needs), final=True)
    if needs and not search.follow_callers(function):
        return Unknown(f"{required(needs)}; there was no time to follow these")
    claim = Requirements(function, rule, search.needs(), runs_from)
    try:
        checked = check_requirements(program, claim)
    except RefusedError as refused:
        return Unknown(f"{required(needs)}; {refused}" if needs else str(refused), final=True)
    return Proved(ENGINE, checked.assumptions, (claim,), checked.steps)


def _search(program: Program, rule: Rule) -> RequirementSearch:
    known = _last.get(rule)
    if known is None or known.program is not program:
        known = _last[rule] = RequirementSearch(program, rule)
    return known
