"""What the command says is tested here, and how long provers look matters to few of the tests: they are marked `full_budget`.
For the others findings are decided, and nothing else is proved."""

from __future__ import annotations

import msgspec
import pytest

from analysis.model.budgets import BUDGETS


@pytest.fixture(autouse=True)
def short(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.node.get_closest_marker("full_budget") is None:
        for name, budget in BUDGETS.items():
            monkeypatch.setitem(BUDGETS, name, msgspec.structs.replace(budget, total=0.0))
