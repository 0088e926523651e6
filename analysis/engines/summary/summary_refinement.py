"""Whether the subtree of a call implies a formula, with calls substituted first and given their bodies on demand ([UPPROVER]
Algorithm 5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Literal

import msgspec

from analysis.engines.summary.call_tree import Node
from analysis.engines.summary.substitution_schemes import Scheme, SubtreeFormula
from analysis.model import clock
from analysis.smt.logic.term_building import not_
from analysis.smt.logic.terms import Term
from analysis.smt.solving.solver import Budget, Model
from analysis.smt.solving.z3_backend import Z3Solver

Status = Literal["valid", "invalid", "unknown"]


class Implication(msgspec.Struct, frozen=True):
    """The answer. `formula` is what it was decided with; `model` is of the last check if it is invalid. `checks` counts the
    questions to the solver, `reason` is the solver's where it did not know."""

    status: Status
    formula: SubtreeFormula
    checks: int
    model: Model | None = None
    reason: str = ""


def implied(
    root: Node,
    goal: Term,
    scheme: Scheme,
    summaries: Mapping[str, Term],
    budget: Budget,
    refuted: Mapping[Node, Iterable[Node]] = MappingProxyType({}),
    at_first: Iterable[Node] = (),
) -> Implication:
    """Whether the subtree of a call implies a formula over its interface. The answer is exact: of a model, each call that it
    depends on has its body. All questions together have the budget. `refuted` has calls below whose summaries did not hold, and
    the bodies that showed it, callers first: where summaries do not refute a model, these bodies are given at once. `at_first`
    are calls below, callers first, that have their bodies from the beginning: it takes fewer questions if they are needed."""
    formula = SubtreeFormula(root, scheme, summaries)
    solver = Z3Solver.near()
    if scheme != "inline" and not _is_of_bits(root):
        solver.push()  # without a scope, z3 simplifies all of it before the first check: that pays for bits and whole trees alone
    solver.add(*formula.first, not_(root.instance(goal)))
    solver.add(*formula.give_bodies(at_first))
    checks = 0
    allowed = clock.spent() + budget.seconds
    while True:
        checks += 1
        with clock.within(allowed - clock.spent()):  # the budget is for all the questions
            answer = solver.check(budget=budget)
        if answer.status == "unsat":
            return Implication("valid", formula, checks)
        if answer.status == "unknown":
            return Implication("unknown", formula, checks, reason=answer.reason)
        model = solver.model()
        refined = [node for node in formula.relevant_calls(goal) if formula.was_called(node, model)]
        if not refined:
            return Implication("invalid", formula, checks, model)
        open_ = [node for node in refined if node.key not in summaries]  # they say least: summaries may do when these are known
        if not open_:  # what refuted a call below does so here, it seems
            refined += [body for node in formula.bodies for body in refuted.get(node, ())]
        more = list(formula.give_bodies(open_ or refined))
        del model  # it is of what was asserted before
        solver.add(*more)


def _is_of_bits(node: Node) -> bool:
    """Whether the body of a call is about bit-vectors."""
    return any(term.sort.kind == "BitVec" for term in node.partition.depends)
