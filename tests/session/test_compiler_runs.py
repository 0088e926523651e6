"""How often the compiler is run for the versions of a program: its runs are most of what reading a small file takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.frontend.compiler.compiler_run import Outcome, run_compiler
from analysis.model.options import Options

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
    effects = [edge.effect for edge in now.functions["main"].edges]
    assert effects == [edge.effect for edge in fresh.inspect().program.functions["main"].edges]
