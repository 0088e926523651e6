"""Which findings provers take up first, and which they do not take up again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model import budgets
from analysis.model.limits import Limits
from analysis.model.options import Options
from analysis.session.provers.processes import prover_pool as pool
from analysis.session.provers.processes import task_outcome as outcome
from analysis.session.provers.processes.prover_pool import Pool
from analysis.session.provers.processes.seat import Patience
from analysis.session.provers.processes.task_outcome import Budget
from analysis.session.provers.proofs import Proofs
from analysis.store.database import Store
from tests.support.prover_work import Factor, Spin

_WORK = "tests.support.prover_work:do"
_DEFECT = "int {name}(int n)\n{{\n    int *p = 0;\n    if (n > 2)\n        *p = n;\n    return 0;\n}}\n"
_CALLS = """int one(int n);
int two(int n);
int three(int n);
int main(int n, char **words)
{
    return n == 9 ? one(n) : n == 8 ? two(n) : three(n);
}
"""


def test_tasks_of_lower_rank_come_first(tmp_path: Path) -> None:
    pool = Pool(_WORK, 1)
    try:
        busy = pool.submit(Spin(str(tmp_path / "pid")), Budget(30.0))
        last, first, second = (pool.submit(Factor(n), Budget(30.0), rank) for n, rank in ((35, 2), (77, 0), (143, 1)))
        pool.cancel(busy)
        order = []
        while pool.open:
            pool.wait()
            order += [outcome.ticket for outcome in pool.take()]
    finally:
        pool.close()
    assert order == [busy, first, second, last]


def _asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The functions that are asked about from now on, with their ranks."""
    found: list[tuple[str, int]] = []
    submit = Pool.submit

    def noted(pool: Pool, task: object, budget: Budget, rank: int = 0) -> int:
        found.append((task.about.function, rank))  # type: ignore[attr-defined]  # a Question
        return submit(pool, task, budget, rank)

    monkeypatch.setattr(Pool, "submit", noted)
    return found


def test_what_was_edited_comes_before_what_is_seen_before_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {name: _DEFECT.format(name=name) for name in ("one", "two", "three")}
    texts["main"] = _CALLS
    for name, text in texts.items():
        (tmp_path / f"{name}.c").write_text(text)
    checker = Checker(Options(limits=Limits(task_seconds=60.0)))
    checker.open([str(tmp_path)])
    checker.change(str(tmp_path / "two.c"), texts["two"] + "int four(int n)\n{\n    return n;\n}\n", 1)
    checker.check()
    checker.change(str(tmp_path / "one.c"), texts["one"].replace("n > 2", "n > 3"), 1)
    checker.check()
    asked = _asked(monkeypatch)
    report = checker.prove()
    checker.close()
    assert [finding.status for finding in report.findings] == ["confirmed"] * 3
    assert dict(asked) == {"one": 0, "two": 1, "three": 2}


def test_what_was_left_open_is_tried_again_when_what_was_gone_through_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {name: _DEFECT.format(name=name) for name in ("one", "two", "three")}
    texts["main"] = _CALLS
    for name, text in texts.items():
        (tmp_path / f"{name}.c").write_text(text)
    checker = Checker(Options())
    checker._proofs = Proofs(None, 1, lambda: None, partial(Pool, "tests.support.prover_work:left_open"))
    checker.open([str(tmp_path)])
    checker.check()
    asked = _asked(monkeypatch)
    assert {finding.reason for finding in checker.prove().findings} == {"not found"}
    assert {name for name, _ in asked} == {"one", "two", "three"}
    asked.clear()
    checker.change(str(tmp_path / "one.c"), texts["one"].replace("n > 2", "n > 3"), 1)
    checker.check()
    assert {finding.reason for finding in checker.prove().findings} == {"not found"}
    checker.close()
    assert asked == [("one", 0)]


Reasons = Callable[..., tuple[list[str | None], list[str]]]


@pytest.fixture
def reasons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reasons:
    """Checks the files of a folder, in a session of its own with provers that look in vain, or do other `work`, for so many
    seconds: the reasons of its findings, and the functions that were asked about."""
    asked = _asked(monkeypatch)

    def check(seconds: float, work: str = "in_vain") -> tuple[list[str | None], list[str]]:
        asked.clear()
        store = Store(str(tmp_path / "kept"))
        checker = Checker(Options(limits=Limits(task_seconds=seconds)), store=store)
        checker._proofs = Proofs(store, 1, lambda: None, partial(Pool, f"tests.support.prover_work:{work}"))
        checker.open([str(file) for file in sorted(tmp_path.glob("*.c"))])
        checker.check()
        report = checker.prove()
        checker.save()
        checker.close()
        return [finding.reason for finding in report.findings], [name for name, _ in asked]

    return check


def test_what_was_looked_for_in_vain_is_asked_again_only_with_more_patience(tmp_path: Path, reasons: Reasons) -> None:
    (tmp_path / "one.c").write_text(_DEFECT.format(name="one"))
    assert reasons(4.0) == (["not found"], ["one"])
    assert reasons(4.0) == (["not found"], [])
    assert reasons(2.0) == (["not found"], [])
    assert reasons(5.0) == (["not found"], ["one"])
    assert reasons(5.0) == (["not found"], [])


@pytest.mark.parametrize(("work", "enough", "again"), [("busy", 0.004, []), ("idle", 0.5, ["one"])])
def test_what_was_ended_by_time_is_asked_again_only_if_it_did_not_have_the_processor(
    tmp_path: Path, reasons: Reasons, monkeypatch: pytest.MonkeyPatch, work: str, enough: float, again: list[str]
) -> None:
    monkeypatch.setattr(pool, "Patience", lambda: Patience(grace=60.0))  # it has all the time to say what it had
    monkeypatch.setattr(budgets, "BY_THE_CLOCK", 1.0)
    monkeypatch.setattr(outcome, "_OWN", enough)  # so little a busy prover has on any machine, and an idle one never so much
    (tmp_path / "one.c").write_text(_DEFECT.format(name="one"))
    reason = ["the budget of 0.5 s was not enough"]
    assert reasons(0.5, work) == (reason, ["one"])
    assert reasons(0.5, work) == (reason, again)


def test_half_of_the_time_is_enough() -> None:
    assert outcome.had_the_processor(0.5, 1.0)
    assert not outcome.had_the_processor(0.49, 1.0)


def test_a_function_in_which_a_run_violates_a_rule_is_not_asked_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "main.c").write_text("int main(void)\n{\n    int a[2] = {1, 2}, i = 2;\n    return a[i];\n}\n")
    asked = _asked(monkeypatch)
    checker = Checker(Options(rules=("array-bounds",), proofs=True, everywhere=True), jobs=1)
    checker.open([str(tmp_path)])
    checker.check()
    report = checker.prove()
    checker.close()
    assert [(finding.rule, finding.status) for finding in report.findings] == [("array-bounds", "confirmed")]
    assert report.functions[0].verdicts["array-bounds"].verdict == "violated"
    assert "main" not in {function for function, _ in asked}
    assert asked
