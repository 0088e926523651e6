"""Steps of a trace read as they are written in the file, where that says what happens on the path."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.options import Options
from analysis.model.report import Finding

HEAD = """\
#include <stdlib.h>
#define KIND_LIST 3
#define EMPTY(list) ((list)->next == NULL)
enum { LIMIT = 4 };
struct item { struct item *next; int count; };
"""


def checked(path: Path, body: str, checker: Checker | None = None) -> tuple[Checker, Finding]:
    path.write_text(HEAD + body)
    checker = checker or Checker(Options(show="all", engine="automaton", rules=("null-dereference",)))
    checker.open([str(path)])
    [finding] = checker.check().findings
    return checker, finding


def texts(finding: Finding) -> list[str]:
    return [step.text for step in finding.trace]


@pytest.mark.parametrize(
    ("body", "step"),
    [
        (
            "int f(void)\n{\n    struct item *p = malloc(sizeof(struct item));\n    return p->count;\n}\n",
            "p = malloc(sizeof(struct item))",
        ),
        (
            "int f(void)\n{\n    struct item *p;\n    p = malloc( sizeof *p );\n    return p->count;\n}\n",
            "p = malloc( sizeof *p )",
        ),
        ("int f(void)\n{\n    struct item *p = malloc(16\n        + 8);\n    return p->count;\n}\n", "p = malloc(16 + 8)"),
        ("int f(int n)\n{\n    int *p = NULL;\n    if (n < LIMIT)\n        p = &n;\n    return *p;\n}\n", "n >= LIMIT"),
        ("int f(int n)\n{\n    int *p = NULL;\n    if (n)\n        p = &n;\n    return *p;\n}\n", "!n"),
        ("int f(int *n)\n{\n    int *p = NULL;\n    if (n)\n        p = n;\n    return *p;\n}\n", "n == NULL"),
        ("int f(int *n)\n{\n    int *p = n;\n    if (!n)\n        p = 0;\n    return *p;\n}\n", "n == NULL"),
        ("int f(int n)\n{\n    int *p = NULL;\n    if (n & LIMIT)\n        p = &n;\n    return *p;\n}\n", "!(n & LIMIT)"),
        ("int f(double n, int *q)\n{\n    int *p = NULL;\n    if (n < 2.50)\n        p = q;\n    return *p;\n}\n", "!(n < 2.50)"),
        ("int f(char n, int *q)\n{\n    int *p = NULL;\n    if (n == '\"')\n        p = q;\n    return *p;\n}\n", "n != '\"'"),
        (
            "int f(int n, int *q)\n{\n    int *p = q;\n    switch (n) {\n    case KIND_LIST: p = 0;\n    }\n    return *p;\n}\n",
            "n == KIND_LIST",
        ),
        ("int f(int n)\n{\n    int * const p = (int *) 0;\n    return *p + n;\n}\n", "p = (int *) 0"),
    ],
)
def test_a_step_is_what_the_user_wrote(body: str, step: str, tmp_path: Path) -> None:
    _, finding = checked(tmp_path / "a.c", body)
    assert step in texts(finding)


def test_what_a_macro_hides_is_spelled(tmp_path: Path) -> None:
    body = "int f(struct item *q)\n{\n    int *p = NULL;\n    if (EMPTY(q))\n        p = &q->count;\n    return *p;\n}\n"
    _, finding = checked(tmp_path / "a.c", body)
    assert "q->next != NULL" in texts(finding)


def test_a_step_with_a_comment_in_it_is_spelled(tmp_path: Path) -> None:
    body = "int f(void)\n{\n    int *p = malloc(8 /* bytes */);\n    return *p;\n}\n"
    _, finding = checked(tmp_path / "a.c", body)
    assert "p = malloc(8)" in texts(finding)


def test_the_text_follows_an_edit_that_changes_nothing_else(tmp_path: Path) -> None:
    body = "int f(void)\n{\n    struct item *p = malloc(16);\n    return p->count;\n}\n"
    checker, finding = checked(tmp_path / "a.c", body)
    assert "p = malloc(16)" in texts(finding)
    checker, edited = checked(tmp_path / "a.c", body.replace("16", "sizeof *p"), checker)
    assert "p = malloc(sizeof *p)" in texts(edited)
    assert "since `p = malloc(sizeof *p)`" in edited.said
    assert edited.fingerprint == finding.fingerprint
