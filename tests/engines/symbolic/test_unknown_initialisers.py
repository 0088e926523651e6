"""A pointer whose initialiser is not known, or is in another file, may lead to a variable of the program whose address nothing
else takes.

The class: what one engine takes for unreachable through pointers, and another does not (`cfa.addresses_taken`).
"""

from __future__ import annotations

import pytest

from analysis.cfa.addresses_taken import pointed_statics
from analysis.engines.symbolic import Effort, ProgramTask, Refuted, decide_program
from tests.support.runs import program_of

SET = 'int main(void) { x = 0; %s = 1; if (x == 1) __assert_fail("x", "t.c", 1, "main"); return 0; }'
MAY_LEAD_TO_X = {
    "compound literal": ("static int x, **p = (int *[]){&x};", "**p"),
    "in a record": ("static int x; static struct s { int **q; } s = {(int *[]){&x}};", "**s.q"),
    "statement expression": ("static int x, *p[2] = {0, ({ &x; })};", "*p[1]"),
    "another file": ("int x; extern int *p;", "*p"),
    "in a record of another file": ("int x; extern struct t { int *p; } *t;", "*t->p"),
    "in an array of another file": ("int x; extern void *table[];", "*(int *)table[3]"),
    "as a number": ("int x; extern long n;", "*(int *)n"),
}


@pytest.mark.parametrize("case", MAY_LEAD_TO_X)
def test_what_such_a_pointer_leads_to_may_be_any_variable(case: str) -> None:
    declarations, target = MAY_LEAD_TO_X[case]
    program = program_of(declarations + SET % target)
    assert any(name.endswith("x") for name in pointed_statics(program))
    assert not isinstance(decide_program(ProgramTask(program, frozenset({"assertion"}), Effort(seconds=30))), Refuted)


@pytest.mark.parametrize(
    "declarations",
    [
        "static int x; extern int *p;",  # no other file can name it
        "int x; extern int *p; int *p = 0;",
        "int x; extern char **environ; extern struct FILE *stdin; extern short n; extern double d[3];",
    ],
)
def test_nothing_else_leads_there(declarations: str) -> None:
    assert not any(n.endswith("x") for n in pointed_statics(program_of(declarations + "int main(void) { return x; }")))
