"""`patient=False` keeps what was known of functions without edits; the next check says what one from scratch says."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.edits import EDITS, read_chain

from analysis.api import Checker
from analysis.model.limits import Limits
from analysis.model.options import Options
from analysis.model.report import Report

_LARGE = Options(limits=Limits(global_edges=0))  # small programs are always checked to the end
_PROGRAM = """\
static int calls;
int *same(int *pointer)
{
    calls = 1;
    return pointer;
}
int use(int wanted)
{
    int *found = same(0);
    return *found + wanted;
}
int main(int count, char **arguments)
{
    return use(count);
}
"""


def _answers(report: Report) -> object:
    findings = [(f.rule, f.message, f.place, f.function, f.fingerprint) for f in report.findings]
    verdicts = [(f.name, f.place, f.summary, {rule: v.verdict for rule, v in f.verdicts.items()}) for f in report.functions]
    return report.verdict, findings, verdicts


def _impatient(checker: Checker) -> Report:
    report = checker.check_unless(lambda: False, patient=False)
    assert report is not None
    return report


def _from_scratch(path: str, text: str) -> Report:
    checker = Checker(_LARGE, algorithm="full")
    checker.open([path])
    checker.change(path, text)
    return checker.check()


@pytest.fixture
def path(tmp_path: Path) -> str:
    (tmp_path / "a.c").write_text(_PROGRAM)
    return str(tmp_path / "a.c")


def test_the_edited_function_comes_first(path: str) -> None:
    checker = Checker(_LARGE)
    checker.open([path])
    assert [f.function for f in checker.check().findings] == ["use"]
    text = _PROGRAM.replace("calls = 1;", "int *other = 0; calls = *other;")
    checker.change(path, text)
    first = _impatient(checker)
    assert "same" in {f.function for f in first.findings}
    final = checker.check()
    assert checker.settled
    assert _answers(final) == _answers(_from_scratch(path, text))


def test_what_was_found_elsewhere_waits(path: str) -> None:
    checker = Checker(_LARGE)
    checker.open([path])
    checker.check()
    text = _PROGRAM.replace("calls = 1;", "calls = 1; if (pointer) calls = 2;")
    checker.change(path, text)
    first = _impatient(checker)
    assert not checker.settled
    assert [f.function for f in first.findings] == ["use"]
    assert first.work.configurations.reused > 0
    assert _answers(checker.check()) == _answers(_from_scratch(path, text))
    assert checker.settled


@pytest.mark.parametrize("name", sorted(path.name for path in EDITS.iterdir() if path.is_dir()))
def test_a_chain_typed_in_a_hurry(name: str) -> None:
    path = str(EDITS / name / "0.c")
    hasty = Checker(_LARGE)
    hasty.open([path])
    patient = Checker(_LARGE, algorithm="full")
    patient.open([path])
    chain = read_chain(EDITS / name)
    for step in chain:
        for checker in (hasty, patient):
            checker.change(path, step.text)
        _impatient(hasty)
        expected = patient.check()
        if step is chain[-1] or len(step.text) % 2:
            assert _answers(hasty.check()) == _answers(expected), step.path.name
            assert hasty.settled
