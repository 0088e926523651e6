"""The search for a path to an error finds a shortest one, and what is shown of a path begins where it is checked."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.program_edits import LARGE

from analysis.api import Checker
from analysis.engines.automaton import Analysis
from analysis.engines.automaton.feasibility import error_paths
from analysis.engines.automaton.feasibility.remaining_steps import RemainingSteps
from analysis.model.options import Options
from analysis.model.report import Report
from analysis.session.entries import choose_entries

_PROGRAMS = sorted((Path(__file__).parents[2] / "fixtures" / "programs").glob("*/*.c"))[::9]
_MANY_WAYS = """int f(const int *table, int wanted)
{
    int rows = 0;
    for (int row = 0; row < 80; row++)
        for (int column = 0; column < 80; column++)
            rows += table[row * 80 + column] > 0;
    int *best = 0;
    if (wanted > 5)
        best = &rows;
    if (%s)
        return *best;
    return rows;
}
"""


class _Unknown(RemainingSteps):
    """Says of each place from which an error can be reached that there may be no step left. Then the search looks at all shorter
    paths before it looks at longer ones (Dijkstra's algorithm)."""

    def after(self, function: str, configuration: int) -> int | None:
        return None if super().after(function, configuration) is None else 0


def _lengths(sources: list[str], options: Options) -> dict[tuple[str, frozenset[int]], int | None]:
    """The numbers of steps of the paths to errors, None where there is none."""
    checker = Checker(options)
    checker.open(sources)
    seen = checker.inspect()
    analysis = Analysis(seen.program, checker.rules, checker.options.limits)
    analysis.run(choose_entries(seen.program, ())[0])
    analysis.findings(seen.places)
    paths = analysis._findings.error_paths.known
    return {key: None if path.steps is None else len(path.steps) for key, path in paths.items() if path.decided}


def _compared(sources: list[str], options: Options, monkeypatch: pytest.MonkeyPatch) -> int:
    found = _lengths(sources, options)
    with monkeypatch.context() as patched:
        patched.setattr(error_paths, "RemainingSteps", _Unknown)
        without = _lengths(sources, options)
    both = found.keys() & without.keys()
    assert {key: found[key] for key in both} == {key: without[key] for key in both}
    assert len(found) >= len(without)  # what is decided at all
    return sum(found[key] is not None for key in both)


def _checked(file: Path) -> Report:
    checker = Checker(Options())
    checker.open([str(file)])
    return checker.check()


@pytest.mark.parametrize("options", [Options(), LARGE], ids=["small", "large"])
def test_paths_are_as_short_as_without_a_bound_for_the_rest(options: Options, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sum(_compared([str(path)], options, monkeypatch) for path in _PROGRAMS) > 20


def test_a_path_with_a_beginning_that_is_not_checked_is_shown_from_there(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(_MANY_WAYS % "rows > wanted", encoding="utf-8")
    (finding,) = _checked(file).findings
    assert [step.place.range.start.line for step in finding.trace] == [1, 7, 8, 10, 11]
    assert "is not shown" in finding.trace[0].text


def test_what_excludes_the_error_after_the_beginning_refutes_it(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(_MANY_WAYS % "wanted > 7", encoding="utf-8")
    assert _checked(file).findings == ()
