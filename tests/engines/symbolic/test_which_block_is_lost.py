"""A leak is confirmed by the loss of the block that the finding is about, where the finding is: not by another one's, nor by
one that happened earlier in the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.engines.symbolic import Confirmed, Effort, Target, Task, decide
from analysis.interpreter.outcome import Step
from analysis.model import ir
from analysis.model.options import Options
from analysis.session.entries import choose_entries
from tests.support.runs import program_of

_EFFORT = Effort(seconds=5, states=500, runs=16)
_ANOTHER = """
#include <stdlib.h>
static int work(int flag)
{
	char *p = malloc(4), *q;
	if (p == NULL)
		return 1;
	q = malloc(8);
	if (q == NULL) {
		free(p);
		return 1;
	}
	q[0] = 'a';
	if (flag * flag >= 0)
		free(p);
	return 0;
}
int main(int argc, char **argv)
{
	(void)argv;
	return argc > 100 ? 1 : work(argc);
}
"""
_BY_A_RESULT = """
#include <stdlib.h>
static char *next(int i)
{
	char *p = malloc(4);
	if (p != NULL)
		p[0] = (char)i;
	return p;
}
int main(void)
{
	char *line = NULL;
	for (int i = 0; i < 3; i++)
		line = next(i);
	free(line);
	return 0;
}
"""
_EARLIER = """
char *kept, *text;
void lose(void) { char *p = malloc(7); p = 0; }
int main(void) { lose(); kept = malloc(4); text = kept; kept = 0; free(text); return 0; }
"""


@pytest.mark.parametrize(
    ("text", "confirmed"), [(_ANOTHER, {"`p = malloc(4)`": False, "`q = malloc(8)`": True}), (_BY_A_RESULT, {"": True})]
)
def test_the_block_is_that_of_the_finding(text: str, confirmed: dict[str, bool], tmp_path: Path) -> None:
    file = tmp_path / "program.c"
    file.write_text(text)
    checker = Checker(Options(rules=("memory-leak",)))
    checker.open([str(file)])
    inspection, analysis = checker.explore()
    entries, _ = choose_entries(inspection.program, ())
    since = {one.fingerprint: one.since for one in analysis.findings(inspection.places)}
    seen = {}
    for asked in analysis.suspicions():
        assert asked.made is not None
        target = Target(asked.function, asked.edge, asked.rule, asked.expression, Step(*asked.made))
        path = tuple(Step(function, edge) for function, edge in asked.path)
        decision = decide(Task(inspection.program, target, entries, path, _EFFORT))
        seen[since[asked.fingerprint] if len(confirmed) > 1 else ""] = isinstance(decision, Confirmed)
    assert seen == confirmed


def test_an_earlier_loss_does_not_count() -> None:
    program = program_of(_EARLIER)
    for function, variable, wanted in (("lose", "p", True), ("main", "kept", False)):
        edges = [edge for edge in program.functions[function].edges if isinstance(edge.effect, ir.Assign)]
        edge = next(one for one in edges if one.effect.target.name.endswith(variable))  # type: ignore[union-attr]
        decision = decide(Task(program, Target(function, edge.id, "memory-leak"), ("main",), effort=_EFFORT))
        assert isinstance(decision, Confirmed) == wanted, decision
