"""Which claims there are, in which order they are asked about, and what each may cost."""

from __future__ import annotations

from analysis.cfa.linking.obstructed import MAIN
from analysis.model.budgets import ProverBudget, budget_of
from analysis.model.options import Options
from analysis.session.portfolio.turns import BOUNDED, TURNS
from analysis.session.provers.asking.claim import RUNS, Claim, Wanted
from analysis.session.provers.asking.question import SHARE, task_budget
from analysis.session.provers.processes.task_outcome import Budget

_LEAST = 0.5  # seconds of work for a question


def ordered(wanted: Wanted, options: Options, entries: tuple[str, ...], budget: ProverBudget) -> list[Claim]:
    """What is asked, in order. Whether a function is asked about from the entries shows when it is asked by itself."""
    functions = [Claim("function", function, rule, False) for function, rule in wanted.functions]
    program: list[Claim] = []
    if MAIN in entries or options.engine == BOUNDED:  # which says that there is no main
        if TURNS["runs"][options.engine] and wanted.rules:
            program.append(RUNS)
        if TURNS["program"][options.engine]:
            program += [Claim("program", "", rule, True) for rule in wanted.conditions]
    if not TURNS["function"][options.engine]:
        functions = []
    return program + functions if budget.first == "program" else functions + program


def work_of(claim: Claim, budget: ProverBudget) -> float:
    """How many seconds of work a claim may cost: no more than all together."""
    seconds = SHARE * _seconds(claim, budget)
    return seconds if budget.total is None else max(_LEAST, min(seconds, budget.total))


def limit_of(claim: Claim, options: Options) -> Budget:
    """What a prover may take for a claim before it is ended from outside."""
    budget = budget_of(options.budget, options.limits)
    return task_budget(budget, _seconds(claim, budget), options.limits)


def _seconds(claim: Claim, budget: ProverBudget) -> float:
    return budget.function if claim.kind == "function" else budget.program
