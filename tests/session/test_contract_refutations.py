"""A finding goes away where its function is proved by contracts, also because of what the data always holds, and comes back where
an edit breaks that.

The class: a finding that hangs on a member of a structure, which the program never leaves null."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.limits import Limits
from analysis.model.options import Options
from analysis.model.report import Report
from analysis.session.provers.asking.answer import Decided
from analysis.session.provers.asking.contract_refutations import refuting

_NULL = "null-dereference"
_LIMITS = Limits(task_seconds=1.0, proof_seconds=1.0, program_seconds=1.0, total_seconds=20.0)
_OPTIONS = Options(proofs=True, everywhere=True, rules=(_NULL,), limits=_LIMITS)
_TEXT = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct item { char *name; struct item *next; };
static struct item *all;
static void *more(size_t n) { void *p = calloc(1, n); if (!p) exit(1); return p; }
static void make(const char *s)
{
    struct item *t = more(sizeof *t);
    t->name = more(strlen(s) + 1);
    strcpy(t->name, s);
    t->next = all;
    all = t;
}
static int show(struct item *t) { char *p = NULL; if (t->name) p = t->name; return p[0]; }
int main(void)
{
    char line[80];
    int n = 0;
    while (fgets(line, sizeof line, stdin))
        make(line);
    for (struct item *t = all; t; t = t->next)
        n += show(t);
    return n;
}
"""
_SET = "t->name = more(strlen(s) + 1);\n    strcpy(t->name, s);"
_SOMETIMES = "if (s[0]) { t->name = more(strlen(s) + 1); strcpy(t->name, s); }"


def _report(checker: Checker) -> Report:
    checker.check()
    return checker.prove()


def _found(report: Report) -> list[str]:
    return [f"{finding.rule} {finding.status}" for finding in report.findings]


def test_a_finding_is_refuted_as_long_as_the_data_excludes_it(tmp_path: Path) -> None:
    assert _SET in _TEXT
    broken = _TEXT.replace(_SET, _SOMETIMES)
    file = tmp_path / "a.c"
    file.write_text(_TEXT)
    checker = Checker(_OPTIONS, jobs=1)
    checker.open([str(file)])
    seen = []
    for version, text in enumerate((_TEXT, broken, _TEXT), 1):
        checker.change(str(file), text, version)
        seen.append(_found(_report(checker)))
    checker.close()
    assert seen[0] == seen[2] == []
    assert len(seen[1]) == 1
    assert seen[1][0].startswith(_NULL)


@pytest.mark.parametrize(("entries", "reached", "expected"), [((), (), True), (("main",), (), False), (("main",), ("f",), True)])
def test_what_is_proved_from_main_refutes_where_only_main_leads(
    entries: tuple[str, ...], reached: tuple[str, ...], expected: bool, tmp_path: Path
) -> None:
    file = tmp_path / "a.c"
    file.write_text("int f(int *p) { return *p; }\nint main(void) { int n = 0; return f(&n); }\n")
    checker = Checker(Options(engine="automaton"))
    checker.open([str(file)])
    program = checker.inspect().program
    proved = Decided("refuted", certified=True, entries=entries)
    found = refuting({("f", _NULL): (proved, 0.0)}, program, reached)
    assert bool(found) == expected
    assert all(key[0] == "f" and key[2] == _NULL for key in found)
    assert not refuting({("f", "memory-leak"): (proved, 0.0)}, program, ("f",))
    assert not refuting({("f", _NULL): (Decided("possible"), 0.0)}, program, ("f",))
