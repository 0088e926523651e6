"""Explanations are replayed without each of their steps: the program in which a step does not happen, or a branch goes the other
way, does not have the finding, or it needs another explanation. So no step is there for nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from test_explanations import PROGRAMS

from analysis.api import Checker
from analysis.model.options import Options
from analysis.model.places import Range
from analysis.model.report import Finding, TraceStep

HEAD = "void *outside(void);\n"


def findings(path: Path, text: str) -> list[Finding]:
    path.write_text(text)
    checker = Checker(Options(show="all", engine="automaton"))
    checker.open([str(path)])
    return list(checker.check().findings)


def cut(text: str, range_: Range) -> tuple[str, str, str]:
    """The text before a range, in it, and after it."""
    lines = text.splitlines(keepends=True)
    begins = [sum(map(len, lines[: at.line - 1])) + at.column - 1 for at in (range_.start, range_.end)]
    return text[: begins[0]], text[begins[0] : begins[1]], text[begins[1] :]


def without(text: str, step: TraceStep) -> Iterator[str]:
    """The program without a step: its branch goes one way whatever holds, its value comes from elsewhere, or nothing is done."""
    before, own, after = cut(text, step.place.range)
    if step.kind == "branch" and before.endswith("case "):
        yield f"{before.removesuffix('case ')}default{after}"
    elif step.kind == "branch":
        yield from (f"{before}{value}{after}" for value in "01")
    elif step.kind == "return":
        yield from (f"{before}{value}{after}" for value in (";", "return outside();"))
    elif "=" in own:
        name = own.split("=")[0]
        yield from (f"{before}{name}= {value}{after}" for value in ("outside()", "1"))
    else:
        yield f"{before}outside(){after}"


def texts(steps: tuple[TraceStep, ...], but: TraceStep | None = None) -> list[tuple[str, str]]:
    return [(step.kind, step.text) for step in steps if step is not but]


def is_needed(path: Path, text: str, finding: Finding, step: TraceStep) -> bool:
    """Whether some program without the step has no such finding that the other steps explain."""
    for changed in without(text, step):
        same = [one for one in findings(path, changed) if (one.rule, one.function) == (finding.rule, finding.function)]
        explained = [texts(finding.explanation, step), texts(finding.explanation)]
        if not any(texts(one.explanation) in explained for one in same):
            return True
    return False


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_step_of_an_explanation_can_be_left_out(name: str, tmp_path: Path) -> None:
    text = HEAD + PROGRAMS[name]
    [finding] = findings(tmp_path / "a.c", text)
    steps = [step for step in finding.explanation if step.kind not in ("entry", "error")]
    assert steps
    assert [step.text for step in steps if not is_needed(tmp_path / "b.c", text, finding, step)] == []


def test_what_is_left_out_is_not_needed(tmp_path: Path) -> None:
    text = HEAD + PROGRAMS["the branch that keeps a value"]
    [finding] = findings(tmp_path / "a.c", text)
    left_out = [step for step in finding.trace if step not in finding.explanation]
    assert [step.text for step in left_out if not is_needed(tmp_path / "b.c", text, finding, step)] == ["given == NULL"]
