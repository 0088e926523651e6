"""Runs of each function by itself (`engines.symbolic.function_runs`): violations that nobody suspected, also in programs that are
too large to be run as a whole, and in files without `main`.

After an edit, what was found of functions is taken over where nothing that it follows from is other than before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from analysis.c.undefined import SHOWN_ALONE
from analysis.cfa.graph import Program
from analysis.cfa.linking.obstructed import MAIN
from analysis.cfa.open_functions import is_main
from analysis.cfa.program_part import names_below
from analysis.cpa.framework.algorithm import Cancellation
from analysis.engines.symbolic.function_runs import violations
from analysis.engines.symbolic.task import Confirmed
from analysis.model import clock
from analysis.model.c_types import DataModel
from analysis.session.contracts.unaffected import unaffected
from analysis.session.portfolio.request import Request
from analysis.session.portfolio.turns import MOST_EDGES

_SHARE = 0.25  # of the seconds
_last: tuple[Program, tuple[Collection[str], DataModel], dict[str, tuple[Confirmed, ...]]] | None = None


def search(request: Request, seconds: float, cancellation: Cancellation) -> Iterator[tuple[str, Confirmed]]:
    """The violations of the rules of the request, each with the function that was run. The program itself is run elsewhere, if it
    is not large; functions that only a further program with a `main` runs are left out: variables of one name are those of the
    first program."""
    global _last
    program, rules = request.program, SHOWN_ALONE.intersection(request.about.rules)
    asked = rules, request.model
    known: dict[str, tuple[Confirmed, ...]] = {}
    if _last is not None and _last[1] == asked and (same := unaffected(_last[0], program)) is not None:
        known = {name: found for name, found in _last[2].items() if name in same}
    is_large = sum(len(cfa.edges) for cfa in program.functions.values()) > MOST_EDGES
    reached = names_below(program, (name for name in request.entries if name == MAIN or not is_main(name)))
    until, now = clock.spent() + _SHARE * seconds, dict[str, tuple[Confirmed, ...]]()
    for name in program.functions:
        if name not in reached or (name == MAIN and not is_large):
            continue
        if name not in known and (clock.spent() >= until or cancellation.cancelled()):
            continue
        now[name] = known[name] if name in known else violations(program, name, request.model, rules)
        yield from ((name, one) for one in now[name])
    _last = program, asked, now
