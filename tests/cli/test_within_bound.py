"""Answers within a bound: each names its bound, none is `safe`, and summaries outlive a revision and a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.cli.main import main

pytestmark = pytest.mark.full_budget

PROGRAM = """#include <assert.h>
int nondet(void);
static int sum(int n) { int s = 0; for (int i = 0; i < n; i++) s = s + i; return s; }
static int copy(int n) { return n; }
int main(void) {
    int a = nondet();
    if (a < 0 || a > 3) return 0;
    assert(sum(a) >= 0);
    assert(copy(a) <= 3);
    return 0;
}
"""
SAME = PROGRAM.replace("{ return n; }", "{ n = n + 0; return n; }")
SMALLER = PROGRAM.replace("{ return n; }", "{ return n > 2 ? 2 : n; }")
LARGER = PROGRAM.replace("{ return n; }", "{ return n + (n == 2) * 2; }")
LINE = "within bound {}: no run violates assertion (summary, lra); {}"
WORDS = ("--engine", "summary", "--rule", "assertion")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def asked(capsys: pytest.CaptureFixture[str], text: str, *words: str) -> tuple[int, str]:
    Path("p.c").write_text(text)
    code = main(["check", *WORDS, *(() if "--store" in words else ("--store", "none")), *words, "p.c"])
    return code, capsys.readouterr().out


def document(capsys: pytest.CaptureFixture[str], text: str, *words: str) -> Any:
    return json.loads(asked(capsys, text, "--format", "json", *words)[1])


def verdict(report: Any, function: str = "main") -> Any:
    return next(one["verdicts"]["assertion"] for one in report["functions"] if one["name"] == function)


@pytest.mark.parametrize(("bound", "others"), [("2", "longer runs were not looked at"), ("3", "there are no other runs")])
def test_an_answer_names_its_bound_and_is_never_safe(bound: str, others: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = asked(capsys, PROGRAM, "--unwind", bound)
    assert code == 0
    assert text.startswith(LINE.format(bound, others))
    assert "not everything is proved" in text.splitlines()[-1]
    assert asked(capsys, PROGRAM, "--unwind", bound, "--strict")[0] == 3


def test_the_json_report_has_the_bound_the_theory_and_the_work(capsys: pytest.CaptureFixture[str]) -> None:
    report = document(capsys, PROGRAM, "--unwind", "4", "--encoding", "int")
    said = verdict(report)
    assert (report["verdict"], said["verdict"], said["engine"], said["certified"]) == ("unknown", "unknown", "summary", False)
    assert said["within"] == {"bound": 4, "holds": True, "complete": True, "level": "int", "calls": 3, "summaries": 3}
    assert said["reason"] == "no run violates assertion within bound 4; there are no other runs"
    assert report["work"]["summaries"] == {"validated": 1, "held": 1, "weakened": 0, "strengthened": 2, "lost": 0}


def test_a_violation_is_run(capsys: pytest.CaptureFixture[str]) -> None:
    report = document(capsys, LARGER)
    (finding,) = report["findings"]
    assert (finding["rule"], finding["status"], finding["range"]["start"]["line"]) == ("assertion", "confirmed", 9)
    assert verdict(report)["verdict"] == "violated"


def test_a_bound_that_leaves_out_every_place_is_no_answer(capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        "#include <assert.h>\nint main(void) { int s = 0; for (int i = 0; i < 7; i++) s = s + i; assert(s == 21); return 0; }\n"
    )
    said = verdict(document(capsys, text, "--unwind", "6"))
    assert said["within"] is None
    assert said["reason"].endswith("the bound leaves out every place where it could be violated")
    assert verdict(document(capsys, text, "--unwind", "7"))["within"]["complete"]


def test_a_violation_beyond_the_bound_is_not_denied(capsys: pytest.CaptureFixture[str]) -> None:
    text = """#include <assert.h>
