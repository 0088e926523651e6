"""What is proved is said as proved, in every format, and nothing else is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.api import Checker
from analysis.cli.main import main
from analysis.model.assumptions import BEFORE, FOUND
from analysis.model.options import Options

pytestmark = pytest.mark.full_budget

DIVISION = "int main(int argc, char **argv)\n{\n    int n = argc;\n    if (n <= 0)\n        return 1;\n    return 100 / n;\n}\n"
FREEING = "void free(void *);\n" + DIVISION.replace("    return 100", "    free(0);\n    return 100")
LIBRARY = """
int guarded(int n) { return n > 0 ? 100 / n : 0; }
int open_(int n) { return 100 / n; }
int both(int n) { return guarded(n) + open_(n); }
"""
UNREACHED = "static int never(int n) { return 1 / n; }\nint main(int argc, char **argv) { return argc > 0 ? 7 / argc : 0; }\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.c").write_text(DIVISION)
    Path("freeing.c").write_text(FREEING)
    Path("library.c").write_text(LIBRARY)
    Path("unreached.c").write_text(UNREACHED)


def check(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main(["check", "--store", "none", *words])
    return code, capsys.readouterr().out


def verdicts(capsys: pytest.CaptureFixture[str], rule: str, *words: str) -> dict[str, dict[str, Any]]:
    _, text = check(capsys, "--format", "json", "--engine", "predicate", "--rule", rule, *words)
    return {function["name"]: function["verdicts"][rule] for function in json.loads(text)["functions"]}


def test_text_says_what_is_proved_and_what_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = check(capsys, "--engine", "predicate", "--certificate", "c.json", "freeing.c")
    assert code == 0
    assert (
        "proved: main (freeing.c:2:5): no division-by-zero, uninitialized-read (predicate, certificate in c.json)\n"
        f"  assuming that {BEFORE.sentence}\n" in text
    )
    [first, *_] = [line for line in text.splitlines() if line.startswith("not decided: ")]
    assert "division-by-zero" not in first
    [nowhere] = [line for line in text.splitlines() if line.startswith("nothing to prove: ")]
    assert nowhere.endswith(
        "lock-discipline, memory-leak, null-dereference, resource-leak, returned-local, shift-range, use-after-close, "
        "use-after-scope"
    )
    assert text.splitlines()[-1].endswith("1 function proved for some rule; 1 function not decided for some rule.")


def test_rules_of_which_the_same_is_said_share_a_block(capsys: pytest.CaptureFixture[str]) -> None:
    Path("two.c").write_text("int main(int argc, char **argv) { return argc < 1 || argc > 8 ? 0 : (16 / argc) << argc; }\n")
    rules = ("--rule", "shift-range", "--rule", "division-by-zero")
    _, text = check(capsys, "--engine", "predicate", *rules, "two.c")
    assert text.startswith("proved: main (two.c:1:5): no division-by-zero, shift-range (predicate)\n")
    assert (text.count("proved: "), text.count(BEFORE.sentence)) == (1, 1)


def test_a_program_that_is_proved_for_all_rules_passes_strictly(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--engine", "predicate", "--strict", "--rule", "division-by-zero", "p.c")
    code, text = check(capsys, *options)
    assert code == 0
    assert "not decided" not in text
    assert text.splitlines()[-1] == "No finding, every function is safe: 1 function in 1 file checked against 1 rule."
    assert check(capsys, *options[:-1], "freeing.c")[0] == 0
    assert check(capsys, *options[:-1], "freeing.c", "--rule", "use-after-free")[0] == 3


def test_what_nothing_could_violate_neither_counts_nor_passes_for_a_proof(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--engine", "predicate", "--strict", "--rule", "use-after-free")
    code, text = check(capsys, *options, "--rule", "division-by-zero", "p.c")
    assert code == 0
    assert "nothing to prove: nothing in the program could violate use-after-free\n" in text
    assert text.endswith("checked against 2 rules, 1 of which nothing could violate.\n")
    reported = verdicts(capsys, "use-after-free", "p.c")["main"]
    assert (reported["verdict"], reported["certified"], reported["no_place"]) == ("unknown", False, True)
    code, text = check(capsys, *options, "p.c")  # then nothing at all is proved
    assert code == 3
    assert text.splitlines()[-1].startswith("No finding, but nothing to prove either: 1 function in 1 file")
    Path("half.c").write_text(DIVISION + "int broken(int n) { return n +; }\n")
    assert check(capsys, *options, "--rule", "division-by-zero", "half.c")[0] != 0


def test_functions_of_a_library_without_a_place_do_not_count(capsys: pytest.CaptureFixture[str]) -> None:
    Path("guarded.c").write_text("int guarded(int n) { return n > 0 ? 100 / n : 0; }\nint plain(void) { return 4; }\n")
    code, text = check(capsys, "--engine", "predicate", "--strict", "--rule", "division-by-zero", "guarded.c")
    assert (code, text.splitlines()[-1].split(":")[0]) == (0, "No finding, every function is safe")


def test_a_proof_about_runs_from_main_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    Path("called.c").write_text("int f(int x) { return 10 / x; }\nint main(void) { return f(3); }\n")
    code, text = check(capsys, "--strict", "--rule", "division-by-zero", "called.c")
    first, *_, last = text.splitlines()
    assert (code, last.split(":")[0]) == (0, "No finding, every function is safe as called from main")
    assert first.startswith("proved: f (called.c:1:5) and main (called.c:2:5), as called from main: no division-by-zero (")
    reported = verdicts(capsys, "division-by-zero", "called.c")
    assert {name: verdict["entries"] for name, verdict in reported.items()} == {"f": ["main"], "main": ["main"]}


def test_functions_are_named_and_what_proofs_assume_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    functions = "".join(f"int f{number}(int x) {{ return x ? {number} / x : 0; }}\n" for number in range(14))
    Path("many.c").write_text(f"{functions}void free(void *);\nvoid g(void) {{ free(0); }}\n")
    _, text = check(capsys, "--rule", "division-by-zero", "--rule", "double-free", "many.c")
    proved = [line for line in text.splitlines() if line.startswith("proved: ")]
    assert len(proved) == 2
    assert "f9 (many.c:10:5), f10 (many.c:11:5) and 3 other functions (--format json names them): " in proved[0]
    assert ", assuming 1" in proved[0]
    assert ", assuming 1" in proved[1]
    assert text.count(BEFORE.sentence) == 1
    assert f"these proofs assume:\n  1. {BEFORE.sentence}\n" in text


def test_verdicts_name_the_certificate(capsys: pytest.CaptureFixture[str]) -> None:
    reported = verdicts(capsys, "division-by-zero", "--certificate", "c.json", "p.c")["main"]
    assert (reported["verdict"], reported["certified"], reported["certificate"]) == ("safe", True, "c.json")
    assert main(["certify", reported["certificate"], "p.c"]) == 0
    assert verdicts(capsys, "division-by-zero", "p.c")["main"]["certificate"] is None


def test_sarif_has_what_is_proved_beside_the_results(capsys: pytest.CaptureFixture[str]) -> None:
    _, text = check(capsys, "--format", "sarif", "--certificate", "c.json", "--rule", "division-by-zero", "p.c")
    [run] = json.loads(text)["runs"]
    assert run["results"] == []
    [proved] = run["properties"]["proved"]
    assert (proved["function"], proved["ruleId"], proved["certificate"]) == ("main", "division-by-zero", "c.json")
    assert proved["physicalLocation"]["region"]["startLine"] == 1


def test_each_function_is_proved_by_itself_where_not_all_are(capfd: pytest.CaptureFixture[str]) -> None:
    reported = verdicts(capfd, "division-by-zero", "--certificate", "c.json", "library.c")
    assert {name: verdict["verdict"] for name, verdict in reported.items()} == {
        "guarded": "safe",
        "open_": "unknown",
        "both": "unknown",  # it has no division, and not all that it leads to is proved
    }
    assert reported["open_"]["reason"] == "not proved: nothing rules out division-by-zero at library.c:3 (return 100 / n)"
    assert main(["certify", "c.json", "library.c"]) == 3  # it says that it is not about all places
    said = capfd.readouterr().out
    claim = "no run from guarded violates division-by-zero"
    assert said.startswith(f"accepted: {claim} (at the only place; 1 more in functions that it does not lead to)\n")
    assert said.endswith(
        "not the whole program: in runs from both, it covers 0 of 2 places where division-by-zero could be violated\n"
    )


def test_what_nothing_leads_to_or_speaks_of_is_not_proved(capsys: pytest.CaptureFixture[str]) -> None:
    reported = verdicts(capsys, "division-by-zero", "unreached.c")
    assert (reported["main"]["verdict"], reported["never"]["verdict"]) == ("safe", "unknown")
    assert "no entry of the program leads to this function" in reported["never"]["reason"]
    assert (reported["main"]["unreached"], reported["never"]["unreached"]) == (False, True)
    code, text = check(capsys, "--strict", "--rule", "division-by-zero", "unreached.c")
    assert (code, "every function that an entry leads to is safe" in text) == (0, True)
    nothing = verdicts(capsys, "null-dereference", "unreached.c")["main"]
    assert (nothing["verdict"], nothing["certified"]) == ("unknown", False)
    assert "nothing here could violate it" in nothing["reason"]


def test_a_reason_of_several_functions_names_rules_of_all_or_says_some(capsys: pytest.CaptureFixture[str]) -> None:
    Path("some.c").write_text(
        "int ext(int *);\nint f(int m) { int x = 0; return 1 / m + (x + ext(&x)); }\nint main(void) { return f(2) + f(3); }\n"
    )
    rules = ("--rule", "division-by-zero", "--rule", "shift-range")
    _, text = check(capsys, "--engine", "predicate", *rules, "some.c")
    assert "f (some.c:2:5) and 1 other function for some of shift-range, division-by-zero: nothing here" in text
    assert "f (some.c:2:5) for division-by-zero: not proved: " in text


def test_functions_are_not_counted_as_undecided_where_no_prover_was_asked(capsys: pytest.CaptureFixture[str]) -> None:
    Path("plain.c").write_text("int f(int i) { return i; }\nint main(void) { return f(0); }\n")
    _, text = check(capsys, "--engine", "automaton", "plain.c")
    assert text.splitlines()[-1].endswith("; no prover was asked.")
    Path("open.c").write_text("static int c;\nint next(void) { return ++c; }\nint main(void) { return next() - next(); }\n")
    _, text = check(capsys, "--engine", "automaton", "open.c")
    assert ": it contains operands that C may evaluate in either order (next() and next()), and the order may matter\n" in text
    assert text.splitlines()[-1].endswith("; 1 function not decided; no prover was asked about the others.")


def test_others_are_spoken_of_only_if_there_are_any(capsys: pytest.CaptureFixture[str]) -> None:
    Path("alone.c").write_text("int next(void);\nint main(void) { return next() - next(); }\n")
    _, text = check(capsys, "--engine", "automaton", "alone.c")
    assert text.splitlines()[-1].endswith("; 1 function not decided.")


def test_rules_that_only_provers_look_for_say_so_until_they_are_asked(capsys: pytest.CaptureFixture[str]) -> None:
    Path("shift.c").write_text("int main(int argc, char **argv) { return argc < 0 || argc > 31 ? 0 : 1u << argc; }\n")
    code, text = check(capsys, "--engine", "automaton", "--rule", "shift-range", "shift.c")
    assert code == 0
    assert "not decided: main (shift.c:1:5): only provers look for it, and they were not asked about it" in text
    code, text = check(capsys, "--strict", "--engine", "predicate", "--rule", "shift-range", "shift.c")
    assert code == 0
    assert "proved: main (shift.c:1:5): no shift-range (predicate)" in text


def test_revisions_report_what_is_proved_of_each(capsys: pytest.CaptureFixture[str]) -> None:
    Path("q.c").write_text(DIVISION.replace("n <= 0", "n < 0"))
    words = ["revisions", "--store", "none", "--rule", "division-by-zero", "--format", "json", "p.c", "q.c"]
    assert main(words) == 1
    first, second = json.loads(capsys.readouterr().out)
    assert (first["verdict"], second["verdict"]) == ("safe", "violated")


@pytest.mark.parametrize("command", [["revisions", "p.c", "library.c"], ["watch", "p.c"]])
def test_certificates_are_of_one_version(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, "--certificate", "c.json"]) == 2
    assert "use everproof check" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--engine", "summaries"], "'summaries' is not one of"),
        (["--encoding", "reals"], "'reals' is not one of"),
        (["--engine", "automaton", "--certificate", "c.json"], "The automaton engine proves nothing"),
    ],
)
def test_what_is_not_there_is_said(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", *words, "p.c"]) == 2
    reported = capsys.readouterr()
    assert said in reported.err


def test_a_finding_that_needs_a_failed_allocation_goes_away_where_these_are_granted(capsys: pytest.CaptureFixture[str]) -> None:
    Path("copy.c").write_text("#include <stdlib.h>\nint *made(int n) { int *p = malloc(sizeof *p); *p = n; return p; }\n")
    words = ("--rule", "null-dereference", "copy.c")
    assert check(capsys, *words)[0] == 1
    code, text = check(capsys, "--assume", "allocations-succeed", *words)
    assert code == 0
    assert text.startswith("refuted: 1 possible finding\n")
    assert f"  assuming that {FOUND.sentence}\n" in text


def test_progress_counts_questions_up_to_all_of_them_and_is_for_terminals_only(capsys: pytest.CaptureFixture[str]) -> None:
    checker = Checker(Options(rules=("division-by-zero", "shift-range"), proofs=True, everywhere=True, budget="full"))
    checker.open(["library.c"])
    reported: list[tuple[str, int, int]] = []
    checker.check()
    checker.prove(progress=lambda *said: reported.append(said))
    assert {text for text, _, _ in reported} == {"Proving"}
    assert reported == sorted(reported)  # what fails may be asked in another way, which is one more question
    assert all(done < total for _, done, total in reported)
    main(["check", "--store", "none", "library.c"])
    assert capsys.readouterr().err == ""
