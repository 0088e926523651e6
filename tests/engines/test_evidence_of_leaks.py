"""What speaks for a leak, where a local object of a function holds what is lost, or another function gives it: small programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.evidence import Evidence
from analysis.model.options import Options

_HEAD = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
_TEXT = (
    "struct text { char *all; int n; };\nstruct page { int number; struct text text; };\n"
    "static int set_up(struct text *t) { t->n = 0; t->all = malloc(16); return t->all ? 0 : -1; }\n"
    "static void clear(struct text *t) { t->n = 0; t->all = NULL; }\n"
)
_MAKE = (
    "static int make(char **to, const char *s) { int failed = -1, n = 0; while (s[n]) n++; if (n > 70) goto bad;\n"
    "char *p = malloc(n + 1); if (!p) { failed = -2; goto bad; }\n*to = p; return n;\nbad: return failed; }\n"
)
_OPEN = 'static FILE *out(const char *name) { FILE *f = fopen(name, "w"); if (!f) exit(1); return f; }\n'
_CASES: dict[str, tuple[str, set[Evidence]]] = {
    "a local object is left": (
        _TEXT + "int f(int n) { struct text t; if (set_up(&t)) return -1; t.all[0] = 'a'; return n; }",
        {"allocated-elsewhere"},
    ),
    "a function overwrites what a local object of its caller holds": (
        _TEXT + "int f(int n) { struct text t; if (set_up(&t)) return -1; if (n) t.n = 3; clear(&t); return 0; }",
        {"allocated-elsewhere"},
    ),
    "the same, two calls further up": (
        _TEXT + "static void end(struct page *p) { clear(&p->text); }\n"
        "int f(void) { struct page p; p.number = 1; if (set_up(&p.text)) return -1; end(&p); return 0; }",
        {"allocated-elsewhere"},
    ),
    "a function may overwrite it": (
        _TEXT + "static void some(struct text *t, int n) { if (n > 3) t->all = NULL; else free(t->all); }\n"
        "int f(int n) { struct text t; if (set_up(&t)) return -1; some(&t, n); return 0; }",
        {"argument", "in-memory", "reachable"},
    ),
    "an object of somebody else": (
        _TEXT + "int f(struct page *p) { if (set_up(&p->text)) return -1; p->number = 1; clear(&p->text); return 0; }",
        {"argument", "in-memory", "reachable"},
    ),
    "a member of a local union": (
        _TEXT + "union one { struct text text; int n; };\n"
        "int f(int n) { union one o; if (set_up(&o.text)) return -1; o.text.all[0] = 'a'; return n; }",
        {"allocated-elsewhere", "in-memory"},
    ),
    "what a parameter points to is a variable of the function": (
        "static int g(char **to, int n) { char *p = malloc(8); if (!p || n < 3) { free(p); return 0; } *to = p; return 1; }\n"
        "int f(int n) { char *p = NULL; if (!g(&p, n)) return 1; *p = 'a'; if (n == 7) return 2; free(p); return 0; }",
        {"allocated-elsewhere"},
    ),
    "a failure by its number": (
        _MAKE + "int f(const char *s) { char *p; if (make(&p, s) < 0) return -1; if (*p == 'x') return 2; free(p); return 0; }",
        {"allocated-elsewhere"},
    ),
    "a number that was computed is taken for one of a failure": (
        "int count(const char *s);\nstatic int make(char **to, const char *s) { int n = count(s); char *p = malloc(8);\n"
        "if (!p) return -1; *p = 0; *to = p; return n; }\n"
        "int f(const char *s) { char *p; int n = make(&p, s); if (n == -1) return -1; n = *p; free(p); return n; }",
        {"allocated-elsewhere", "taken-for-failure"},
    ),
    "a stream": (_OPEN + 'int f(const char *s) { FILE *f = out(s); return fputs("a", f); }', {"library-result"}),
    "a stream, or one that is always there": (
        "static FILE *out(const char *name) { FILE *f; if (*name == '-') return stdout;\n"
        'f = fopen(name, "w"); if (!f) exit(1); return f; }\n'
        'int f(const char *s) { FILE *f = out(s); return fputs("a", f); }',
        {"allocated-elsewhere", "sometimes-given"},
    ),
}


@pytest.mark.parametrize(("text", "expected"), _CASES.values(), ids=_CASES)
def test_what_is_seen(tmp_path: Path, text: str, expected: set[Evidence]) -> None:
    assert _evidence(_opened(tmp_path, text)) == expected


def test_bytes_that_are_copied_have_another_holder(tmp_path: Path) -> None:
    add = (
        "struct list { char *items; size_t n, size; };\n"
        "static int add(struct list *l, void *item) { if (l->n == 8) return 0; %s l->n++; return 1; }\n"
        "int f(struct list *l) { char *p = malloc(3); if (!p) return 0; if (!add(l, &p)) { free(p); return 0; } return 1; }"
    )
    assert not _opened(tmp_path, add % "memcpy(l->items + l->n * l->size, item, l->size);").check().findings
    assert _opened(tmp_path, add % "memset(l->items + l->n * l->size, 0, l->size);").check().findings


def test_what_a_function_gives_in_other_runs_changes(tmp_path: Path) -> None:
    use = 'int f(const char *s) { FILE *f = out(s); return fputs("a", f); }'
    checker = _opened(tmp_path, _OPEN + use)
    for other in ("if (*name == '-') return stdout;", "", "if (*name == '-') return stderr;"):
        text = _HEAD + _OPEN.replace("{ FILE", "{ " + other + " FILE") + use
        checker.change(str(tmp_path / "a.c"), text)
        [finding] = checker.check().findings
        assert ("sometimes-given" in finding.evidence) == bool(other)


def _opened(tmp_path: Path, text: str) -> Checker:
    path = tmp_path / "a.c"
    path.write_text(_HEAD + text, encoding="utf-8")
    checker = Checker(Options(engine="automaton"))
    checker.open([str(path)])
    return checker


def _evidence(checker: Checker) -> set[Evidence]:
    [finding] = checker.check().findings
    return set(finding.evidence)
