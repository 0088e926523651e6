"""Every chain of versions in fixtures/edits: the answers are those of a check from scratch, by less work."""

from __future__ import annotations

import functools
from collections import Counter
from pathlib import Path

import pytest
from support.edits import EDITS, Step, read_chain
from support.markers import difference

import analysis.cfa.building.unit
from analysis.api import Checker
from analysis.engines.automaton import Algorithm
from analysis.model.limits import Limits
from analysis.model.options import Options
from analysis.model.report import Report
from analysis.store.database import Store

_ORDINARY = Options()
_LARGE = Options(limits=Limits(global_edges=0))  # no program counts as small
_CHAINS = sorted(path.name for path in EDITS.iterdir() if path.is_dir())


class Answer:
    """What has to be the same however it was found: everything but traces, work and times."""

    def __init__(self, report: Report) -> None:
        self.verdict = report.verdict
        self.findings = [(f.rule, f.status, f.severity, f.message, f.place, f.function, f.fingerprint) for f in report.findings]
        self.functions = [(f.name, f.place, f.stale, f.summary) for f in report.functions]
        self.verdicts = [
            (f.name, rule, v.verdict, v.reason, v.assumptions) for f in report.functions for rule, v in f.verdicts.items()
        ]
        self.messages = report.messages


def differences(one: Answer, other: Answer) -> list[str]:
    """What is not the same in two answers: of each field, both values."""
    return [f"{name}: {value} and {vars(other)[name]}" for name, value in vars(one).items() if value != vars(other)[name]]


def open_chain(name: str, algorithm: Algorithm, store: Store | None = None, options: Options = _ORDINARY) -> Checker:
    checker = Checker(options, algorithm=algorithm, store=store)
    checker.open([str(EDITS / name / "0.c")])
    return checker


def check(checker: Checker, step: Step) -> Report:
    """Checks a version as an edit of the first file."""
    checker.change(str(step.path.parent / "0.c"), step.text)
    return checker.check()


@functools.cache
def from_scratch(name: str, options: Options = _ORDINARY) -> tuple[Answer, ...]:
    """The answers for each version by a checker of its own. Where a function does not parse, what it was before is part of the
    answer: then that checker sees the versions before, too, but takes nothing over in the engine."""
    chain = read_chain(EDITS / name)
    answers = []
    for number, step in enumerate(chain):
        checker = open_chain(name, "full", options=options)
        report = check(checker, step)
        if report.files[0].parse_errors:
            checker = open_chain(name, "full", options=options)
            report = [check(checker, earlier) for earlier in chain[: number + 1]][-1]
        answers.append(Answer(report))
    return tuple(answers)


def record_lowering(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the functions that are lowered from now on."""
    lowered: list[str] = []
    build_function = analysis.cfa.building.unit.build_function

    def recorded(part: analysis.cfa.building.unit.FunctionPart, *rest: object) -> object:
        lowered.append(part.name)
        return build_function(part, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(analysis.cfa.building.unit, "build_function", recorded)
    return lowered


def test_there_are_chains() -> None:
    assert len(_CHAINS) >= 20


@pytest.mark.parametrize("algorithm", ["incr-back", "incr-fwd"])
@pytest.mark.parametrize("name", _CHAINS)
def test_a_chain_is_checked_as_from_scratch_by_less_work(
    name: str, algorithm: Algorithm, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain = read_chain(EDITS / name)
    expected = from_scratch(name)
    lowered = record_lowering(monkeypatch)
    checker = open_chain(name, algorithm)
    for step, answer in zip(chain, expected, strict=True):
        lowered.clear()
        report = check(checker, step)
        found = Counter((f.place.range.start.line, f.rule) for f in report.findings)
        assert not (problems := difference(step.path, step.expected.findings, found)), f"\n{problems}"
        assert not (differing := differences(Answer(report), answer)), f"{step.path.name}: {differing}"
        assert step.lowered in (None, tuple(sorted(lowered))), step.path.name
        if step.configurations is not None and (algorithm == "incr-back" or step.configurations == 0):
            assert report.work.configurations.recomputed <= step.configurations, step.path.name
        for finding in report.findings:
            assert finding.trace[-1].place == finding.place


@pytest.mark.parametrize("algorithm", ["incr-back", "incr-fwd"])
@pytest.mark.parametrize("name", _CHAINS)
def test_a_chain_is_repaired_where_programs_count_as_large(name: str, algorithm: Algorithm) -> None:
    """Then functions, types and declarations come and go by repair, too."""
    checker = open_chain(name, algorithm, options=_LARGE)
    for number, (step, answer) in enumerate(zip(read_chain(EDITS / name), from_scratch(name, _LARGE), strict=True)):
        report = check(checker, step)
        assert not (differing := differences(Answer(report), answer)), f"{step.path.name}: {differing}"
        assert number == 0 or all(one.reason != "scratch" for one in report.rechecked), step.path.name


@pytest.mark.parametrize("name", _CHAINS)
def test_a_chain_is_checked_alike_by_a_new_process_for_every_version(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each begins from what the one before has kept, and does no more work than one that had gone on."""
    chain = read_chain(EDITS / name)
    expected = from_scratch(name)
    lowered = record_lowering(monkeypatch)
    kept = True
    for step, answer in zip(chain, expected, strict=True):
        lowered.clear()
        checker = open_chain(name, "incr-back", Store(str(tmp_path / "kept.everproof")))
        report = check(checker, step)
        assert not (differing := differences(Answer(report), answer)), f"{step.path.name}: {differing}"
        if kept:
            assert step.lowered in (None, tuple(sorted(lowered))), step.path.name
            assert step.configurations is None or report.work.configurations.recomputed <= step.configurations, step.path.name
        kept = checker.save()
        if kept:
            again = open_chain(name, "incr-back", Store(str(tmp_path / "kept.everproof")))
            known = check(again, step)
            assert not (differing := differences(Answer(known), answer)), f"{step.path.name}: {differing}"
            assert known.work.configurations.recomputed == known.work.functions.recomputed == 0


def test_every_version_says_what_is_lowered_again() -> None:
    for name in _CHAINS:
        for step in read_chain(EDITS / name)[1:]:
            assert step.lowered is not None, step.path


def test_the_paper_example_keeps_most_of_the_graph() -> None:
    first, second, _ = read_chain(EDITS / "orion-figures")
    checker = open_chain("orion-figures", "incr-back")
    whole = check(checker, first).work.configurations.recomputed
    work = check(checker, second).work.configurations
    assert 0 < work.recomputed < whole / 2
    assert work.reused > whole / 2
