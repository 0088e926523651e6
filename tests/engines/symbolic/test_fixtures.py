"""The findings of the automaton engine on the fixtures, decided: false alarms are refuted, true findings are not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.engines.symbolic import Confirmed, Decision, Effort, Refuted, Target, Task, Undecided, decide
from analysis.interpreter.outcome import Step
from analysis.model.options import Options
from analysis.session.entries import choose_entries
from tests.support.markers import Expected, read_markers

_PROGRAMS = Path(__file__).parents[3] / "fixtures" / "programs"
_EFFORT = Effort(seconds=8)
_LATER = [path for path in sorted(_PROGRAMS.glob("*/*.c")) if read_markers(path).later is not None]
_INVARIANT = {"19-counted-loop-good"}  # what holds in every round of a loop without a bound: for an engine that proves
_BAD = [path for family in ("null-dereference", "division-by-zero", "assertion") for path in (_PROGRAMS / family).glob("*-bad.c")]


def decisions(path: Path, effort: Effort) -> Iterator[tuple[tuple[int, str], Decision]]:
    """The decisions about the findings in a program, with line and rule."""
    expected: Expected = read_markers(path)
    wanted = expected.options.get("--entry", ())
    checker = Checker(Options(entries=wanted, rules=expected.options.get("--rule", ())))
    checker.open([str(path)])
    inspection, analysis = checker.explore()
    entries, _ = choose_entries(inspection.program, wanted)
    places = {f.fingerprint: (f.place.range.start.line, f.rule) for f in analysis.findings(inspection.places)}
    for asked in analysis.suspicions():
        made = None if asked.made is None else Step(*asked.made)
        target = Target(asked.function, asked.edge, asked.rule, asked.expression, made)
        claimed = tuple(Step(function, edge) for function, edge in asked.path)
        decision = decide(Task(inspection.program, target, entries, claimed, effort))
        for function, edge in asked.moves:  # the rule may be violated there already
            if isinstance(decision, Refuted):
                decision = decide(Task(inspection.program, Target(function, edge, asked.rule), entries, (), effort))
        yield places[asked.fingerprint], decision


def test_there_are_false_alarms_to_refute() -> None:
    assert len(_LATER) >= 8


@pytest.mark.parametrize("path", _LATER, ids=lambda path: path.stem)
def test_false_alarms_are_refuted(path: Path) -> None:
    expected = read_markers(path).findings
    found = list(decisions(path, Effort(seconds=2) if path.stem in _INVARIANT else _EFFORT))
    false = [decision for place, decision in found if not expected[place]]
    assert false, "the automaton engine raises no false alarm any more"
    for decision in false:
        if path.stem in _INVARIANT:
            assert isinstance(decision, Undecided)
            assert "budget" in decision.reason
        else:
            assert isinstance(decision, Refuted), decision


def test_true_findings_are_never_refuted_and_most_are_confirmed() -> None:
    found = [decision for path in sorted(_BAD) for _, decision in decisions(path, Effort(seconds=2))]
    assert len(found) >= 55
    assert not [decision for decision in found if isinstance(decision, Refuted)]
    confirmed = [decision for decision in found if isinstance(decision, Confirmed)]
    assert len(confirmed) >= 0.7 * len(found)  # the others rest on what callers do, and say so
    for decision in found:
        if isinstance(decision, Undecided):
            assert decision.reason
