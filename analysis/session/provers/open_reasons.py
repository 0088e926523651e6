"""Why a finding is not decided, as it is told to people: what is known of the program, and not how each search for it ended."""

from __future__ import annotations

from analysis.model.report import NOT_REPEATED
from analysis.session.portfolio.request_terms import ONLY_BY_PATHS

_BUDGET = "within the budget"
OUT_OF_BUDGET = "neither a run that shows it nor a proof against it was found within the budget"
NEITHER = "neither a run that shows it nor a proof against it was found"
NOT_RUN = "a path to it is possible, but no run that was tried shows it"


def open_reason(reason: str, rule: str) -> str:
    """The clauses of a prover's reason about a finding of a rule that say something of the program, which provers put behind
    semicolons; if there are none, one that says what was not found. Empty for an empty one."""
    clauses = reason.split("; ")
    said = [clause for clause in dict.fromkeys(clauses) if not _is_of_searches(clause, rule)]
    if said:
        return "; ".join(said)
    if NOT_REPEATED in clauses:
        return NOT_RUN
    return OUT_OF_BUDGET if _BUDGET in reason else NEITHER


def _is_of_searches(clause: str, rule: str) -> bool:
    """Whether a clause only says how a search ended, or that there is a finding."""
    if clause in (ONLY_BY_PATHS, NOT_REPEATED) or _BUDGET in clause:
        return True
    return clause.startswith((f"nothing rules out {rule} at ", "no condition at the start of ")) or "() can begin with " in clause
