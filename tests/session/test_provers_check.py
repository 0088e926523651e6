"""Findings of a check that provers decide: what they confirm, refute and leave, and that nothing is asked twice."""

from __future__ import annotations

import json
import os
import random
import signal
from pathlib import Path

import pytest
from support.prover_program import TEXT

from analysis.api import Checker
from analysis.cli.main import main
from analysis.model.limits import Limits
from analysis.model.options import Options
from analysis.model.report import Report
from analysis.session.provers import Pool
from analysis.store.database import Store

LONG = Options(limits=Limits(task_seconds=120.0))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "a.c"
    file.write_text(TEXT)
    return file


def proved(checker: Checker, file: Path) -> Report:
    checker.open([str(file)])
    checker.check()
    return checker.prove()


def said(report: Report) -> dict[str, str]:
    return {finding.function: finding.status for finding in report.findings}


def test_confirmed_with_values_or_gone(file: Path) -> None:
    checker = Checker(LONG)
    checker.open([str(file)])
    assert said(checker.check()) == {"safe": "possible", "bad": "possible"}
    report = checker.prove()
    assert said(report) == {"bad": "confirmed"}
    assert report.refuted == 1
    (finding,) = report.findings
    assert finding.trace[0].kind == "entry"
    assert finding.trace[-1].kind == "error"
    assert finding.trace[-1].values == {"p": "NULL"}
    assert any(step.values.get("n") == "7" for step in finding.trace)
    assert any("n == 7" in assumption for assumption in finding.assumptions)
    assert report.work.solver_queries > 0
    assert report.times.prover > 0
    (verdicts,) = (function.verdicts for function in report.functions if function.name == "safe")
    assert verdicts["null-dereference"].verdict == "unknown"
    (verdicts,) = (function.verdicts for function in report.functions if function.name == "bad")
    assert (verdicts["null-dereference"].verdict, verdicts["null-dereference"].engine) == ("violated", "symbolic")


def test_the_automaton_engine_alone_asks_no_prover(file: Path) -> None:
    checker = Checker(Options(engine="automaton"))
    report = proved(checker, file)
    assert said(report) == {"safe": "possible", "bad": "possible"}
    assert (report.refuted, report.work.solver_queries, report.times.prover) == (0, 0, 0.0)


def test_a_refuted_finding_is_replaced_by_the_next_with_the_same_cause(file: Path) -> None:
    file.write_text(TEXT.replace("    return 0;\n", "    if (n == 8)\n        return *p;\n    return 0;\n"))
    checker = Checker(LONG)
    report = proved(checker, file)
    assert said(report) == {"safe": "confirmed", "bad": "confirmed"}
    assert report.refuted == 1
    assert [f.place.range.start.line for f in report.findings if f.function == "safe"] == [9]


def test_the_same_content_is_not_asked_again(file: Path) -> None:
    checker = Checker(LONG)
    first = proved(checker, file)
    checker.change(str(file), "/* only a comment */\n" + TEXT)
    checker.check()
    again = checker.prove()
    assert said(again) == said(first) == {"bad": "confirmed"}
    assert (again.work.solver_queries, again.times.prover, again.refuted) == (0, 0.0, 1)
    moved = [step.place.range.start.line for finding in again.findings for step in finding.trace]
    assert moved == [step.place.range.start.line + 1 for finding in first.findings for step in finding.trace]


def test_an_edit_of_a_function_is_asked_about_and_of_another_is_not(file: Path) -> None:
    checker = Checker(LONG)
    proved(checker, file)
    checker.change(str(file), TEXT.replace("n * 2 == 14", "n * 2 == 16"))
    assert said(checker.check()) == {"bad": "possible"}
    report = checker.prove()
    assert said(report) == {"bad": "confirmed"}
    assert any(step.values.get("n") == "8" for finding in report.findings for step in finding.trace)
    checker.change(str(file), TEXT.replace("n * 2 == 14", "n * 2 == 16") + "int other(int n)\n{\n    return n;\n}\n")
    assert said(checker.check()) == {"bad": "confirmed"}
    assert checker.prove().work.solver_queries == 0


