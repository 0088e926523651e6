"""What reading a program costs: how often the compiler is run for its versions, and what is not read that is not needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.frontend.compiler.compiler_run import Outcome, run_compiler
from analysis.model.options import Options
from analysis.model.report import Message
from analysis.rules.automaton import Rule
from analysis.rules.load import load_rules

TEXT = """#include <stdlib.h>
#define MOST 10
void __check(int);
int main(void)
{
    int a = rand();
    __check(a < 3);
    return a < MOST;
}
"""


@pytest.mark.parametrize(
    ("old", "new", "runs"),
    [
        ("int a = rand();", "int a = rand() + 1;\n    a++;", 0),
        ("__check(a < 3)", "__check(a < 4)", 0),  # nothing that the compiler knows by itself: it was printed
        ("a < MOST", "a <= MOST", 0),
        ("a < MOST", "a < MOST + __LINE__", 1),
        ("MOST 10", "MOST 11", 1),
    ],
)
def test_the_compiler_is_run_once_for_versions_that_differ_in_plain_lines(
    old: str, new: str, runs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, ran = tmp_path / "a.c", []
    path.write_text(TEXT)

    def counted(*asked: object) -> Outcome:
        ran.append(asked)
        return run_compiler(*asked)  # type: ignore[arg-type]

    monkeypatch.setattr("analysis.frontend.text.preprocess.run_compiler", counted)
    checker = Checker(Options(), expects_edits=True)
    checker.open((str(path),))
    checker.inspect()
    assert len(ran) == 1
    checker.change(str(path), TEXT.replace(old, new))
    now = checker.inspect().program
    assert len(ran) == 1 + runs
    fresh = Checker(Options())
    fresh.open((str(path),))
    fresh.change(str(path), TEXT.replace(old, new))
    expected = fresh.inspect().program
    effects = [edge.effect for edge in now.functions["main"].edges]
    assert effects == [edge.effect for edge in expected.functions["main"].edges]
    assert (now.globals, now.externals, now.records) == (expected.globals, expected.externals, expected.records)


def test_rules_are_read_when_a_check_needs_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Options] = []

    def counted(options: Options) -> tuple[tuple[Rule, ...], tuple[Message, ...]]:
        read.append(options)
        return load_rules(options)

    monkeypatch.setattr("analysis.session.opened.load_rules", counted)
    path = tmp_path / "a.c"
    path.write_text(TEXT)
    checker = Checker(Options())
    checker.open((str(path),))
    assert "main" in checker.inspect().program.functions
    assert not read
    assert [function.name for function in checker.check().functions] == ["main"]
    assert len(read) == 2  # those that are checked, and the names of all
    checker.check()
    assert len(read) == 2
    checker.refresh()
    checker.check()
    assert len(read) == 4
