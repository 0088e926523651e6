"""Whether the steps that lead to a finding may contradict each other, in small programs and in large ones."""

from __future__ import annotations

from pathlib import Path

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


def test_a_small_program_is_searched_from_its_start(tmp_path: Path) -> None:
    (trace,) = _found(tmp_path, 2000)
    assert not _contradicts(trace)


def test_in_a_large_program_the_steps_to_the_function_are_not_compared(tmp_path: Path) -> None:
    """As README.md says. If they are compared one day, that sentence has to go."""
    (trace,) = _found(tmp_path, 0)
    assert _contradicts(trace), trace
