"""`everproof diff --condition`, `--residual` and `--changed-paths`: which paths have to be looked at again."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.diffs import as_json, numbers, put

from analysis.cli.main import main


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


PATHS = """int __VERIFIER_nondet_int(void);
void reach_error(void);
static int twice(int n)
{
    return n * 2;
}
int main(void)
{
    int n = __VERIFIER_nondet_int() & 7, m = 0;
    if (n == 1) {
        m = 3;
        if (m > n)
            reach_error();
        return 0;
    }
    m = twice(n);
    if (m > 20)
        reach_error();
    return 0;
}
"""


def test_a_condition_says_which_paths_are_left(capsys: pytest.CaptureFixture[str]) -> None:
    put("old.c", PATHS)
    put("new.c", PATHS.replace("n * 2", "n * 3"))
    as_json(capsys, "--rule", "assertion", "old.c", "new.c", "--condition", "c.json", "--residual", "r.c", code=0)
    document = json.loads(Path("c.json").read_text())
    assert document["property"] == "assertions"
    (entry,) = document["entries"]
    assert (entry["function"], entry["covers_all"]) == ("main", False)
    main_, twice = entry["automata"]
    assert (main_["function"], twice["function"]) == ("main", "twice")
    states = {node["state"] for node in main_["nodes"]}
    assert states >= {"open", "accepting", "indicator"}
    left = {move["line"] for move in main_["moves"] if main_["nodes"][move["source"]]["state"] == "open"}
    assert {10, 16, 17} <= left
    assert not left & {11, 12}
    assert [move["line"] for move in main_["moves"] if move["calls"] == [1]] == [16]
    residual = Path("r.c").read_text()
    assert "m = 3" not in residual
    assert "m = twice(n);" in residual
    subprocess.run(["gcc", "-c", "-w", "r.c"], check=True)
    as_json(capsys, "r.c", "r.c", code=0)


def test_what_cannot_have_become_wrong_leaves_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    put("old.c", PATHS)
    put("new.c", PATHS.replace("m = 0;", "m = 1;"))
    as_json(capsys, "old.c", "new.c", "--condition", "c.json", code=0)
    assert [(one["function"], one["covers_all"]) for one in json.loads(Path("c.json").read_text())["entries"]] == [("main", True)]
    as_json(capsys, "old.c", "new.c", "--condition", "c.json", "--extractor", "diffcond", code=0)  # the text differs
    assert [(one["function"], one["covers_all"]) for one in json.loads(Path("c.json").read_text())["entries"]] == [
        ("main", False)
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--residual", "r.c"), "A residual program can be made of one file only"),
        (("--condition", "old/a.c"), "would replace a file that is read"),
        (("--condition", "c.json", "--residual", "c.json"), "name the same file"),
        (("--condition", "none/c.json"), "cannot be written"),
    ],
)
def test_what_cannot_be_written_is_one_sentence(words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in ("old", "new"):
        put(f"{folder}/a.c", "int f(void) { return 1; }\n")
        put(f"{folder}/b.c", "int g(void) { return 1; }\n")
    assert main(["diff", "--engine", "automaton", "old", "new", *words]) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    is_compared = said.startswith("A residual program")
    assert ("0 findings introduced" in captured.out) == is_compared  # what came of the comparison is said all the same
    assert captured.err.count("\n") == 1


COUNT = """#include <assert.h>
int nondet(void);
int main(void)
{
    int n = nondet(), *p = 0;
    if (n == 3) {
        return *p;
    }
    n = nondet() & 7;
    n = n + 1;
    assert(n > 0);
    return n;
}
"""


def checked(capsys: pytest.CaptureFixture[str], *words: str, code: int) -> dict[str, Any]:
    assert main(["check", "--format", "json", *words]) == code
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


@pytest.mark.full_budget
@pytest.mark.parametrize("extractor", ["diffdp", "diffcond"])
def test_check_looks_only_at_what_a_condition_leaves(capsys: pytest.CaptureFixture[str], extractor: str) -> None:
    put("old/a.c", COUNT)
    put("new/a.c", COUNT.replace("n + 1", "n - 1"))
    as_json(capsys, "--condition", "left.json", "--extractor", extractor, "old/a.c", "new/a.c", code=0)
    whole = checked(capsys, "new/a.c", code=1)
    assert {finding["rule"] for finding in whole["findings"]} == {"assertion", "null-dereference"}
    rest = checked(capsys, "--condition", "left.json", "new/a.c", code=1)
    assert [finding["rule"] for finding in rest["findings"]] == ["assertion"]
    assert rest["findings"][0]["status"] == "confirmed"


@pytest.mark.full_budget
def test_what_is_proved_under_a_condition_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    put("old/a.c", COUNT)
    put("new/a.c", COUNT.replace("n + 1", "n + 2"))
    as_json(capsys, "--condition", "left.json", "--extractor", "diffcond", "old/a.c", "new/a.c", code=0)
    rest = checked(capsys, "--condition", "left.json", "--rule", "assertion", "new/a.c", code=0)
    verdict = rest["functions"][0]["verdicts"]["assertion"]
    assert verdict["verdict"] == "safe"
    said = "the paths that the condition left.json leaves out violate nothing new; they were not checked"
    assert verdict["assumptions"][-1] == said
    assert f"It is assumed that {said}." in [message["text"] for message in rest["messages"]]


def test_a_condition_is_believed_of_its_program_and_its_rules_only(capsys: pytest.CaptureFixture[str]) -> None:
    put("old/a.c", COUNT)
    put("new/a.c", COUNT.replace("n + 1", "n + 2"))
    as_json(capsys, "--condition", "left.json", "old/a.c", "new/a.c", code=0)
    for words in (
        ["--condition", "left.json", "old/a.c"],
        ["--condition", "left.json", "-DNDEBUG", "new/a.c"],
        ["--condition", "left.json", "--rule", "memory-leak", "new/a.c"],
        ["--condition", "left.json", "--certificate", "c.json", "new/a.c"],
        ["--condition", "left.json", "--engine", "summary", "new/a.c"],
        ["--condition", "none.json", "new/a.c"],
        ["--condition", "new/a.c", "new/a.c"],
    ):
        assert main(["check", *words]) == 2
        assert "condition" in capsys.readouterr().err


TYPES = """#include <assert.h>
typedef int number;
enum limit { NONE, FIRST = 2 };
static int d = 5;
struct pair { int a, b; };
int main(int n, char **v)
{
    (void)v;
    int d = n;
    number k = n * 256;
    struct pair p = {1, n};
    int (*a)[n] = (void *)v;
    int *last = &n;
    int m;
    {
        m = n;
        last = &m;
    }
    assert((*a)[0] == *last - n);
    assert(k != 0 && n != FIRST && d > 0 && p.a == 1);
    return 0;
}
"""


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("typedef int", "typedef signed char"),
        ("FIRST = 2", "FIRST = 1"),
        ("int a, b;", "int b, a;"),
        ("    int d = n;\n", ""),
        ("(void)v;", '(void)v; __asm__ volatile("nop");'),
        ("    int m;\n    {", "    {\n    int m;"),
    ],
    ids=["a type", "a constant", "members", "a variable", "assembler", "a block"],
)
def test_a_condition_is_not_believed_where_the_same_words_mean_something_else(
    capsys: pytest.CaptureFixture[str], part: str, other: str
) -> None:
    old, new = put("old.c", TYPES), put("new.c", TYPES.replace(part, other))
    for first, last in ((new, old), (old, new)):
        main(["diff", "--engine", "automaton", "--rule", "assertion", "--condition", "left.json", first, last])
        assert main(["check", "--engine", "automaton", "--condition", "left.json", last]) in (0, 1)
        capsys.readouterr()
        assert main(["check", "--engine", "automaton", "--condition", "left.json", first]) == 2
        assert "is about another version" in capsys.readouterr().err


@pytest.mark.full_budget
def test_only_changed_paths_are_looked_at_for_what_is_introduced(capsys: pytest.CaptureFixture[str]) -> None:
    """The null pointer that was there before is on a path that the change does not concern."""
    put("old/a.c", COUNT)
    put("new/a.c", COUNT.replace("n + 1", "n - 1"))
    assert main(["diff", "--changed-paths", "--format", "json", "old/a.c", "new/a.c"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert numbers(document) == (1, 0, 0)
    assert document["introduced"][0]["rule"] == "assertion"
    assert document["introduced"][0]["path"] == "new/a.c"
    assert any("what is fixed is not known" in message["text"] for message in document["messages"])
    assert main(["diff", "--changed-paths", "--format", "json", "--engine", "automaton", "old/a.c", "old/a.c"]) == 0
    assert numbers(json.loads(capsys.readouterr().out)) == (0, 0, 0)
