"""The comparison of symbolic execution's operators: which ones are compared, and what a row of the table counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.certificate.checked_outcome import Work
from analysis.engines.symbolic.cegar import CegarOptions
from analysis.model.options import CompilerFlags
from benchmarks.corpus import Row
from benchmarks.symbolic_cegar import HEAD, Outcome, configurations, line, main, outcome

SAFE = "void reach_error(void); int main(void) { int a = 1; if (a != 1) reach_error(); return 0; }"
DEFECT = SAFE.replace("!=", "==")


def row_of(path: Path, text: str, *, safe: bool) -> Row:
    path.write_text(text)
    rules = frozenset({"assertion"})
    expected = "true" if safe else "false"
    return Row(
        path.stem, path, (), "reach_error", expected, "", "verdict", CompilerFlags(), "LP64", False, rules, False, frozenset()
    )


def test_each_operator_is_changed_alone_or_all_are_combined() -> None:
    alone, all_ = list(configurations(everything=False)), list(configurations(everything=True))
    assert len(alone) == len(set(alone)) == 13
    assert len(all_) == len(set(all_)) == 5 * 2 * 3 * 2
    assert set(alone) < set(all_)


def test_a_row_counts_what_became_of_the_programs(tmp_path: Path) -> None:
    safe, defect = row_of(tmp_path / "safe.c", SAFE, safe=True), row_of(tmp_path / "defect.c", DEFECT, safe=False)
    options = CegarOptions(seconds=20.0)
    found = [(row, outcome(row, options)) for row in (safe, defect)]
    assert [one.ending for _, one in found] == ["proved", "path"]
    cells = line(options.operators, [*found, (safe, Outcome("none", 1.0, Work(states=7)))]).strip("| ").split(" | ")
    assert len(cells) == HEAD.splitlines()[0].count("|") - 1
    assert cells[:9] == ["constraints-first", "sep", "subset", "assume", "1", "1", "0", "1", "0"]
    assert int(cells[9]) == 7 + sum(one.work.states for _, one in found)


def test_without_a_corpus_there_is_nothing_to_compare(tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        main(["--corpus", str(tmp_path)])
