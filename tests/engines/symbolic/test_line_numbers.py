"""Lowering leaves the numbers of lines in arguments open, so no run that depends on one is confirmed, and none is refuted by
such a run.

The class: an integer behind the name of the file. Where a program only reports it, runs are as they were; functions of the
library that report nothing get their number as it is.
"""

from __future__ import annotations

import pytest

from analysis.engines.symbolic import Confirmed, Effort, ProgramTask, Refuted, decide_program
from analysis.engines.symbolic.task import Decision
from tests.support.runs import program_of


def decided(text: str) -> Decision:
    return decide_program(ProgramTask(program_of(text), frozenset({"assertion"}), Effort(seconds=60, states=2_000)))


DEPENDING = {
    "a parameter that is compared": (
        "static void check(const char *f, int n) { if (n == N) reach_error(); }",
        'check("t.c", 5);',
    ),
    "one that is passed on": (
        "static void test(int n) { if (n == N) reach_error(); } static void check(const char *f, int n) { test(n); }",
        'check("t.c", 5);',
    ),
    "one that is kept": (
        "static int line; static void check(const char *f, int n) { line = n; }",
        'check("t.c", 5); if (line == N) reach_error();',
    ),
    "one whose address is taken": (
        "static void check(const char *f, int n) { int *p = &n; if (*p == N) reach_error(); }",
        'check("t.c", 5);',
    ),
    "a call through a pointer": (
        "static void check(const char *f, int n) { if (n == N) reach_error(); } static void (*volatile to)(const char *, int);",
        'to = check; to("t.c", 5);',
    ),
    "text that is written": ("char t[9];", """sprintf(t, "%s%d", "t.c", 5); if (t[3] == '0' + N) reach_error();"""),
    "the length of a text": ("", """if (printf("%s%d", "t.c", 5555) == 3 + (N == 5 ? 4 : 1)) reach_error();"""),
}


@pytest.mark.parametrize("number", [1, 5])
@pytest.mark.parametrize("what", DEPENDING)
def test_what_depends_on_the_number_is_not_decided_by_runs(what: str, number: int) -> None:
    declarations, body = (part.replace("N", str(number)) for part in DEPENDING[what])
    found = decided(f"{declarations} int main(void) {{ {body} return 0; }}")
    assert not isinstance(found, Confirmed if number == 1 else Refuted), found


REPORTING = {
    "only printed": (
        'static void fail(const char *f, int n) { printf("%s:%d", f, n); reach_error(); }',
        'fail("t.c", 5);',
    ),
    "printed by another function, which calls itself": (
        'static void say(int deep, int n) { if (deep) say(deep - 1, n); else fprintf(stderr, "%d", n); }'
        "static void fail(const char *f, int n) { say(2, n); reach_error(); }",
        'fail("t.c", 5);',
    ),
    "a failed assertion": ("", 'if (abs(-1) == 1) __assert_fail("x", "t.c", 5, "main");'),
    "not used": ("static void fail(const char *f, int n) { reach_error(); }", 'fail("t.c", 5);'),
    "a character that is looked for": ("", """if (strrchr("d/t.c", '.')) reach_error();"""),
}


@pytest.mark.parametrize("what", REPORTING)
def test_what_only_reports_it_is_confirmed(what: str) -> None:
    declarations, body = REPORTING[what]
    assert isinstance(decided(f"{declarations} int main(void) {{ {body} return 0; }}"), Confirmed)
