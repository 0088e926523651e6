"""Checks a proof by summaries (Hoare's rules for recursive procedures): the start implies what is said of the entry; each stretch
leads from what is said of one point to what is said of the next; each call implies what is said of its callee's entry, and what
is said of the callee's exit is all that is known after it.

By induction over the number of steps of a run, every state of it satisfies what is said of its point, for the values that the
`old:` variables of its activation have.
"""

from __future__ import annotations

from analysis.certificate import claimed
from analysis.certificate.annotation import Summaries
from analysis.certificate.proof_obligations import Questions
from analysis.certificate.refusal import RefusedError
from analysis.cpa.predicates.procedures import Called, Place, Procedures, UnknownSymbolError, instance
from analysis.cpa.predicates.violations import Violation
from analysis.model.spelling import display_name
from analysis.smt.logic.term_building import FALSE, not_
from analysis.smt.logic.terms import Term


def check_summaries(proof: Summaries, questions: Questions) -> frozenset[claimed.Place]:
    """Accepts the proof, or raises RefusedError. Gives the claimed places that the states which summaries allow come to."""
    violations = [Violation(function, edge, proof.property) for function, edge in proof.edges]
    watched = claimed.watched(questions.system.program, proof.edges)
    procedures = Procedures(questions.system, violations, proof.entry, watched)
    procedures.explore()

    def said(place: Place) -> Term:
        return proof.assertions.get(place, FALSE)

    program = questions.system.program
    entry = (proof.entry, program.functions[proof.entry].entry)
    questions.holds(questions.system.start(proof.entry), said(entry), "the entry assertion does not hold at the start")
    for arrival in procedures.arrivals:
        state = arrival.state.constrained(said(arrival.source))
        if state is None:
            continue
        if arrival.target is None:
            questions.impossible(state, arrival.flaw)
        else:
            questions.holds(state, said(arrival.target), f"the assertion at {_named(arrival.target)} need not hold")
    for call in procedures.calls:
        try:
            _check_call(proof, questions, procedures, call, said(call.source))
        except UnknownSymbolError as unknown:
            raise RefusedError(f"the summary of {display_name(call.step.callee)} speaks of {unknown}") from unknown
    reached: set[claimed.Place] = set()
    for source, place, state in procedures.met:
        here = None if watched[place] <= reached else state.constrained(said(source))
        if here is not None and questions.is_possible(here):
            reached |= watched[place]
    return frozenset(reached)


def _check_call(proof: Summaries, questions: Questions, procedures: Procedures, call: Called, before: Term) -> None:
    callee = questions.system.program.functions[call.step.callee]
    entered = call.entered.constrained(before)
    if entered is None:
        return
    wanted = instance(proof.assertions.get((callee.name, callee.entry), FALSE), procedures.entering(call))
    failing = entered.constrained(not_(wanted))
    if failing is not None:
        questions.impossible(
            failing,
            f"the entry assertion of {display_name(callee.name)} need not hold where {display_name(call.source[0])} calls it",
        )
    after, symbols = procedures.returned(call)
    summary = instance(proof.assertions.get((callee.name, callee.exit), FALSE), symbols)
    state = None if after is None else after.constrained(before, summary)
    if state is not None:
        target = proof.assertions.get(call.target, FALSE)
        questions.holds(state, target, f"the assertion at {_named(call.target)} need not hold")


def _named(place: Place) -> str:
    return f"a location of {display_name(place[0])}"
