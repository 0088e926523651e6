"""Messages and traces about values that have no name: the results of calls, and copies that an expression makes. They say which
call or object it is. Baselines and silenced findings do not notice: a fingerprint does not change with what only the message
says."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.options import Options
from analysis.model.report import Finding

START = """\
#include <stdlib.h>
#include <string.h>
struct node { int value; struct node *next; };
struct node *find(int key, int line) { if (line == 17) return NULL; return malloc(sizeof (struct node)); }
"""


def findings(tmp_path: Path, body: str) -> tuple[Finding, ...]:
    file = tmp_path / "t.c"
    file.write_text(f"{START}int f(int k, char *s, struct node *n) {{ {body} }}\n", encoding="utf-8")
    checker = Checker(Options(rules=("null-dereference", "use-after-free"), engine="automaton"))
    checker.open([str(file)])
    report = checker.check()
    checker.close()
    return report.findings


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("return find(k + 1, 2)->value;", ["find(k + 1, 2)"]),
        ("*(char *)malloc(3) = 1; return 0;", ["malloc(3)"]),
        ("char *p = strchr(s, '='); *p++ = 0; return *p;", ["p"]),
        ("free(n); *(char *)n++ = 0; return 0;", ["n"]),
        ("return *strchr(strchr(s, 'a') + 1, 'b');", ["the result", "strchr(s, 97)"]),
        ("return *(k ? strchr(s, 'a') : strrchr(s, 'b'));", ["... ? strchr(s, 97) : strrchr(s, 98)"]),
        ("return *(k ? strchr(s, 'a') : k > 1 ? s : strrchr(s, 'b'));", ["the result"]),
        ("return *strchr(s, 'a') + *strchr(s, 'b');", ["strchr(s, 97)", "strchr(s, 98)"]),
        (f"return find({' + '.join(['k'] * 20)}, 2)->value;", ["the result"]),
    ],
)
def test_messages_say_which_value_it_is(tmp_path: Path, body: str, named: list[str]) -> None:
    assert [finding.message.split("`")[1] for finding in findings(tmp_path, body)] == named


@pytest.mark.parametrize(
    ("body", "step"),
    [
        ("if (strcmp(n->next, s) == 0) n = NULL; return n->value;", "strcmp(n->next, s) == 0"),
        ("if (!strchr(s, k)) n = NULL; return n->value;", "strchr(s, k) == NULL"),
        ("n = find(strlen(s), 2); return n->value;", "n = find(strlen(s), 2)"),
        ("k = k ? strlen(s) : 3; if (k == 4) n = NULL; return n->value;", "k == 4"),
    ],
)
def test_steps_of_a_trace_say_which_value_it_is(tmp_path: Path, body: str, step: str) -> None:
    (finding,) = findings(tmp_path, body)
    texts = [taken.text for taken in finding.trace]
    assert step in texts
    assert not any("the result" in text for text in texts)


def test_a_step_is_spelled_anew_when_the_call_changes(tmp_path: Path) -> None:
    file = tmp_path / "t.c"
    text = f"{START}int f(char *s, char *t, struct node *n) {{ if (strcmp(s, t)) n = NULL; return n->value; }}\n"
    file.write_text(text, encoding="utf-8")
    checker = Checker(Options(rules=("null-dereference",), engine="automaton"))
    checker.open([str(file)])
    checker.check()
    checker.change(str(file), text.replace("strcmp(s, t)", "strcmp(t, s)"))
    (finding,) = checker.check().findings
    checker.close()
    assert "strcmp(t, s)" in [step.text for step in finding.trace]


def test_a_line_number_in_a_call_is_not_in_the_fingerprint(tmp_path: Path) -> None:
    body = "return find(k, __LINE__)->value;"
    (before,), (after,) = findings(tmp_path, body), findings(tmp_path, f"\n\n{body}")
    assert before.message != after.message
    assert before.fingerprint == after.fingerprint
