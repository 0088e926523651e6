"""Memory that a variable holds, where the variable is compared or gets another value at a call. Classes: a block that malloc gave
is no object with a name (`if (buffer != small) free(buffer);`); in `p = f(p)` the variable holds the result from then on; what a
call says of its result holds behind `return f(p);` and behind a pointer to functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.options import Options

START = """\
#include <stdlib.h>
#include <string.h>
struct node { struct node *next; int value; };
static void *again(void *p, size_t n) { return realloc(p, n); }
static void *fails(void *p, size_t n) { (void)p; (void)n; return NULL; }
static char *same(char *p) { return p; }
static char *maybe(char *p) { if (*p) return NULL; return p; }
static struct node *pop(struct node *list) { struct node *rest = list->next; free(list); return rest; }
void *(*resize)(void *, size_t) = realloc;
void choose(int fail) { resize = fail ? fails : realloc; }
static void *through(void *p, size_t n) { return resize(p, n); }
"""
QUIET = {
    "a small buffer": "char small[8], *b = small; if (n > 8) { b = malloc(n); if (!b) return 1; } b[0] = 1;"
    " if (b != small) free(b); return 0;",
    "a small buffer in a loop": "char small[8], *b = small; while (strlen(b) == 3) { if (b != small) free(b);"
    " b = malloc(++n); if (!b) return 1; } if (small != b) free(b); return 0;",
    "the address of a variable": "int own; int *b = n ? malloc(4) : &own; if (b && b != &own) free(b); return 0;",
    "a literal": 'char *b = malloc(n); if (b != (char *)"none") free(b); return 0;',
    "realloc in a function": "char *c = malloc(1), *d; if (!c) return 1; d = again(c, n); if (!d) { free(c); return 1; }"
    " free(d); return 0;",
    "realloc through a pointer": "char *c = malloc(1), *d; if (!c) return 1; d = through(c, n); if (!d) { free(c); return 1; }"
    " c = d; free(c); return 0;",
    "the rest of a list": "struct node *l = malloc(sizeof *l); if (!l) return 1; l->next = 0; l = pop(l); return l ? 1 : 0;",
    "the same pointer": "char *c = malloc(1); if (!c) return 1; c = same(c); free(c); return 0;",
}
FOUND = {
    "a small buffer is freed nowhere": "char small[8], *b = small; if (n > 8) b = malloc(n); return b == small ? 0 : 1;",
    "the wrong buffer is freed": "char small[8], *b = malloc(n); if (b == small) free(b); return 0;",
    "another variable": "char *a = malloc(n), *b = small_one; if (a != b) return 1; free(a); return 0;",
    "realloc in a function fails": "char *c = malloc(1); if (!c) return 1; c = again(c, n); free(c); return 0;",
    "null or the same": "char *c = malloc(1); if (!c) return 1; *c = n; c = maybe(c); free(c); return 0;",
    "the same is lost": "char *c = malloc(1); if (!c) return 1; c = same(c); return 0;",
}


def leaks(tmp_path: Path, body: str) -> list[str]:
    file = tmp_path / "t.c"
    file.write_text(f"{START}extern char small_one[8];\nint f(int n) {{ {body} }}\n", encoding="utf-8")
    checker = Checker(Options(rules=("memory-leak", "use-after-free"), engine="automaton"))
    checker.open([str(file)])
    found = checker.check().findings
    checker.close()
    return [finding.rule for finding in found if finding.function == "f"]


@pytest.mark.parametrize("name", QUIET)
def test_there_is_no_finding(name: str, tmp_path: Path) -> None:
    assert leaks(tmp_path, QUIET[name]) == []


@pytest.mark.parametrize("name", FOUND)
def test_the_leak_is_found(name: str, tmp_path: Path) -> None:
    assert leaks(tmp_path, FOUND[name]) == ["memory-leak"]


def test_what_was_freed_is_followed_by_other_names(tmp_path: Path) -> None:
    body = "struct node *l = malloc(sizeof *l), *m; if (!l) return 1; l->next = 0; m = pop(l); return m ? 1 : l->value;"
    assert leaks(tmp_path, body) == ["use-after-free"]