int nondet(void);
int main(void) { int i = 0; while (nondet()) i++; assert(i != 4); return 0; }
"""
    for bound, status, why in (
        ("3", "possible", "no run violates assertion within bound 3; longer"),
        ("4", "confirmed", ""),
    ):
        (finding,) = document(capsys, text, "--unwind", bound)["findings"]
        assert finding["status"] == status
        assert (finding["reason"] or "").startswith(why)


def test_what_a_complete_answer_excludes_is_no_finding_until_it_is_possible_again(capsys: pytest.CaptureFixture[str]) -> None:
    declared = "void __VERIFIER_error(void);\n"  # only where it is declared, possible failures of assertions are findings
    text = declared + SAME.replace("copy(a) <= 3", "copy(a) == a")
    reports = revisions(capsys, text, text.replace("n + 0", "n + 1"), text)
    assert [len(report["findings"]) for report in reports] == [0, 1, 0]
    assert [report["refuted"] for report in reports] == [1, 0, 1]
    assert reports[1]["findings"][0]["status"] == "confirmed"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("#include <assert.h>\nint f(int n) { assert(n != 3); return n; }\n", "the program has no main"),
        ("#include <assert.h>\nint main(void) { int n; assert(n != 3); return n; }\n", "not known within bound 5"),
    ],
)
def test_why_there_is_no_answer(text: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    report = document(capsys, text)
    assert {one["verdicts"]["assertion"]["verdict"] for one in report["functions"]} <= {"unknown", "violated"}
    found = [one["verdicts"]["assertion"]["reason"] or "" for one in report["functions"]]
    assert any(said in reason for reason in found) or report["findings"], found


def revisions(capsys: pytest.CaptureFixture[str], *texts: str) -> list[Any]:
    for number, text in enumerate(texts):
        Path(f"{number}.c").write_text(text)
    names = [f"{number}.c" for number in range(len(texts))]
    code = main(["revisions", *WORDS, "--store", "none", "--compare", "--format", "json", "--unwind", "3", *names])
    assert code in (0, 1)  # 4 if an answer differs from one from scratch
    return list(json.loads(capsys.readouterr().out))


def work(report: Any) -> tuple[int, int, int, int, int]:
    done = report["work"]["summaries"]
    return done["validated"], done["held"], done["weakened"], done["strengthened"], done["lost"]


def test_summaries_outlive_a_revision(capsys: pytest.CaptureFixture[str]) -> None:
    first, same, smaller, larger, again = revisions(capsys, PROGRAM, SAME, SMALLER, LARGER, PROGRAM)
    assert work(first) == (1, 1, 0, 2, 0)
    assert work(same) == (0, 0, 0, 0, 0)  # the formula of the function is the same
    assert work(smaller) == (1, 1, 0, 0, 0)  # its summary still holds: main was not looked at
    assert larger["verdict"] == "violated"
    assert work(again) == (0, 0, 0, 0, 0)  # the answer is known
    assert [verdict(one)["within"] is not None for one in (first, same, smaller, again)] == [True] * 4


def test_summaries_outlive_a_run_and_are_validated_then(capsys: pytest.CaptureFixture[str]) -> None:
    store = ("--store", str(Path("store.db").absolute()), "--unwind", "3")
    assert work(document(capsys, PROGRAM, *store)) == (1, 1, 0, 2, 0)
    assert work(document(capsys, PROGRAM, *store)) == (0, 0, 0, 0, 0)  # the report is known
    assert work(document(capsys, SMALLER, *store)) == (3, 3, 0, 0, 0)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--unwind", "3"], "--unwind is the bound of --engine summary"),
        (["--encoding", "lra"], "Only summaries are made in lra"),
        (["--encoding", "euf", "--engine", "predicate"], "Only summaries are made in euf"),
        (["--engine", "summary", "--certificate", "c.json"], "Answers within a bound are no proofs"),
        (["--engine", "summary", "--unwind", "0"], "0 is not in the range"),
    ],
)
def test_what_does_not_go_together_is_said(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.c").write_text(PROGRAM)
    assert main(["check", *words, "p.c"]) == 2
    assert said in capsys.readouterr().err


def test_settings_may_choose_the_engine_and_the_bound(capsys: pytest.CaptureFixture[str]) -> None:
    Path(".everproof.toml").write_text('engine = "summary"\nencoding = "lra"\nunwind = 3\nrules = ["assertion"]\n')
    Path("p.c").write_text(PROGRAM)
    assert main(["check", "--store", "none", "p.c"]) == 0
    assert capsys.readouterr().out.startswith(LINE.format(3, "there are no other runs"))
    assert main(["check", "--store", "none", "--engine", "auto", "--encoding", "int", "p.c"]) == 0
    assert "within bound" not in capsys.readouterr().out


def test_runs_begin_in_main(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Another entry is refused; a function that main does not lead to is said to be so, and not to be harmless."""
    (tmp_path / "a.c").write_text("int start(int n) { return 10 / n; }\nint main(void) { return 0; }\n")
    words = ["check", "--store", "none", "--engine", "summary", "--rule", "division-by-zero", str(tmp_path / "a.c")]
    assert main([*words, "--entry", "start"]) == 2
    assert "Runs within a bound begin in main" in capsys.readouterr().err
    assert main([*words, "--entry", "main"]) == main(words) == 0
    said = capsys.readouterr()
    assert "nothing here could violate it" not in said.out + said.err
    assert "only main and what it calls are looked at" in said.out + said.err


OUTSIDE = """#include <stdlib.h>
struct stack { int top; int *data; };
static struct stack *made(void) {
    struct stack *s = malloc(sizeof *s);
    if (!s) exit(1);
    s->data = calloc(4, sizeof(int));
    if (!s->data) exit(1);
    s->top = 0;
    return s;
}
static void push(struct stack *s, int v) { s->data[s->top++] = v; }
int main(void) { struct stack *s = made(); for (int i = 0; i < 5; i++) push(s, i); free(s->data); free(s); return 0; }
"""


def test_a_run_is_found_where_the_formulas_name_another_place(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.c").write_text(OUTSIDE)
    words = ["check", "--store", "none", "--format", "json", "--engine", "summary", "--rule", "array-bounds", "a.c"]
    assert main(words) == 1
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert (finding["status"], finding["function"]) == ("confirmed", "push")


def test_what_the_search_for_runs_excludes(capsys: pytest.CaptureFixture[str]) -> None:
    text = "#include <assert.h>\nstatic int length(const char *s) { int n = 0; while (s[n]) n++; return n; }\n"
    Path("a.c").write_text(text + 'int main(void) { assert(length("abc") == 3); return 0; }\n')
    main(["check", "--store", "none", "--format", "json", "--engine", "summary", "--rule", "assertion", "a.c"])
    report = json.loads(capsys.readouterr().out)
    reasons = [finding["reason"] or "" for finding in report["findings"]]
    assert any("no run can do that, as a search for one has shown" in reason for reason in reasons)
