"""Members of an object that a function makes and returns: the caller that frees the object loses them, unless it does more."""

from __future__ import annotations

from pathlib import Path

from analysis.api import Checker
from analysis.model.options import Options

_MAKERS = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct obj { char *name; char *text; int n; struct obj *next; };
struct outer { struct obj base; int k; };
extern void keep(char *);
static struct obj *all; static char *taken; static struct obj *cached;
static struct obj *make(const char *s) { struct obj *o = malloc(sizeof *o); if (!o) return NULL; o->name = strdup(s);
	o->text = NULL; o->n = 0; o->next = NULL; return o; }
static struct obj *reg(const char *s) { struct obj *o = malloc(sizeof *o); if (!o) return NULL; o->name = strdup(s);
	all = o; return o; }
static struct obj *reg2(const char *s) { struct obj *o = malloc(sizeof *o); if (!o) return NULL; o->name = strdup(s);
	taken = o->name; return o; }
static struct obj *give(const char *s, char **out) { struct obj *o = malloc(sizeof *o); if (!o) return NULL;
	o->name = strdup(s); *out = o->name; return o; }
static struct obj *may(const char *s, int c) { struct obj *o = c ? cached : malloc(sizeof *o); if (!o) return NULL;
	if (!c) o->name = strdup(s); return o; }
static struct obj *borrow(char *s) { struct obj *o = malloc(sizeof *o); if (!o) return NULL; o->name = s; return o; }
static struct obj *based(const char *s) { struct outer *o = malloc(sizeof *o); if (!o) return NULL;
	o->base.name = strdup(s); return &o->base; }
static void drop_name(struct obj *o) { free(o->name); o->name = NULL; }
static void steal(struct obj *o, char **to) { *to = o->name; o->name = NULL; }
static void destroy(struct obj *o) { if (!o) return; if (o->name) free(o->name); free(o->text); free(o); }
"""
_KEPT = """
int t1(const char *s) { struct obj *o = make(s); destroy(o); return 0; }
char *t2(const char *s) { struct obj *o = make(s); if (!o) return 0; char *n = o->name; free(o); return n; }
int t3(const char *s) { struct obj *o = make(s); if (!o) return 0; char *n = o->name; free(o); free(n); return 0; }
char *t4(const char *s) { char *n; struct obj *o = make(s); if (!o) return 0; steal(o, &n); free(o); return n; }
int t5(const char *s) { struct obj *o = make(s); if (!o) return 0; drop_name(o); free(o); return 0; }
struct obj *t6(const char *s) { struct obj *o = make(s), *c; if (!o) return 0; c = malloc(sizeof *c);
	if (!c) { destroy(o); return 0; } *c = *o; free(o); return c; }
struct obj *t7(const char *s) { struct obj *o = make(s), *c; if (!o) return 0; c = malloc(sizeof *c);
	if (!c) { destroy(o); return 0; } memcpy(c, o, sizeof *o); free(o); return c; }
struct obj *t8(const char *s) { struct obj *o = make(s), *c; if (!o) return 0; c = realloc(o, 2 * sizeof *o);
	if (!c) { destroy(o); return 0; } return c; }
int t9(const char *s) { struct obj *o = make(s); if (!o) return 0; keep(o->name); free(o); return 0; }
int t10(const char *s) { struct obj *o = reg(s); if (!o) return 0; free(all->name); free(o); return 0; }
int t11(const char *s) { struct obj *o = reg2(s); if (!o) return 0; free(o); free(taken); return 0; }
char *t12(const char *s) { char *n; struct obj *o = give(s, &n); if (!o) return 0; free(o); return n; }
int t13(const char *s, int c) { struct obj *o = may(s, c); if (!o) return 0; if (!c) { free(o->name); } free(o);
	return 0; }
int t14(char *s) { struct obj *o = borrow(s); if (!o) return 0; free(o); return 0; }
int t15(const char *s) { struct obj *o = based(s); if (!o) return 0; drop_name(o); free(o); return 0; }
int t16(const char *s) { struct obj *o = make(s), *p = o; if (!o) return 0; free(p->name); free(o); return 0; }
int t17(const char *s, int n) { struct obj *h = NULL; while (n--) { struct obj *o = make(s); if (!o) break;
	o->next = h; h = o; } while (h) { struct obj *x = h->next; free(h->name); free(h); h = x; } return 0; }
int t18(const char *s) { struct obj *o = make(s); if (!o) return 0; if (!o->name) { free(o); return 1;
	} free(o->name); free(o); return 0; }
char *t19(const char *s) { struct obj *o = make(s); char *r = NULL; if (o) { r = o->name; o->name = NULL; destroy(o);
	} return r; }
"""
_LOST = """
int l1(const char *s) { struct obj *o = make(s); if (!o) return 0; free(o); return 0; }
int l2(const char *s) { struct obj *o = make(s); if (!o) return 0; if (o->name && o->name[0] == 'a') { free(o);
	return 1; } destroy(o); return 0; }
"""


def test_what_an_object_held_is_lost_with_it(tmp_path: Path) -> None:
    assert _functions_with_leaks(tmp_path, _LOST) == {"l1", "l2"}


def test_what_somebody_else_has_or_frees_is_not_lost(tmp_path: Path) -> None:
    assert not _functions_with_leaks(tmp_path, _KEPT)


def test_an_edit_of_the_maker_decides(tmp_path: Path) -> None:
    """The caller stays as it is: the maker keeps what it stores elsewhere as well, or stores what it was passed."""
    made = "o->name = strdup(s);"
    edits = (made + " taken = o->name;", made, "o->name = NULL;", made)
    path = tmp_path / "a.c"
    path.write_text(_MAKERS + _LOST, encoding="utf-8")
    checker = Checker(Options(engine="automaton", rules=("memory-leak",)))
    checker.open([str(path)])
    found = []
    for edit in edits:
        checker.change(str(path), _MAKERS.replace(made, edit, 1) + _LOST)
        found.append(len(checker.check().findings))
    assert found == [0, 2, 0, 2]


def test_what_is_read_after_its_holder_was_freed_is_not_lost(tmp_path: Path) -> None:
    """That is another mistake. In a loop, the next turn reads from another object."""
    twice = "int r1(const char *s) { struct obj *o = make(s); if (!o) return 0; free(o); free(o->name); return 0; }"
    turns = "int r2(const char *s) { int n = 0; while (*s) { struct obj *o = make(s++); if (!o) break; "
    turns += "n += o->name != NULL; free(o); } return n; }"
    assert _functions_with_leaks(tmp_path, twice + turns) == {"r2"}


def _functions_with_leaks(folder: Path, text: str) -> set[str]:
    path = folder / "a.c"
    path.write_text(_MAKERS + text, encoding="utf-8")
    checker = Checker(Options(engine="automaton", rules=("memory-leak",)))
    checker.open([str(path)])
    return {finding.function for finding in checker.check().findings}
