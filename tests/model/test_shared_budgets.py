"""The budget of findings: shared out by their number alone."""

from __future__ import annotations

import msgspec
import pytest

from analysis.model.budgets import BUDGETS, budget_of
from analysis.model.limits import Limits


@pytest.mark.parametrize(("count", "seconds"), [(1, 3.0), (8, 3.0), (12, 2.0), (24, 1.0), (500, 0.6)])
def test_each_finding_has_the_same_share_between_a_least_and_a_most(count: int, seconds: float) -> None:
    budget = msgspec.structs.replace(BUDGETS["full"], finding=3.0, findings=24.0)
    assert budget.of_findings(count) == seconds


def test_what_a_user_asks_for_each_finding_is_not_shared() -> None:
    budget = budget_of("full", msgspec.structs.replace(Limits(), task_seconds=9.0))
    assert budget.of_findings(500) == 9.0
