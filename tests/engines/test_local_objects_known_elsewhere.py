"""Leaks that are not likely: of what a local object holds whose address others have, or that is moved; and each leak once."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.options import Options
from analysis.model.report import Finding

_TEXT = (
    "#include <stdlib.h>\n#include <string.h>\nstruct text { char *p; int n; };\n"
    "static struct text *kept, *stack[4]; static int top;\n"
    "static int set_up(struct text *t) { t->p = malloc(10); return t->p ? 0 : -1; }\n"
    "static void clear(struct text *t) { free(t->p); }\nstatic void make(char **p) { *p = malloc(4); }\n"
    "static void keep(struct text *t) { kept = t; }\nstatic struct text *same(struct text *t) { return t; }\n"
    "static void cleanup(void) { while (top) clear(stack[--top]); }\n"
    "static void end(void (*f)(struct text *), struct text *t) { f(t); }\n"
    "static void by_member(struct text *t) { char **q = &t->p; free(*q); }\n"
    "static void below(struct text *t) { by_member(t); }\n"
    "static void set(char **to, char *p) { *to = p; }\n"
    "static char **known; static void know(char **p) { known = p; }\nstatic char *text(void) { return malloc(5); }\n"
    "static struct text *mk(void) { struct text *t = malloc(sizeof *t); if (!t) return 0; t->p = malloc(10);\n"
    "if (!t->p) { free(t); return 0; } return t; }\n"
)
_MOVED = "int f(void) { struct text t, u; if (set_up(&t)) return -1; move(&u, &t); clear(&u); return 0; }"
_MOVE = "static void move(struct text *a, struct text *b) { %s b->p = 0; }\n"
_OTHERS = {
    "another local": "int f(void) { char *p; make(&p); char **q = &p; free(*q); return 0; }",
    "another local, before": "int f(void) { char *p, **q = &p; make(&p); free(*q); return 0; }",
    "what the function allocates itself": "int f(void) { char *p = malloc(4), **q = &p; free(*q); return 0; }",
    "moved as a whole": _MOVE % "*a = *b;" + _MOVED,
    "moved by member": _MOVE % "a->p = b->p;" + _MOVED,
    "moved by a variable": _MOVE % "char *s = b->p; a->p = s;" + _MOVED,
    "moved by a call": _MOVE % "set(&a->p, b->p);" + _MOVED,
    "a global": "int f(void) { struct text t; keep(&t); if (set_up(&t)) return -1; clear(kept); return 0; }",
    "a stack": "int f(void) { struct text t; stack[top++] = &t; if (set_up(&t)) { top--; return -1; } cleanup(); return 0; }",
    "an array": "int f(void) { struct text t, *a[1] = { &t }; if (set_up(&t)) return -1; clear(a[top]); return 0; }",
    "a result": "int f(void) { struct text t; if (set_up(&t)) return -1; clear(same(&t)); return 0; }",
    "a call through a pointer": "int f(void) { struct text t; if (set_up(&t)) return -1; end(clear, &t); return 0; }",
    "the address of a member": "int f(void) { struct text t; if (set_up(&t)) return -1; below(&t); return 0; }",
    "known on the path": (
        "int f(int n) { char *p; know(&p); p = text(); if (!p) return 1; if (n) { free(*known); return 3; } free(p); return 0; }"
    ),
    "known in an earlier turn": (
        "int f(int n) { char *p = 0; while (n--) { if (p) { free(*known); return 3; }\n"
        "p = text(); know(&p); } free(p); return 0; }"
    ),
    "known in the call that loses it": "int f(void) { char *p = text(), **q; q = &p; free(*q); return 0; }",
    "a member of a new object": (
        "char *f(void) { struct text *t = mk(); if (!t) return 0;\nchar **q = &t->p; char *r = *q; free(t); return r; }"
    ),
}
_LOST = {
    "known on other paths": (
        "int f(int n) { char *p = text(); if (!p) return 1; if (n) return 3; know(&p); free(*known); return 0; }"
    ),
    "a local object": "int f(int n) { struct text t; if (set_up(&t)) return -1; if (n) return 3; clear(&t); return 0; }",
    "a variable": "int f(int n) { char *p; make(&p); if (n == 2) return 3; free(p); return 0; }",
    "another object is known elsewhere": "int f(void) { struct text t, u; keep(&u); if (set_up(&t)) return -1; return t.p[0]; }",
    "bytes of it are read": "int f(void) { struct text t; memset(&t, 0, sizeof t); if (set_up(&t)) return -1; return t.p[0]; }",
    "a member of a new object": "int f(void) { struct text *t = mk(); if (!t) return 0; free(t); return 1; }",
}
_OWNER = """#include <stdlib.h>
#include <string.h>
struct conn { char *host; char *user; };
struct conn *conn_new(const char *host, const char *user) { struct conn *c = calloc(1, sizeof *c); if (!c) return NULL;
	c->host = strdup(host); c->user = strdup(user);
	if (!c->host || !c->user) { free(c->host); free(c->user); free(c); return NULL; } return c; }
void conn_free(struct conn *c) { if (!c) return; free(c->host); free(c); }
int main(void) { struct conn *c = conn_new("h", "u"); conn_free(c); return 0; }
"""


@pytest.mark.parametrize("text", _OTHERS.values(), ids=_OTHERS)
def test_what_others_can_free_is_not_shown(tmp_path: Path, text: str) -> None:
    assert not _shown(_opened(tmp_path, _TEXT + text))


@pytest.mark.parametrize("text", _LOST.values(), ids=_LOST)
def test_what_nobody_else_knows_is_shown(tmp_path: Path, text: str) -> None:
    assert [finding.function for finding in _shown(_opened(tmp_path, _TEXT + text))] == ["f"]


def test_an_edit_of_what_borrows_the_object_decides(tmp_path: Path) -> None:
    """The functions on the path stay as they are."""
    use = "int f(void) { struct text t; keep(&t); if (set_up(&t)) return -1; return t.p[0]; }"
    checker = _opened(tmp_path, _TEXT + use)
    found = [len(_shown(checker))]
    for body in ("t->n = 1;", "kept = t;", "by_member(t);", ""):
        text = _TEXT.replace("kept = t;", body).replace(
            "static void keep", "static void by_member(struct text *t);\nstatic void keep"
        )
        checker.change(str(tmp_path / "a.c"), text + use)
        found.append(len(_shown(checker)))
    assert found == [0, 1, 0, 0, 1]


def test_what_a_member_owns_is_lost_once(tmp_path: Path) -> None:
    """It was allocated for the member in one function, and the object that owns it is freed in another one."""
    [finding] = _opened(tmp_path, _OWNER).check().findings
    assert (finding.function, finding.shown) == ("conn_free", True)


def _opened(folder: Path, text: str) -> Checker:
    path = folder / "a.c"
    path.write_text(text, encoding="utf-8")
    checker = Checker(Options(engine="automaton", rules=("memory-leak",)))
    checker.open([str(path)])
    return checker


def _shown(checker: Checker) -> list[Finding]:
    return [finding for finding in checker.check().findings if finding.shown]
