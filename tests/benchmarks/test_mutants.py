"""The list of mutants fits the code: a judge that was rewritten must not lose its mutants unnoticed."""

from __future__ import annotations

import pytest

from benchmarks.mutants import ROOT, Mutant, read_mutants

LISTED = read_mutants()


@pytest.mark.parametrize("mutant", LISTED.mutant, ids=lambda mutant: mutant.name)
def test_each_mutant_can_be_applied(mutant: Mutant) -> None:
    original = (ROOT / mutant.file).read_text("utf-8")
    changed = mutant.applied(original)
    assert changed != original
    compile(changed, mutant.file, "exec")


def test_each_group_has_tests_and_mutants() -> None:
    assert {mutant.tests for mutant in LISTED.mutant} == LISTED.groups.keys()
    assert all((ROOT / path).exists() for tests in LISTED.groups.values() for path in tests)


def test_a_text_that_is_not_there_once_is_refused() -> None:
    mutant = Mutant("a name", "a.py", "x", "y", "replay")
    for text in ("", "x x"):
        with pytest.raises(ValueError, match="a name"):
            mutant.applied(text)
    assert mutant.applied("a x b") == "a y b"
