"""`everproof check --certificate`, and `everproof certify`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from analysis.certificate import text
from analysis.certificate.unwinding import unwind
from analysis.certificate.unwinding_tree import Unwinding
from analysis.cli.certifying import read_program
from analysis.model.assumptions import BEFORE
from analysis.model.c_types import LP64
from analysis.model.options import Options

pytestmark = pytest.mark.full_budget

PROGRAM = """
#include <assert.h>
extern int __VERIFIER_nondet_int(void);
static int step(int i) { return i + 1; }
int main(void)
{
    int i = 0, n = __VERIFIER_nondet_int();
    if (n < 1 || n > 1000000)
        return 0;
    while (i < n)
        i = step(i);
    assert(i == n);
    return 100 / n;
}
"""
OTHER = "the certificate is about another program; if that is an earlier version, name it with --made-for"


def everproof(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "analysis.cli", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def proved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, dict]:  # type: ignore[type-arg]  # what JSON holds
    folder = tmp_path_factory.mktemp("proofs")
    program, certificate = folder / "p.c", folder / "p.json"
    program.write_text(PROGRAM)
    options = ("--store", "none", "--format", "json", "--rule", "assertion", "--rule", "division-by-zero")
    done = everproof("check", *options, "--certificate", certificate, program)
    assert done.returncode == 0, done.stderr
    return program, certificate, json.loads(done.stdout)


def test_a_proved_program_is_safe_and_certified(proved) -> None:  # type: ignore[no-untyped-def]
    _, _, report = proved
    assert report["verdict"] == "safe"
    assert report["findings"] == []
    for function in report["functions"]:
        for verdict in function["verdicts"].values():
            assert (verdict["verdict"], verdict["engine"], verdict["certified"]) == ("safe", "predicate", True)
            assert BEFORE.sentence in verdict["assumptions"]


def test_a_certificate_of_an_earlier_version_is_accepted_where_it_holds(proved, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    program, certificate, _ = proved
    later = tmp_path / "later.c"
    later.write_text(PROGRAM.replace("return 100 / n;", "int rest = 100 / n; return rest;"))
    done = everproof("certify", "--made-for", program, certificate, later)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("accepted: no run from main violates") == 2


def test_a_certificate_is_accepted(proved) -> None:  # type: ignore[no-untyped-def]
    program, certificate, _ = proved
    done = everproof("certify", certificate, program)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("accepted: no run from main violates") == 2


def test_a_certificate_of_another_program_is_refused(proved) -> None:  # type: ignore[no-untyped-def]
    program, certificate, _ = proved
    other = program.with_name("other.c")
    other.write_text(PROGRAM.replace("i == n", "i != n"))
    done = everproof("certify", certificate, other)
    assert (done.returncode, done.stdout) == (1, f"refused: {OTHER}\n")


def test_a_corrupted_certificate_is_refused(proved) -> None:  # type: ignore[no-untyped-def]
    program, certificate, _ = proved
    text = json.loads(certificate.read_text())
    text["proofs"][0]["assertions"][0]["formula"] = "true"
    corrupted = certificate.with_name("corrupted.json")
    corrupted.write_text(json.dumps(text))
    done = everproof("certify", corrupted, program)
    assert done.returncode == 1
    assert "nothing rules out" in done.stdout


def test_a_program_with_a_defect_has_no_certificate(tmp_path: Path) -> None:
    program, certificate = tmp_path / "p.c", tmp_path / "p.json"
    program.write_text(PROGRAM.replace("i == n", "i != n"))
    done = everproof("check", "--store", "none", "--rule", "assertion", "--certificate", certificate, program)
    assert done.returncode == 1
    assert "error: The assertion fails: `i != n` [assertion]" in done.stdout
    assert "Nothing was proved: the certificate claims nothing." in done.stderr
    assert everproof("certify", certificate, program).stdout == "refused: it claims nothing\n"


def test_what_is_not_understood_is_not_proved(tmp_path: Path) -> None:
    program, certificate = tmp_path / "p.c", tmp_path / "p.json"
    program.write_text(PROGRAM + "int broken(void) { return 1 +; }\n")
    done = everproof("check", "--store", "none", "--rule", "assertion", "--certificate", certificate, program)
    assert "The function broken does not parse and is not checked." in done.stderr
    assert f"{program}:12:5: error: possible: The assertion fails: `i == n` [assertion]\n" in done.stdout
    assert "  not decided: not all of the program's text parses\n" in done.stdout
    assert "2 functions not decided" in done.stdout
    assert "proved: " not in done.stdout
    assert json.loads(certificate.read_text())["proofs"] == []


BRANCHES = """
#include <assert.h>
extern int __VERIFIER_nondet_int(void);
int main(void) { int a = __VERIFIER_nondet_int(), b; if (a >= 0) b = a; else b = a + 1; assert(!(b < a)); return 0; }
"""


def test_symbolic_execution_proves_by_name(tmp_path: Path) -> None:
    """[SYMCEGAR] Fig. 1: explicit values alone do not prove it."""
    program, certificate = tmp_path / "p.c", tmp_path / "p.json"
    program.write_text(BRANCHES)
    for engine, verdict, findings in (("symbolic", "safe", []), ("value", "violated", ["possible"])):
        options = ("--store", "none", "--format", "json", "--rule", "assertion", "--engine", engine)
        done = everproof("check", *options, "--certificate", certificate, program)
        report = json.loads(done.stdout)
        assert report["functions"][0]["verdicts"]["assertion"]["verdict"] == verdict
        assert [finding["status"] for finding in report["findings"]] == findings
        assert everproof("certify", certificate, program).returncode == (0 if verdict == "safe" else 1)


def test_a_tree_of_paths_is_a_certificate(tmp_path: Path) -> None:
    program, certificate = tmp_path / "p.c", tmp_path / "p.json"
    program.write_text(BRANCHES)
    of = read_program((str(program),), Options())
    claim = Unwinding("main", ("assertion", "double-free"), (), 0)
    made = unwind(of, claim, LP64, 10_000, lambda: True)
    certificate.write_text(text.write((made,), of, "LP64"))
    done = everproof("certify", certificate, program)
    assert (done.returncode, done.stdout.count("accepted")) == (0, 1), done.stdout + done.stderr
    corrupt = msgspec.structs.replace(made, taken=(1, *made.taken[1:]))
    certificate.write_text(text.write((corrupt,), of, "LP64"))
    assert everproof("certify", certificate, program).returncode == 1


def test_a_proof_that_rests_on_a_contract_is_accepted_only_with_it(tmp_path: Path) -> None:
    program, certificate = tmp_path / "p.c", tmp_path / "p.json"
    contracts = tmp_path / ".everproof" / "functions" / "own.yaml"
    program.write_text("int level(void);\nint f(void) { return 1 / level(); }\n")
    contracts.parent.mkdir(parents=True)
    contracts.write_text("functions: [{name: level, result: {least: 1, greatest: 3}, complete: true}]")
    options = ("--store", "none", "--rule", "division-by-zero")
    done = everproof("check", *options, "--certificate", certificate, program)
    assert "functions do what the project's contracts say: level (.everproof/functions/own.yaml)" in done.stdout
    assert everproof("certify", certificate, program).returncode == 0
    contracts.write_text("functions: [{name: level, result: {least: 0, greatest: 3}, complete: true}]")
    assert everproof("certify", certificate, program).returncode == 1
    contracts.unlink()
    assert everproof("certify", certificate, program).returncode == 1
