"""The steps that lead to a finding do not contradict each other, in small programs and in large ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.limits import Limits
from analysis.model.options import Options

_PROGRAM = """\
#include <stdlib.h>
int use(int);
static void set(void)
{
    char *text = malloc(3);
    text[0] = 1;
    free(text);
}
int main(int count, char **arguments)
{
    if (count <= 1)
        use(1);
    else if (use(3))
        use(2);
    if (count > 1)
        set();
    return 0;
}
"""


def _found(folder: Path, edges: int) -> list[list[str]]:
    (folder / "a.c").write_text(_PROGRAM)
    checker = Checker(Options(limits=Limits(global_edges=edges)), algorithm="full")
    checker.open([str(folder / "a.c")])
    return [[step.text for step in finding.trace] for finding in checker.check().findings]


def _contradicts(trace: list[str]) -> bool:
    return "count <= 1" in trace and "count > 1" in trace and "set()" in trace


@pytest.mark.parametrize("edges", [2000, 0])
def test_the_steps_to_a_finding_agree_in_programs_of_any_size(edges: int, tmp_path: Path) -> None:
    (trace,) = _found(tmp_path, edges)
    assert not _contradicts(trace)
    assert trace[0] == "main is entered"
