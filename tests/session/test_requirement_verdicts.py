"""Functions that follow no null pointer and divide by no zero where callers keep what they need: verdicts, reasons, edits, and
certificates that a process of its own accepts."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from analysis.api import Checker
from analysis.model.assumptions import INSIDE, OPEN_STREAMS
from analysis.model.limits import Limits
from analysis.model.options import Options
from analysis.model.report import IF_KEPT, RuleVerdict
from tests.support.settled import settled_verdicts

NULL, ZERO = "null-dereference", "division-by-zero"
OPTIONS = Options(
    proofs=True, everywhere=True, rules=(NULL, ZERO), budget="background", limits=Limits(proof_seconds=300.0, program_seconds=1.0)
)
TEXT = """
#include <stdio.h>
#include <stdlib.h>
struct item { int n; struct item *next; };
static struct item *new_item(void) { struct item *i = malloc(sizeof *i); if (!i) exit(1); i->n = 0; return i; }
static int size(struct item *i) { return i->n; }
int sum(struct item *i) { int n = 0; while (i) { n += size(i); i = i->next; } return n; }
int first(struct item *i) { int n = i->n; return n + size(i); }
int share(int n, int parts) { return n / parts; }
int unsafe(void) { struct item *i = malloc(sizeof *i); return i->n; }
void say(const char *s) { fputs(s ? s : "", stderr); }
int outer(int n) { struct item *i = new_item(); i->n = n; return size(i); }
"""


@pytest.fixture
def checker(tmp_path: Path) -> Iterator[Checker]:
    file = tmp_path / "a.c"
    file.write_text(TEXT)
    found = Checker(OPTIONS, jobs=1)
    found.open([str(file)])
    yield found
    found.close()


def _edited(checker: Checker, tmp_path: Path, old: str, new: str) -> dict[tuple[str, str], RuleVerdict]:
    assert old in TEXT
    checker.change(str(tmp_path / "a.c"), TEXT.replace(old, new), 2)
    return settled_verdicts(checker)


def _kept(found: dict[tuple[str, str], RuleVerdict]) -> dict[tuple[str, str], str]:
    return {key: verdict.reason or "" for key, verdict in found.items() if verdict.is_conditional}


def test_functions_are_safe_or_say_what_callers_have_to_keep(checker: Checker) -> None:
    found = settled_verdicts(checker)
    safe = {name for (name, rule), verdict in found.items() if rule == NULL and verdict.verdict == "safe"}
    assert safe >= {"new_item", "sum", "say", "outer"}
    assert found["sum", NULL].engine == "requirements"
    assert found["sum", NULL].certified
    assert INSIDE.sentence in found["sum", NULL].assumptions
    assert OPEN_STREAMS.sentence in found["say", NULL].assumptions
    assert OPEN_STREAMS.sentence not in found["sum", NULL].assumptions
    kept = {("share", ZERO): f"{IF_KEPT}`parts != 0`", ("first", NULL): f"{IF_KEPT}`i != NULL`"}
    assert _kept(found).items() >= kept.items()
    assert not found["unsafe", NULL].is_conditional
    assert found["unsafe", NULL].verdict != "safe"


def test_an_edit_changes_what_callers_have_to_keep(checker: Checker, tmp_path: Path) -> None:
    found = settled_verdicts(checker)
    assert ("first", NULL) in _kept(found)
    assert found["size", NULL].verdict == "safe"  # first() and sum(), which call it, follow the pointer before, or test it
    found = _edited(checker, tmp_path, "int n = i->n; return n", "int n = i ? i->n : 0; return n")
    assert found["first", NULL].verdict == "safe"
    assert found["size", NULL].verdict == "violated"  # a null pointer that was tested is passed on


def test_an_edit_of_a_callee_takes_a_proof_away(checker: Checker, tmp_path: Path) -> None:
    assert settled_verdicts(checker)["outer", NULL].verdict == "safe"
    found = _edited(checker, tmp_path, "if (!i) exit(1); ", "if (!i) return 0; ")
    assert found["outer", NULL].verdict != "safe"


def test_certificates_are_accepted_by_a_process_of_its_own(tmp_path: Path) -> None:
    file, proof = tmp_path / "a.c", tmp_path / "proof.json"
    file.write_text(TEXT.replace("int unsafe(void) { struct item *i = malloc(sizeof *i); return i->n; }\n", ""))
    command = [sys.executable, "-m", "analysis.cli"]
    check = [*command, "check", str(file), "--rule", NULL, "--store", "none", "--certificate", str(proof)]
    subprocess.run(check, check=False, capture_output=True)
    written = msgspec.json.decode(proof.read_bytes())
    assert {one["entry"] for one in written["requirements"]} >= {"sum", "outer"}
    done = subprocess.run([*command, "certify", str(proof), str(file)], check=False, capture_output=True, text=True)
    assert done.returncode == 3  # not of all functions
    assert "accepted: sum does not violate null-dereference itself, in whatever state it is called" in done.stdout
    for claim in written["requirements"]:
        claim["entry"] = "first"
    proof.write_bytes(msgspec.json.encode(written))
    done = subprocess.run([*command, "certify", str(proof), str(file)], check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert "refused: nothing rules out null-dereference" in done.stdout
