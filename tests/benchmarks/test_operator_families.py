"""Families of programs on which operators of symbolic execution differ: all are safe C, and a cell says what a proof took."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.certificate.checked_outcome import Proved
from analysis.cpa.predicates.violations import violations
from analysis.engines.predicate.predicate_proof import prove
from analysis.model.symbolic_operators import SymbolicOperators
from benchmarks.operator_families import FAMILIES, changed, cost, main, table
from tests.support.explorations import program_of

HEAD = "extern int __VERIFIER_nondet_int(void); extern void reach_error(void);\n"


@pytest.mark.parametrize("name", FAMILIES)
def test_the_programs_are_safe_and_not_trivially(name: str) -> None:
    what = program_of(HEAD + FAMILIES[name](2))
    places = violations(what, "assertion")
    assert places
    assert isinstance(prove(what, places), Proved)


def test_what_differs_is_named() -> None:
    assert changed(SymbolicOperators()) == "as usual"
    assert changed(SymbolicOperators(merge="join", check_at="target")) == "merge=join, check-at=target"


def test_the_command_says_what_a_proof_took(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(HEAD + FAMILIES["branches"](2))
    found = [cost(file, SymbolicOperators(refine=refine)) for refine in ("none", "predicates")]
    assert all(one is not None and one.states > 5 for one in found)
    file.write_text(HEAD + "int main(void) { if (__VERIFIER_nondet_int()) reach_error(); return 0; }")
    assert cost(file, SymbolicOperators()) is None


def test_a_family_that_does_not_exist_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["lists"])
    assert "there is no family lists" in capsys.readouterr().err
    assert next(table("locks", (2, 3))) == "| locks | 2 | 3 |"
