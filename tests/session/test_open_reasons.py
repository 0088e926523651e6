"""Why a finding is not decided: what provers know of the program is told, and how their searches ended is not."""

from __future__ import annotations

import pytest

from analysis.model.report import NOT_REPEATED
from analysis.session.portfolio.request_terms import ONLY_BY_PATHS
from analysis.session.provers.open_reasons import NEITHER, NOT_RUN, OUT_OF_BUDGET, open_reason

BUDGET = "not all paths of the program were followed within the budget"
INSIDE = "from the entry of price it happens with stock == NULL"


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("", ""),
        (INSIDE, INSIDE),
        (f"no proof was found within the budget; {INSIDE}; {BUDGET}", INSIDE),
        (f"{ONLY_BY_PATHS}; no condition at the start of main() excludes it; {BUDGET}; {NOT_REPEATED}", NOT_RUN),
        (f"main() can begin with argv != NULL; {BUDGET}", OUT_OF_BUDGET),
        ("nothing rules out null-dereference at list.c:12 (n->value = value)", NEITHER),
        ("nothing rules out division-by-zero at list.c:12 (n / 2)", "nothing rules out division-by-zero at list.c:12 (n / 2)"),
        (f"main() calls signal(); {INSIDE}; main() calls signal()", f"main() calls signal(); {INSIDE}"),
        ("it happens if f(a; b) is 1; it calls g", "it happens if f(a; b) is 1; it calls g"),
    ],
)
def test_what_is_told(reason: str, told: str) -> None:
    assert open_reason(reason, "null-dereference") == told