def test_a_refuted_finding_stays_away_while_its_function_is_edited_until_it_is_decided(file: Path) -> None:
    checker = Checker(LONG)
    proved(checker, file)
    for body, status in (("n == 7 && n", {}), ("n == 8", {"safe": "confirmed"})):
        checker.change(str(file), TEXT.replace("if (n == 7)", f"if ({body})"))
        report = checker.check()
        assert said(report) == {"bad": "confirmed"}
        (verdicts,) = (function.verdicts for function in report.functions if function.name == "safe")
        assert verdicts["null-dereference"].verdict == "unknown"
        assert said(checker.prove()) == {"bad": "confirmed", **status}


def test_what_was_decided_is_in_the_store_and_deleting_it_changes_no_answer(file: Path, tmp_path: Path) -> None:
    path = tmp_path / "kept"
    first = Checker(LONG, store=Store(str(path)))
    report = proved(first, file)
    assert report.work.solver_queries > 0
    assert first.save()
    reopened = proved(Checker(LONG, store=Store(str(path))), file)
    assert reopened.findings == report.findings
    assert (reopened.work.solver_queries, reopened.refuted) == (0, 1)
    file.write_text(TEXT + "\nint other(int n)\n{\n    return n;\n}\n")  # the snapshot does not hold, the decisions do
    edited = proved(Checker(LONG, store=Store(str(path))), file)
    assert said(edited) == {"bad": "confirmed"}
    assert edited.work.solver_queries == 0
    file.write_text(TEXT)
    path.unlink()
    assert proved(Checker(LONG, store=Store(str(path))), file).findings == report.findings


def test_what_ran_out_of_its_budget_stays_possible_and_is_not_kept(file: Path, tmp_path: Path) -> None:
    short = Options(limits=Limits(task_seconds=0.001))
    path = tmp_path / "kept"
    first = Checker(short, store=Store(str(path)))
    report = proved(first, file)
    assert said(report) == {"safe": "possible", "bad": "possible"}
    assert all(finding.reason for finding in report.findings)
    first.save()
    second = proved(Checker(LONG, store=Store(str(path))), file)
    assert said(second) == {"bad": "confirmed"}


def test_killing_provers_at_random_changes_no_result(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = proved(Checker(LONG), file)
    chance, kills = random.Random(4), []
    real = Pool.wait

    def wait(pool: Pool, seconds: float | None = None) -> bool:
        pids = pool.pids()
        if not kills and pids:  # a task that is struck twice is given up
            kills.append(chance.choice(pids))
            os.kill(kills[0], signal.SIGKILL)
            real(pool, chance.random() / 10)
        return real(pool, seconds)

    monkeypatch.setattr(Pool, "wait", wait)
    struck = 0
    for _ in range(4):
        kills.clear()
        report = proved(Checker(LONG), file)
        assert report.findings == expected.findings
        assert report.refuted == expected.refuted
        struck += len(kills)
    assert struck > 0


def test_the_command_line_says_what_provers_say(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--format", "json", "--task-timeout", "120", str(file)]) == 1
    report = json.loads(capsys.readouterr().out)
    assert [(f["function"], f["status"], f["reason"]) for f in report["findings"]] == [("bad", "confirmed", None)]
    assert report["refuted"] == 1
    assert report["work"]["solver_queries"] > 0
    assert main(["check", "--task-timeout", "120", str(file)]) == 1
    text = capsys.readouterr().out
    assert "error: `p` can be null here and is dereferenced" in text
    assert "warning: " not in text  # no finding is left undecided
    assert "refuted: 1 possible finding\n" in text
    assert "1 finding (1 refuted)" in text
    assert main(["check", "--engine", "automaton", str(file)]) == 1
    assert "2 findings: " in capsys.readouterr().out
