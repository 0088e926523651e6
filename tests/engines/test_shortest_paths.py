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


_CALLED_IN_MANY_PLACES = """#include <stdlib.h>
struct page { char *text; int length; };
static int seen, wanted;
static int last(struct page *page, int n)
{
    if (n > 3)
        page->length++;
    if (n > 5)
        page->length--;
    return page->length;
}
%s
static int run(struct page *page, int n)
{
    page->text = malloc(8);
    wanted = 0;
    if (n > 2)
        wanted = 1;
    seen = pass0(page, n);
    if (wanted)
        page->length = 3;
    if (%s)
        return 1;
    free(page->text);
    return 0;
}
int main(int count, char **arguments)
{
    struct page page = {0, 0};
    (void) arguments;
    return run(&page, count);
}
"""
_PASS = """static int pass%d(struct page *page, int n)
{
    if (n == 1) return %s(page, 3);
    if (n == 2) return %s(page, 4);
    if (n == 3) return %s(page, 5);
    if (n == 4) return %s(page, 6);
    return %s(page, n);
}
"""


def _many_calls(condition: str) -> str:
    """A value that passes calls of functions that call each other in many places: by 625 paths of calls in all."""
    names = ["pass1", "pass2", "pass3", "last"]
    passing = [_PASS % (number, *[name] * 5) for number, name in enumerate(names)]
    return _CALLED_IN_MANY_PLACES % ("\n".join(reversed(passing)), condition)


@pytest.mark.parametrize(("condition", "rules"), [("!wanted && n > 1", ["memory-leak"]), ("!wanted && n > 2", [])])
def test_the_ways_through_callees_take_no_states(condition: str, rules: list[str], tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(_many_calls(condition), encoding="utf-8")
    checker = Checker(LARGE)
    checker.open([str(file)])
    seen = checker.inspect()
    analysis = Analysis(seen.program, checker.rules, checker.options.limits)
    analysis.run(choose_entries(seen.program, ())[0])
    analysis.findings(seen.places)
    paths = analysis._findings.error_paths.known.values()
    assert [finding.rule for finding in checker.check().findings] == rules
    assert all(path.decided for path in paths)
