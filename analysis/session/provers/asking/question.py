"""A question to a prover: all that the answer depends on, and its key."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from analysis.engines.automaton.report.suspicions import Suspicion
from analysis.model.budgets import ProverBudget
from analysis.model.digest import digest_text
from analysis.model.limits import Limits
from analysis.model.options import Options
from analysis.model.spelling import spell_expr
from analysis.session.portfolio.request_terms import About, Asked, Kept, Terms, terms_of
from analysis.session.provers.asking.program_slices import Slice
from analysis.session.provers.processes.task_outcome import Budget

SHARE = 0.8  # of the budget's seconds, after which a prover says by itself how far it came


class Question(NamedTuple):
    """What is asked about a part of a program: a `portfolio.request.Request`, which is made of it where the engines are.
    `seconds` is how long the answer may take; `part` is who is asked."""

    program: Slice
    about: About
    whole: bool
    terms: Terms
    seconds: float
    kept: Kept = Kept()
    part: Asked = "all"


OWN = " (a rule file of your own)"
"""What is added to the name of a rule that is not shipped: provers know what rules mean by their names."""


def finding_question(
    suspicion: Suspicion, program: Slice, options: Options, seconds: float, shipped: Collection[str] | None = None
) -> Question:
    """The question about a finding in a slice of its program; `seconds` is the budget, `shipped` names the rules that provers
    know, None for all."""
    rule = suspicion.rule if shipped is None or suspicion.rule in shipped else suspicion.rule + OWN
    path = suspicion.path if all(function in program.functions for function, _ in suspicion.path) else ()
    one = suspicion
    about = About("finding", (rule,), one.function, one.edge, one.expression, path, one.moves, one.made)
    return Question(program, about, True, terms_of(options), SHARE * seconds)


def task_budget(budget: ProverBudget, seconds: float, limits: Limits) -> Budget:
    """What a prover may take for a question that may cost so many seconds of work, before it is ended from outside."""
    return Budget(budget.wait * seconds, limits.task_megabytes, budget.patience * seconds)


def key_of(question: Question) -> str:
    """What the answer is kept under: a digest of all that it depends on. The path is only a hint, time is only patience, and kept
    summaries only save work. That a part of the provers knows nothing is no answer.
    Answers that name edges depend on their ids, proofs about functions and programs only on what these mean."""
    about, terms = question.about, question.terms
    names_edges = about.kind in ("runs", "finding")
    what = "" if about.expression is None else spell_expr(about.expression)
    where = (about.kind, *about.rules, "in", about.function or "", str(about.edge), what, "whole" if question.whole else "own")
    made = () if about.made is None else ("made", *map(str, about.made))
    moves = tuple(f"{function} {edge}" for function, edge in about.moves)
    how = (terms.data_model, terms.engine, terms.encoding, *terms.assume, str(terms.certificates), str(terms.unwind))
    program = question.program.digest if names_edges else question.program.meaning
    return digest_text(program, *where, "", *how, *terms.operators, "", *moves, *made)
