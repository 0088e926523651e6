"""Pairs of versions of small programs, and what brute force says of them: for which inputs only the new one violates the
property."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.api import Checker
from analysis.cfa.revisions.delta import Revision, program_change
from analysis.engines.difference.function_pairs import ProgramPair
from analysis.interpreter.outcome import NotModelled, Run
from analysis.model.options import Options
from tests.support.explorations import errs, runs


def revision_of(text: str) -> Revision:
    """A program of one file that needs no preprocessor and is not on the disk."""
    checker = Checker(Options(compiler="none"))
    checker.change("t.c", text)
    checker.open_workspace("t.c")
    view = checker.inspect()
    assert not checker.failed
    return Revision(view.program, view.places)


def pair_of(old: str, new: str) -> ProgramPair:
    """Two versions of a program."""
    before, after = revision_of(old), revision_of(new)
    return ProgramPair(before, after, program_change(before, after))


def answers(run: Run) -> tuple[object, ...]:
    """The inputs that a run took."""
    return tuple(answer for _, answer in run.asked)


def new_runs(programs: ProgramPair, most: int) -> tuple[list[Run], list[Run]]:
    """The runs of the new version for all small inputs: those with a regression bug, and the others. A run has one if it violates
    the property and the old version does not, for the same inputs and some inputs behind them."""
    before = [run for run in runs(programs.old.program, most) if not isinstance(run.end, NotModelled)]
    clean = {answers(run) for run in before if not errs(programs.old.program, run)}
    regressions, others = [], []
    for run in runs(programs.new.program, most):
        is_bad = errs(programs.new.program, run) and any(_agree(answers(run), other) for other in clean)
        (regressions if is_bad else others).append(run)
    return regressions, others


def _agree(one: Sequence[object], other: Sequence[object]) -> bool:
    return all(mine == theirs for mine, theirs in zip(one, other, strict=False))
