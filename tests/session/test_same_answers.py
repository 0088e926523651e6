"""Neither the client nor the number of processes makes a difference: an editor that has a file open, and the command, say the
same with the same budget.

The class: something is proved, or found, for one and not for another.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from analysis.api import Checker
from analysis.model.budgets import BudgetName
from analysis.model.limits import Limits
from analysis.model.options import Options
from analysis.model.report import Report
from tests.support.settled import answered

_RULES = ("array-bounds", "division-by-zero", "double-free", "null-dereference")
_TEXT = """
void *malloc(unsigned long); void free(void *); int __VERIFIER_nondet_int(void);
static int share(int n) { return n ? 100 / n : 0; }
static int at(int i) { int a[4] = {1, 2, 3, 4}; return a[i]; }
int main(void)
{
    int n = __VERIFIER_nondet_int(), *p = malloc(4);
    if (n < 0 || n > 4)
        return 1;
    if (p)
        *p = share(n);
    free(p);
    return at(n);
}
"""


def _by_the_command(file: Path, options: Options) -> Report:
    checker = Checker(msgspec.structs.replace(options, everywhere=True), jobs=2)
    checker.open([str(file)])
    checker.check()
    return checker.prove()


def _in_an_editor(file: Path, options: Options) -> Report:
    checker = Checker(options, jobs=2)
    checker.open([str(file)])
    checker.change(str(file), file.read_text(), 1)
    checker.check()
    answered(checker)
    report = checker.report
    checker.close()
    assert report is not None
    return report


def _said(report: Report) -> tuple[dict[tuple[str, str], str], list[tuple[str, str, int]]]:
    verdicts = {(f.name, rule): verdict.verdict for f in report.functions for rule, verdict in f.verdicts.items()}
    return verdicts, [(f.rule, f.status, f.place.range.start.line) for f in report.findings]


@pytest.mark.parametrize("budget", ["background", "full"])
def test_an_editor_and_the_command_say_the_same(tmp_path: Path, budget: BudgetName) -> None:
    file = tmp_path / "a.c"
    file.write_text(_TEXT)
    options = Options(rules=_RULES, proofs=True, budget=budget)
    by_command = _by_the_command(file, options)
    verdicts, findings = _said(by_command)
    assert findings == [("array-bounds", "confirmed", 4)]
    assert verdicts["at", "array-bounds"] == "violated"
    assert verdicts["share", "division-by-zero"] == "safe"
    # a subscript below main leaves its array, and what happens from there on is not known
    assert {verdicts["main", rule] for rule in ("division-by-zero", "double-free", "null-dereference")} == {"unknown"}
    assert _said(_in_an_editor(file, options)) == (verdicts, findings)
    assert by_command.work.solver_queries > 0
    assert by_command.work.abstract_states.recomputed > 0


_MANY = "".join(
    f"""
static int at{n}(int i) {{ int a[{n + 2}] = {{1}}, sum = 0; for (int k = 0; k < i && k < {n + 2}; k++) sum += a[k]; return sum; }}
int share{n}(int i) {{ return at{n}(i) / (i * i + {n + 1}); }}
"""
    for n in range(6)
)


@pytest.mark.parametrize("total", [0.3, 1.5])
def test_what_is_proved_does_not_depend_on_the_number_of_processes(tmp_path: Path, total: float) -> None:
    file = tmp_path / "a.c"
    file.write_text(_MANY)
    limits = Limits(total_seconds=total)
    options = Options(rules=("array-bounds", "division-by-zero", "signed-overflow"), proofs=True, everywhere=True, limits=limits)
    reasons = []
    for jobs in (1, 2, 3):
        checker = Checker(options, jobs=jobs)
        checker.open([str(file)])
        checker.check()
        report = checker.prove()
        checker.close()
        reasons.append({(f.name, rule): (v.verdict, v.reason) for f in report.functions for rule, v in f.verdicts.items()})
    assert reasons[0] == reasons[1] == reasons[2]
    why = {reason for _, reason in reasons[0].values()}
    assert any(reason is not None and "its turn did not come within" in reason for reason in why)
