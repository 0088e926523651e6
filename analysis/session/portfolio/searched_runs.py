"""Runs, and symbolic execution that looks for them: nothing else confirms. What they exclude of a whole program is proved by the
tree of its paths, if there are only so many; what they exclude of a finding makes it go away."""

from __future__ import annotations

from analysis.certificate.refusal import RefusedError
from analysis.certificate.unwinding import check_unwinding, unwind
from analysis.certificate.unwinding_tree import Unwinding
from analysis.cpa.framework.algorithm import Cancellation
from analysis.cpa.obstacles.completeness import called_outside
from analysis.engines.symbolic import Effort, ProgramTask, Target, Task, decide, decide_program
from analysis.engines.symbolic.task import Confirmed, Refuted
from analysis.interpreter.library import can_violate
from analysis.interpreter.outcome import Step
from analysis.model import clock
from analysis.path_following.checks import RULES
from analysis.session.portfolio.request import Answer, Proved, Request, Unknown
from analysis.session.portfolio.request_terms import not_provable
from analysis.session.portfolio.turns import TREE

ENGINE = "symbolic"
_NO_TREE = "following the program's paths from main did not prove it"


def asked(request: Request, rules: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the rules that something in the program could violate, as far as that is plain from what it calls: no proof of the
    others is to be had, and they would keep what is asked together with them from one."""
    if request.about.kind == "finding":
        return rules
    called = frozenset(called_outside(request.program, request.entries))
    return tuple(rule for rule in rules if can_violate(rule, called))


def prove(request: Request, seconds: float, cancellation: Cancellation) -> Answer:
    """The answer about a finding, or about all rules in a whole program."""
    if request.about.kind == "finding":
        return _finding(request, seconds, cancellation)
    return _program(request, seconds, cancellation)


def _finding(request: Request, seconds: float, cancellation: Cancellation) -> Answer:
    about = request.about
    if about.function is None or about.edge is None:
        raise ValueError("a finding is at an edge")
    made = None if about.made is None else Step(*about.made)
    task = Task(
        program=request.program,
        target=Target(about.function, about.edge, about.rules[0], about.expression, made),
        entries=request.entries,
        path=tuple(Step(function, edge) for function, edge in about.path),
        effort=Effort(seconds=seconds),
        model=request.model,
        allocation_fails=request.terms.allocation_fails,
    )
    decision = decide(task, cancellation)
    if isinstance(decision, Confirmed | Refuted):
        return decision
    return Unknown(decision.reason, decision.final, decision.looked, decision.spent.states)


def _program(request: Request, seconds: float, cancellation: Cancellation) -> Answer:
    until = clock.spent() + seconds
    if "main" not in request.program.functions:
        return Unknown("the program has no main", final=True)
    task = _task(request, (1 - TREE) * seconds)
    decision = decide_program(task, cancellation)
    match decision:
        case Confirmed():
            return decision
        case Refuted():
            return _by_tree(task, until, decision.spent.states, cancellation)
    return Unknown(decision.reason, decision.final, decision.looked, decision.spent.states)


def prove_by_tree(request: Request, seconds: float, cancellation: Cancellation) -> Answer:
    """A proof of the rules, all together, by the tree of the program's paths."""
    if "main" not in request.program.functions:
        return Unknown("the program has no main", final=True)
    return _by_tree(_task(request, seconds), clock.spent() + seconds, 0, cancellation)


def _task(request: Request, seconds: float) -> ProgramTask:
    terms, rules = request.terms, frozenset(request.about.rules)
    effort = Effort(seconds=seconds)
    return ProgramTask(request.program, rules, effort, request.model, terms.allocation_fails, terms.outside_writes)


def _by_tree(task: ProgramTask, until: float, states: int, cancellation: Cancellation) -> Proved | Unknown:
    claim = Unwinding("main", tuple(sorted(task.rules)), (), 0, task.allocation_fails, task.outside_writes)
    milliseconds = task.effort.query_milliseconds
    without = sorted(task.rules - RULES)
    if without:
        return Unknown(not_provable(without), states=states)

    def may_go_on() -> bool:
        return clock.spent() < until and not cancellation.cancelled()

    try:
        made = unwind(task.program, claim, task.model, milliseconds, may_go_on)
        checked = check_unwinding(task.program, made, task.model)
    except RefusedError as refused:
        return Unknown(f"{_NO_TREE}: {refused}", states=states)
    return Proved(ENGINE, checked.assumptions, (made,), states + made.edges, checked.unreached)
