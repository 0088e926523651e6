"""What speaks for a finding is read off its path: small programs, each with one finding and what is seen of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.engines.automaton.report import beginnings
from analysis.model.evidence import Evidence
from analysis.model.limits import Limits
from analysis.model.options import Options

_HEAD = "#define _GNU_SOURCE\n#include <assert.h>\n#include <stdlib.h>\n#include <string.h>\n"
_CASES: dict[str, tuple[str, set[Evidence]]] = {
    "library": ("int f(void) { int *p = malloc(4); *p = 1; int r = *p; free(p); return r; }", {"library-result", "straight"}),
    "own address": ("int *f(int n) { int *p = &n; if (n) return p; return 0; }", {"own-address"}),
    "own address at once": ("int *f(int n) { return &n; }", {"own-address"}),
    "own test": ("int f(int *p) { if (p == 0) return *p; return 0; }", {"own-test", "straight"}),
    "macro": (
        "#define PUT() do { if (p) *p = 0; } while (0)\nint f(int *p) { PUT(); return *p; }",
        {"macro", "straight"},
    ),
    "null as an argument": ("static int g(int *p) { return *p; }\nint f(void) { return g(0); }", {"null-constant", "straight"}),
    "set to null by a macro": (
        "#define DROP(x) (free(x), (x) = NULL)\nint f(int *p) { DROP(p); return *p; }",
        {"null-constant", "straight"},
    ),
    "set to null by a macro, if it was not before": (
        "#define DROP(x) do { if (x) { free(x); (x) = NULL; } } while (0)\nint f(int *p) { *p = 0; DROP(p); return *p; }",
        {"null-constant", "straight"},
    ),
    "null in some cases of a macro": (
        "struct s { int n, *p; };\n#define GET(s) ((s)->n ? (s)->p : NULL)\nint f(struct s *s) { int *p = GET(s); return *p; }",
        {"macro", "straight"},
    ),
    "a test in a macro of what malloc gave": (
        "#define PUT() do { if (p) *p = 0; } while (0)\n"
        "int f(void) { int *p = malloc(4); PUT(); int r = *p; free(p); return r; }",
        {"library-result", "straight"},
    ),
    "constant": ("int f(int n) { int *p = 0; if (n) p = &n; return *p; }", {"null-constant"}),
    "too many ways to where it comes from": (
        "int f(const int *t, int n) { int r = 0; for (int i = 0; i < 80; i++) for (int j = 0; j < 80; j++) r += t[80 * i + j]; "
        "int *p = 0; if (n) p = &r; return *p; }",
        {"null-constant", "way-unknown"},
    ),
    "allocated by a function that only passes it on": (
        "static int *g(void) { int *p = malloc(4); if (p) *p = 0; return p; }\nstatic int *h(void) { return g(); }\n"
        "int f(int n) { int *p = h(); if (!p) return 1; *p = n; return *p; }",
        {"library-result"},
    ),
    "allocated elsewhere": (
        "static int *g(int n) { static int a; return n ? &a : malloc(4); }\n"
        "int f(int n) { int *p = g(n); if (!p) return 1; *p = n; return *p; }",
        {"allocated-elsewhere", "sometimes-given"},
    ),
    "another function": (
        "static int *g(int n) { return n > 7 ? malloc(4) : 0; }\nint f(int n) { int *p = g(n); int r = *p; free(p); return r; }",
        {"function-result", "environment", "straight"},
    ),
    "a failure among the results": (
        "static int *g(int n) { if (n > 7) return 0; return malloc(4); }\n"
        "int f(int n) { int *p = g(n); int r = *p; free(p); return r; }",
        {"function-result", "environment", "straight"},
    ),
    "a failure behind a pointer that gives what malloc gives": (
        "static void *counted(unsigned long n) { return malloc(n + 4); }\nstatic void *(*make)(unsigned long) = malloc;\n"
        "void set(int n) { make = n ? counted : malloc; }\nstatic int *g(void) { return make(4); }\n"
        "int f(void) { int *p = g(); int r = *p; free(p); return r; }",
        {"function-result", "environment", "straight"},
    ),
    "passed what is freed, and freed by the function itself": (
        "static void f(char *p, int n) { if (n) { p[0] = 1; return; }\nfree(p); p[0] = 2; }\n"
        "void g(char *q, char *r) { f(r, 0); free(q); f(q, 1); }",
        {"released-here", "straight"},
    ),
    "a caller": (
        "static int g(const char *s, int n) { return n ? strlen(s) > 3 : 0; }\n"
        'int f(int n) { char *s = getenv("X"); return g(s, n); }',
        {"passed-failure", "environment"},
    ),
    "a failure that was stored": (
        "struct s { int *p; };\nstatic void g(struct s *s) { s->p = malloc(4); }\nint f(struct s *s) { g(s); return *s->p; }",
        {"function-result", "environment", "stored-failure", "straight"},
    ),
    "a caller, where the function uses it in each run": (
        'static int g(const char *s) { return strlen(s) > 3; }\nint f(void) { char *s = getenv("X"); return g(s); }',
        {"library-result", "straight"},
    ),
    "the caller of a caller": (
        "static int h(int n, int *p) { return *p + n; }\nstatic int g(int *p) { return h(1, p); }\n"
        "int f(int *p) { if (p == 0) return g(p); return 0; }",
        {"own-test", "straight"},
    ),
    "released by a function that does so in each run": (
        "static void drop(char *p) { if (!p) return; if (p[0]) p[1] = 0; free(p); }\nint f(char *p) { drop(p); return *p; }",
        {"released-here", "straight"},
    ),
    "released by a function of a function": (
        "static void drop(char *p) { if (p) free(p); }\nstatic void end(int n, char *p) { drop(p); }\n"
        "int f(char *p) { end(3, p); return *p; }",
        {"released-here", "straight"},
    ),
    "released by a function in some runs": (
        "static void drop(char *p, int n) { if (n) free(p); }\nint f(char *p, int n) { drop(p, n); return *p; }",
        {"function-result"},
    ),
    "released by a function that hands it out after that": (
        "static void drop(char **out, char *p, int n) { if (n) { free(p); *out = p; } else *out = 0; }\n"
        "int f(char *p, int n) { char *q; drop(&q, p, n); free(q); return 0; }",
        {"handed-out"},
    ),
    "released and left in a member": (
        "struct s { char *p; };\nstatic void drop(struct s *s, int n) { char *p = malloc(3); "
        "if (n) { free(p); s->p = p; return; }\ns->p = p; }\nint f(struct s *s, int n) { drop(s, n); free(s->p); return 0; }",
        {"handed-out"},
    ),
    "released and left in a member, and a call that may change it": (
        "struct s { char *p; };\n"
        "static void drop(struct s *s, int n) { char *p = malloc(3); if (n) { free(p); s->p = p; return; }\ns->p = p; }\n"
        "int f(struct s *s, int n) { int e = 0; drop(s, n); if (n) e = system(0); free(s->p); return e; }",
        {"handed-out", "in-memory"},
    ),
    "released in some runs by a function that returns it in each": (
        "struct s { int n; };\nstatic struct s *drop(struct s *p) { if (--p->n == 0) free(p);\nreturn p; }\n"
        "int f(struct s *p) { p = drop(p); free(p); return 0; }",
        {"function-result"},
    ),
    "released by a function that a pointer may lead to": (
        "static void drop(char *p) { free(p); }\nstatic void keep(char *p) { *p = 0; }\nvoid (*end)(char *);\n"
        "void set(int n) { end = n ? drop : keep; }\nint f(char *p) { end(p); return *p; }",
        {"function-result", "function-pointer"},
    ),
    "released twice by a function": (
        "static void drop(void *v) { char *p = v; if (p != 0) free(p); }\nvoid f(char *p) { drop(p); drop(p); }",
        {"released-here"},
    ),
    "others test": (
        "int *g(int n) { static int a; return n > 7 ? &a : 0; }\nint h(void) { int *p = g(1); return p ? *p : 2; }\n"
        "int i(void) { int *p = g(2); return p ? *p : 3; }\nint f(int n) { int *p = g(n); return *p; }",
        {"function-result", "others-test", "decided-inside", "straight"},
    ),
    "one other tests": (
        "int *g(int n) { static int a; return n > 7 ? &a : 0; }\nint h(void) { int *p = g(1); return p ? *p : 2; }\n"
        "int f(int n) { int *p = g(n); return *p; }",
        {"function-result", "decided-inside", "straight"},
    ),
    "the answer of the library, and then what is there is put away": (
        '#include <unistd.h>\nvoid note(int);\nstatic int *g(int n) { static int a; if (chdir("a")) goto out;\nreturn &a;\n'
        "out: note(n); return 0; }\nint f(int n) { int *p = g(n); return *p; }",
        {"function-result", "environment", "straight"},
    ),
    "others that ask for the same": (
        "int *g(int n, int make) { static int a; return make ? &a : n > 7 ? &a : 0; }\n"
        "int h(int n) { int *p = g(n, 0); return p ? *p : 2; }\nint i(int n) { int *p = g(n, 0); return p ? *p : 3; }\n"
        "int j(int n) { int *p = g(n, 0); return p ? *p : 4; }\n"
        + "".join(f"int k{n}(int n) {{ return *g(n, 2); }}\n" for n in range(2))
        + "int f(int n) { int *p = g(n, 0); return *p; }",
        {"function-result", "others-test", "decided-inside", "straight"},
    ),
    "others end a loop by it": (
        "struct s { struct s *next; int n; };\nstruct s *g(struct s *t) { return t->n > 7 ? t : 0; }\n"
        "int h(struct s *t) { int r = 0; for (struct s *p = g(t); p; p = p->next) r += p->n; return r; }\n"
        "int f(struct s *t) { struct s *p = g(t); return p->n; }",
        {"function-result", "decided-inside", "straight"},
    ),
    "others do not": (
        "long g(char *s) { char *p = strchr(s, 'a'); return p - s; }\n"
        "long h(char *s) { char *p = strchr(s, 'b'); return p - s; }\n"
        "int f(char *s) { char *p = strchr(s, 'c'); return *p; }",
        {"library-search", "others-do-not", "straight"},
    ),
    "in a local variable that a function sets, among others in an order that C leaves open": (
        "static int get(char **out, long *first, long *last, int n) { char *made = 0;\n"
        "if (n > 3) { made = malloc(9); if (!made) return 0; }\n"
        "*out = made; *first = *last = 0; return 1; }\n"
        "int f(int n, int k) { char *own = 0; long from, to; if (!get(&own, &from, &to, n)) return -1;\n"
        "if (k > from) return -1; free(own); return 0; }",
        {"allocated-elsewhere"},
    ),
    "as many test a search as do not": (
        "long g(char *s) { char *p = strchr(s, 'a'); return p - s; }\n"
        "long h(char *s) { char *p = strchr(s, 'b'); return p ? p - s : 0; }\n"
        "int f(char *s) { char *p = strchr(s, 'c'); return *p; }",
        {"library-search", "straight"},
    ),
    "found before": (
        "int f(char *s) { if (strchr(s, 'a') == NULL) return 0; char *p = strchr(s, 'a'); return *p; }",
        {"library-search", "found-before", "others-test", "straight"},
    ),
    "found before by a caller": (
        "static int g(const char *t) { const char *p = strchr(t, 'a'); return *p; }\n"
        "int f(char *s) { char *q = s; char *r; if ((r = strchr(q, 'a')) != 0) return g(q); return 0; }",
        {"library-search", "found-before", "others-test", "straight"},
    ),
    "found before in the function that gives it": (
        "static char *g(char *t) { if (strrchr(t, 'a')) t = strrchr(t, 'a') + 1; return t; }\n"
        "int f(char *s) { char *p = g(s); return *p; }",
        {"function-result", "environment", "found-before", "straight"},
    ),
    "something else found before in the function that gives it": (
        "static char *g(char *t) { if (strrchr(t, 'b')) t = strrchr(t, 'a') + 1; return t; }\n"
        "int f(char *s) { char *p = g(s); return *p; }",
        {"function-result", "environment", "straight"},
    ),
    "something else was found before": (
        "int f(char *s) { if (strchr(s, 'b') == NULL) return 0; char *p = strchr(s, 'a'); return *p; }",
        {"library-search", "others-test", "straight"},
    ),
    "found in something else before": (
        "int f(char *s, char *t) { if (strchr(t, 'a') == NULL) return 0; char *p = strchr(s, 'a'); return *p; }",
        {"library-search", "others-test", "straight"},
    ),
    "found before, and then something else is searched": (
        "char *next(void);\n"
        "int f(char *s) { if (strchr(s, 'a') == NULL) return 0; s = next(); char *p = strchr(s, 'a'); return *p; }",
        {"library-search", "others-test", "straight"},
    ),
    "not found before": (
        "int g(void);\nint f(char *s) { if (strchr(s, 'a') != NULL) return 0; char *p = strchr(s, 'a'); return *p; }",
        {"library-search", "others-test", "straight"},
    ),
    "the second word is not the first": (
        'int f(char *s) { if (strtok(s, " ") == NULL) return 0; char *p = strtok(s, " "); return *p; }',
        {"library-search", "others-test", "straight"},
    ),
    "reported": (
        "int count;\nstatic void complain(void) { count++; }\nint f(int *p) { if (p == 0) complain(); return *p; }",
        {"own-test", "reported", "straight"},
    ),
    "a lock is no value that is read": (
        "#include <pthread.h>\npthread_mutex_t m;\nvoid f(void) { pthread_mutex_lock(&m); pthread_mutex_lock(&m); }",
        {"released-here", "straight"},
    ),
    "NULL is no macro of its users": ("int f(int n) { int *p = n ? &n : NULL; return *p; }", {"null-constant", "straight"}),
    "released": ("void f(int *p) { free(p); free(p); }", {"released-here", "straight"}),
    "only computed": (
        "#include <ctype.h>\nstatic int *g(int n) { static int a; return isdigit(n) ? &a : 0; }\n"
        "int f(int n) { int *p = g(n); return *p; }",
        {"function-result", "decided-inside", "straight"},
    ),
    "test of nothing": (
        "#define CHECK(c)\nint f(int *p, int n) { if (p == 0) CHECK(n == 0); if (n > 0) return *p; return 0; }",
        {"own-test", "idle-test"},
    ),
    "asked about": (
        "static int g(int *p, int n) { return n > 3 || p == 0; }\nint f(int n) { int *p = 0; if (n > 7) p = &n;\n"
        "if (!g(p, n)) return 0; return *p; }",
        {"null-constant", "asked-about"},
    ),
    "asked before": (
        "static int has(int n) { return n > 3; }\nstatic int *at(int n) { static int a[9]; return n < 9 ? a + n : 0; }\n"
        "int f(int n) { if (!has(n)) return 0; int *p = at(n); return *p; }",
        {"function-result", "asked-before", "decided-inside", "straight"},
    ),
    "asked for a second time": (
        "static int *t;\nstatic int *get(void) { if (!t) t = calloc(9, 4); return t; }\n"
        "int f(void) { if (!get()) return 0; return *get(); }",
        {"function-result", "asked-before", "environment", "straight"},
    ),
    "asked for another one": (
        "static int *get(void) { return calloc(9, 4); }\n"
        "int f(void) { int *a = get(); if (!a) return 0; int *b = get(), r = *b; free(a); free(b); return r; }",
        {"function-result", "environment", "straight"},
    ),
    "asked before about something else": (
        "static int has(int n) { return n > 3; }\nstatic int *at(int n) { static int a[9]; return n < 9 ? a + n : 0; }\n"
        "int f(int n, int m) { if (!has(m)) return 0; int *p = at(n); return *p; }",
        {"function-result", "decided-inside", "straight"},
    ),
    "loop without a turn": (
        "int f(int n, int *a) { int *p = 0; for (int i = 0; i < n; i++) p = a + i; return *p; }",
        {"null-constant", "loop-skipped"},
    ),
    "loop without a turn, in which a function sets it": (
        "static void g(int **p, int *a) { *p = a; }\n"
        "int f(int n, int *a) { int *p = 0; for (int i = 0; i < n; i++) g(&p, a + i); return *p; }",
        {"null-constant", "loop-skipped"},
    ),
    "as null as what is in memory": (
        "struct b { char *at; int n; struct b *next; };\nint f(struct b *b) { struct b *l = 0; char *end = 0;\n"
        "for (; b; b = b->next) { if (end == b->at) l->n += b->n; else l = b; end = b->at + b->n; } return 0; }",
        {"null-constant", "null-compared"},
    ),
    "not null where it equals what is in memory": (
        "struct b { char *at; int n; struct b *next; };\nint f(struct b *b, char *end) { struct b *l = 0;\n"
        "for (; b; b = b->next) { if (end == b->at) l->n += b->n; else l = b; end = b->at + b->n; } return 0; }",
        {"null-constant"},
    ),
    "tested before, with the other outcome": (
        "struct s { int flags; };\nvoid run(struct s *s);\nint f(struct s *s, int *a) { int *p = a; if (s->flags & 1) p = 0;\n"
        "s->flags |= 2; run(s); if (s->flags & 1) return 0; return *p; }",
        {"null-constant", "tested-before"},
    ),
    "tested before, and set in between": (
        "struct s { int flags; };\nint next(struct s *s);\nint f(struct s *s, int *a) { int *p = a; if (s->flags & 1) p = 0;\n"
        "s->flags = next(s); if (s->flags & 1) return 0; return *p; }",
        {"null-constant"},
    ),
    "switch in a loop": (
        "int f(int n, int *a) { int m = 0; while (n-- > 0) { int *p = 0; switch (*a++) { case 1: p = a; break; case 2: p = a; }"
        "\nm += *p; } return m; }",
        {"null-constant"},
    ),
    "loop that sets something else": (
        "int f(int n, int *a) { int *p = 0; for (int i = 0; i < n; i++) a++; return *p; }",
        {"null-constant"},
    ),
    "leak": ("int f(int n) { int *p = malloc(4); if (!p) return 1; *p = n; return *p; }", {"library-result"}),
    "descriptor that is used for nothing": (
        '#include <fcntl.h>\nstatic int g(void) { return open("a", 0); }\nvoid f(void) { int d = g(); d += 0; }',
        {"library-result", "never-used"},
    ),
    "descriptor that is used somewhere": (
        '#include <fcntl.h>\n#include <unistd.h>\nvoid f(int n) { int d = open("a", 0); if (d < 0 || n > 7) return; close(d); }',
        {"library-result"},
    ),
    "leak at the end": (
        "int main(int n, char **v) { int *p = malloc(4); if (!p) return 1; *p = n; return *p; }",
        {"library-result", "at-the-end"},
    ),
    "function pointer": (
        "static int *g(void) { return malloc(4); }\nstatic int *h(void) { static int n; return &n; }\n"
        "int *(*make)(void) = g;\nvoid other(void) { make = h; }\n"
        "int f(void) { int *p = make(); int r = *p; free(p); return r; }",
        {"function-result", "function-pointer", "environment", "straight"},
    ),
    "function pointer that can reach one function": (
        "static int *g(void) { return malloc(4); }\nint *(*make)(void) = g;\n"
        "int f(void) { int *p = make(); int r = *p; free(p); return r; }",
        {"function-result", "environment", "straight"},
    ),
    "released through a pointer that can reach one function": (
        "static void (*drop)(void *) = free;\nstatic void g(int *p) { if (p) drop(p); }\nint f(int *p) { g(p); return *p; }",
        {"released-here", "straight"},
    ),
    "released through a pointer, whichever function it reaches": (
        "static int count;\nstatic void counted(void *p) { count++; free(p); }\n"
        "static void behind(void *p) { char *all = (char *)p - 8; free(all); }\nstatic void (*drop)(void *) = free;\n"
        "void set(int n) { drop = n ? counted : behind; }\nint f(int *p) { drop(p); return *p; }",
        {"released-here", "straight"},
    ),
    "released through a pointer, in some runs of one function that it reaches": (
        "static int count;\nstatic void counted(void *p) { if (count++) free(p); }\nstatic void (*drop)(void *) = free;\n"
        "void set(int n) { drop = n ? counted : free; }\nint f(int *p) { drop(p); return *p; }",
        {"function-result", "function-pointer"},
    ),
    "leak of what a pointer makes, whichever function it reaches": (
        "static int count;\nstatic void *counted(unsigned long n) { if (!count--) return NULL; return malloc(n); }\n"
        "static void *(*make)(unsigned long) = malloc;\nvoid set(int n) { make = n ? counted : malloc; }\n"
        "int f(int n) { int *p = make(4); if (!p) return 1; *p = n; return *p; }",
        {"library-result"},
    ),
    "leak of what a pointer makes, where a function that it reaches stores it": (
        "struct node { struct node *last; };\nstatic struct node *tail;\n"
        "static void *kept(unsigned long n) { struct node *p = malloc(n); if (p) { p->last = tail; } return p; }\n"
        "static void *stored(unsigned long n) { void **p = malloc(n); if (p && tail) *(void **)tail = p; return p; }\n"
        "static void *(*make)(unsigned long) = kept;\nvoid set(int n) { make = n ? kept : stored; }\n"
        "int f(int n) { int *p = make(8); if (!p) return 1; *p = n; return *p; }",
        {"allocated-elsewhere", "function-pointer"},
    ),
    "leak of what a pointer makes, where one function that it reaches keeps it": (
        "static char pool[64];\nstatic void *own(unsigned long n) { return pool; }\n"
        "static void *(*make)(unsigned long) = malloc;\nvoid set(int n) { make = n ? own : malloc; }\n"
        "int f(int n) { int *p = make(4); if (!p) return 1; *p = n; return *p; }",
        {"allocated-elsewhere", "function-pointer"},
    ),
    "memory": (
        "struct s { int *p; };\nint f(struct s *s) { s->p = 0; return *s->p; }",
        {"null-constant", "in-memory", "straight"},
    ),
    "memory that was released, and nothing since then": (
        "struct s { int *p; };\nint f(struct s *s) { free(s->p); return *s->p; }",
        {"released-here", "straight"},
    ),
    "memory that was released, and other memory written": (
        "struct s { int *p; int n; };\nint f(struct s *s, struct s *t) { free(s->p); t->n = 1; return *s->p; }",
        {"released-here", "in-memory", "straight"},
    ),
    "what a loop reads decides it": (
        "#include <stdio.h>\nint *f(FILE *in, int *size) { int n, end = 0, all = 0; int *p = malloc(64), *q;\nif (!p) exit(1);\n"
        "do { n = getc(in); end = (end + n) % 64; all += n; } while (n > 0);\nif (all > 64) all = 64;\n*size = all;\n"
        "if ((64 + end - all) % 64 == 0) q = p;\nelse { q = malloc(all ? all : 1); if (!q) exit(2); }\nreturn q; }",
        {"library-result"},
    ),
    "memory that was released below a call, and is read again": (
        "struct s { struct s *next; };\nstatic void drop(struct s *p) { free(p); }\n"
        "void f(struct s *s) { struct s *t = s->next; drop(t); t = s->next; drop(t); }",
        {"released-here", "in-memory", "straight"},
    ),
    "stored by a function, unless its data are against it": (
        "struct s { struct s *next; int n; } *all;\nstatic int add(struct s *p) {\n"
        "for (struct s *q = all; q; q = q->next) if (q->n == p->n) return 1;\np->next = all; all = p; return 0; }\n"
        "int f(int n) { struct s *p = malloc(sizeof *p); if (!p) return 1; p->n = n; add(p); return 0; }",
        {"library-result", "unkept"},
    ),
    "stored by a function, unless its data are against it, which it does not tell": (
        "struct s { struct s *next; int n; } *all;\nstatic void add(struct s *p) {\n"
        "for (struct s *q = all; q; q = q->next) if (q->n == p->n) return;\np->next = all; all = p; }\n"
        "int f(int n) { struct s *p = malloc(sizeof *p); if (!p) return 1; p->n = n; add(p); return 0; }",
        {"library-result"},
    ),
    "stored by a function, unless its data are against it, which a caller tests": (
        "struct s { struct s *next; int n; } *all;\nstatic int add(struct s *p) {\n"
        "for (struct s *q = all; q; q = q->next) if (q->n == p->n) return 1;\np->next = all; all = p; return 0; }\n"
        "static int pass(struct s *p) { int done = add(p); return done; }\n"
        "int f(int n) { struct s *p = malloc(sizeof *p); if (!p) return 1; p->n = n; if (pass(p)) return 2; return 0; }",
        {"library-result"},
    ),
    "stored by a function, unless its data are against it, which the caller hands on": (
        "char *last;\nstatic int add(char *p, int n) { if (p[n - 1]) return 1; last = p; return 0; }\n"
        "int f(int n) { char *p = calloc(n, 2); if (!p) return 1; p[n - 1] = 'a'; return add(p, n); }",
        {"library-result"},
    ),
    "stored by a function, unless memory is short": (
        "struct s { int n; char *name; } *one;\n"
        'static void add(struct s *p) { char *name = strdup("a"); if (!name) return; p->name = name; one = p; }\n'
        "int f(int n) { struct s *p = malloc(sizeof *p); if (!p) return 1; p->n = n; add(p); return 0; }",
        {"library-result"},
    ),
    "stored by a function, which calls another one that may take it out": (
        "struct c { void *data; int n; };\nstatic void reset(struct c *c) { if (c->n) c->data = 0; }\n"
        "static void set(struct c *c, void *data) { c->data = data; reset(c); }\n"
        "int f(struct c *c) { int *p = malloc(4); if (!p) return 1; *p = 1; set(c, p); return 0; }",
        {"library-result", "reachable"},
    ),
    "split where there is a text": (
        "int f(char *s) { if (*s == 'a') s++; char *p = strsep(&s, \",\"); return *p; }",
        {"library-search", "found-before", "straight"},
    ),
    "split where a caller has a text": (
        'static int g(char *s) { char *p = strsep(&s, ","); return *p; }\nint f(char *t) { return *t ? g(t) : 0; }',
        {"library-search", "found-before", "straight"},
    ),
    "split what was split before": (
        'int f(char *s) { if (!*s) return 0; strsep(&s, ","); char *p = strsep(&s, ","); return *p; }',
        {"library-search", "straight"},
    ),
    "asked for nothing": (
        "_Noreturn void die(void);\nstatic void *g(size_t n) { void *p = malloc(n); if (!p && n) die(); return p; }\n"
        "int f(size_t n) { int *p = g(n * sizeof(int)); int r = *p; free(p); return r; }",
        {"function-result", "environment", "straight", "zero-asked"},
    ),
    "asked for something": (
        "_Noreturn void die(void);\nstatic void *g(size_t n) { void *p = malloc(n); if (!p && !n) die(); return p; }\n"
        "int f(size_t n) { int *p = g(n * sizeof(int)); int r = *p; free(p); return r; }",
        {"function-result", "environment", "straight"},
    ),
    "asked for a sum": (
        "_Noreturn void die(void);\nstatic void *g(size_t n) { void *p = malloc(n); if (!p && n) die(); return p; }\n"
        "char *f(const char *s) { size_t n = strlen(s) + 1; char *p = g(n); *p = *s; return p; }",
        {"function-result", "environment", "straight", "sum-wraps", "zero-asked"},
    ),
    "beside a call that decides a branch": (
        "struct w { int n; };\nstatic int g(struct w *w) { return w->n; }\n"
        'void f(struct w *w) { char *p = 0; int n = g(w); if (n > 3) p = "a"; *p = 0; }',
        {"null-constant"},
    ),
    "a library's result, beside a call that decides a branch": (
        "struct w { int n; };\nstatic int g(struct w *w) { return w->n; }\n"
        "int f(struct w *w) { char *p = malloc(9); int n = g(w); if (n > 3) { free(p); return 0; } *p = 0; free(p); return 1; }",
        {"library-result"},
    ),
    "grows unless a sum is 0": (
        "void f(const char *s) { char *p = 0; size_t n = 0; if (strlen(s) + 1 > n) { p = malloc(9); if (!p) return; }\n"
        "*p = 0; free(p); }",
        {"null-constant", "sum-wraps"},
    ),
    "grows unless a sum in another function is 0": (
        "static size_t g(size_t a, size_t b) { size_t c = a + b; return c >= a ? c : (size_t)-1; }\n"
        "void f(const char *s) { char *p = 0; size_t n = 0, m = g(strlen(s), 1); if (m > n) { p = malloc(9); if (!p) return; }\n"
        "*p = 0; free(p); }",
        {"null-constant", "sum-wraps"},
    ),
    "grows unless a number is 0": (
        "void f(const char *s) { char *p = 0; size_t n = 0; if (strlen(s) > n) { p = malloc(9); if (!p) return; }\n"
        "*p = 0; free(p); }",
        {"null-constant"},
    ),
    "grows unless a difference is 0": (
        "void f(size_t k) { char *p = 0; size_t n = 0; if (k + (size_t)-1 > n) { p = malloc(9); if (!p) return; }\n"
        "*p = 0; free(p); }",
        {"null-constant"},
    ),
    "kept unless a sum is 0": (
        "_Noreturn void die(void);\nstruct s { unsigned n; char *rows, *kept; };\n"
        "static void *g(size_t n) { void *p; if (n == 0) return 0; p = malloc(n); if (!p) die(); return p; }\n"
        "static int keep(struct s *s, char *p) { char *r = g(s->n + 1); if (!r) return 0; s->rows = r; s->kept = p; return 1; }\n"
        "void f(struct s *s) { char *p = malloc(9); if (!p) die(); keep(s, p); }",
        {"library-result", "sum-wraps"},
    ),
    "kept unless a number is 0": (
        "_Noreturn void die(void);\nstruct s { unsigned n; char *rows, *kept; };\n"
        "static void *g(size_t n) { void *p; if (n == 0) return 0; p = malloc(n); if (!p) die(); return p; }\n"
        "static int keep(struct s *s, char *p) { char *r = g(s->n); if (!r) return 0; s->rows = r; s->kept = p; return 1; }\n"
        "void f(struct s *s) { char *p = malloc(9); if (!p) die(); keep(s, p); }",
        {"library-result"},
    ),
    "asked for a difference": (
        "_Noreturn void die(void);\nstatic void *g(size_t n) { void *p = malloc(n); if (!p && n) die(); return p; }\n"
        "char *f(size_t n) { char *p = g(n - 1); *p = 0; return p; }",
        {"function-result", "environment", "straight", "zero-asked"},
    ),
    "handed on by name after it was freed": (
        "static int g(const char *p, int n) { if (n > 3) return 1; return p[n]; }\n"
        "int f(char *p, int n) { free(p); return g(p, n); }",
        {"released-here"},
    ),
    "handed on from memory after it was freed": (
        "static int g(const char *p, int n) { if (n > 3) return 1; return p[n]; }\n"
        "int f(char **p, int n) { free(*p); return g(*p, n); }",
        {"argument"},
    ),
    "freed by a function that unlinks it": (
        "struct n { int v; struct n *next; };\nstruct l { struct n *head, *kept; };\n"
        "static void drop(struct n *n, struct l *l) { struct n **at = &l->head; *at = 0; free(n); }\n"
        "void f(struct l *l) { while (l->head) drop(l->head, l); }",
        {"released-here", "in-memory"},
    ),
    "freed by a function that unlinks others": (
        "struct n { int v; struct n *next; };\nstruct l { struct n *head, *kept; };\n"
        "static void drop(struct n *n, struct l *l) { l->kept = 0; free(n); }\n"
        "void f(struct l *l) { while (l->head) drop(l->head, l); }",
        {"released-here"},
    ),
    "the environment is asked twice": (
        'int f(char *b) { if (getenv("X")) strcpy(b, getenv("X")); return 0; }',
        {"library-result", "answered-before", "others-test", "straight"},
    ),
    "the environment is asked for something else": (
        'int f(char *b) { if (getenv("Y")) strcpy(b, getenv("X")); return 0; }',
        {"library-result", "others-test", "straight"},
    ),
    "the environment is asked twice, and changed in between": (
        'int f(char *b) { if (getenv("X")) { unsetenv("X"); strcpy(b, getenv("X")); } return 0; }',
        {"library-result", "others-test", "straight"},
    ),
    "the environment is asked again in a function": (
        'static void g(char *b) { strcpy(b, getenv("X")); }\nint f(char *b) { if (getenv("X")) g(b); return 0; }',
        {"library-result", "answered-before", "others-test", "straight"},
    ),
    "result asserted": ("int g(int);\nvoid f(int n) { int r = g(n); if (r != 0) { assert(r == 0); } }", {"result-asserted"}),
    **{
        f"a character is looked for in a string, {test}": (
            f"int f(char *s) {{ if ({test}) return 0; char *p = strrchr(s, '/'); return *p; }}",
            {"library-search", "straight", *found},
        )
        for test, found in {
            "s[0] != '/'": ("found-before",),
            "!(*s == '/')": ("found-before",),
            "s[0] == '/'": (),
            "s[1] != '/'": (),
            "s[0] != '.'": (),
        }.items()
    },
    "a character is looked for in what another string begins with": (
        "int f(char *s, char *t) { if (*t != '/') return 0; char *p = strrchr(s, '/'); return *p; }",
        {"library-search", "straight"},
    ),
    **{
        f"an owner of which {test} is asked": (
            "struct s { char *name; char *text; unsigned flags; int kind; struct s *next; }; static struct s *all;\n"
            "void add(char *t) { struct s *p = malloc(sizeof *p); if (!p) return; p->name = strdup(t); p->text = strdup(t);\n"
            "p->flags = 0; p->kind = 0; p->next = all; all = p; }\n"
            "void drop(void) { struct s *p = all; if (!p) return; all = p->next; free(p->name); free(p->text); free(p); }\n"
            f"void f(void) {{ struct s *p = all; if (!p) return; if ({test}) {{ all = p->next; free(p->name);\nfree(p); }} }}",
            {"owned-member", *tagged},
        )
        for test, tagged in {
            "p->flags & 4": ("tagged-owner",),
            "(p->flags & 4) != 0": ("tagged-owner",),
            "p->kind == 2": ("tagged-owner",),
            "p->flags": (),
            "p->kind == 0": (),
            "!(p->flags & 4)": (),
            "p->kind != 2": (),
        }.items()
    },
    "an owner of which the count is asked": (
        "struct s { char *name; char *text; int refs; struct s *next; }; static struct s *all;\n"
        "void add(char *t) { struct s *p = malloc(sizeof *p); if (!p) return; p->name = strdup(t); p->text = strdup(t);\n"
        "p->refs = 1; p->next = all; all = p; }\n"
        "void drop(void) { struct s *p = all; if (!p) return; all = p->next; free(p->name); free(p->text); free(p); }\n"
        "void f(void) { struct s *p = all; if (!p) return; if (p->refs == 1) { all = p->next; free(p->name);\n"
        "free(p); } else p->refs--; }",
        {"owned-member"},
    ),
    "an owner of which the count is that of another one": (
        "struct s { char *name; char *text; int refs; struct s *next; }; static struct s *all;\n"
        "void add(char *t) { struct s *p = malloc(sizeof *p); if (!p) return; p->name = strdup(t); p->text = strdup(t);\n"
        "p->refs = 1; p->next = all; all = p; }\n"
        "void drop(void) { struct s *p = all; if (!p) return; all = p->next; free(p->name); free(p->text); free(p); }\n"
        "void f(int n) { struct s *p = all; if (!p) return; if (p->refs == 1) { all = p->next; free(p->name);\n"
        "free(p); } else p->refs = n - 1; }",
        {"owned-member", "tagged-owner"},
    ),
    **{
        f"a loop that would keep a block {way}": (
            "struct c { int *of[9]; };\nstatic int *put(struct c *c, int from, int to) { int *e = malloc(4); if (!e) return 0;\n"
            f"{loop} return e; }}\nint f(struct c *c, int n) {{ if (!put(c, n, n + 1)) exit(1); return 0; }}",
            seen,
        )
        for way, loop, seen in (
            ("is skipped", "for (int i = from; i < to; i++) c->of[i] = e;", {"allocated-elsewhere", "loop-skipped"}),
            ("keeps another one", "for (int i = from; i < to; i++) c->of[i] = 0;", {"library-result"}),
        )
    },
    "result of the program asserted": (
        "int g(int n) { return n > 9 ? 0 : -1; }\nvoid f(int n) { int r = g(n); assert(r == 0); }",
        {"own-result-asserted"},
    ),
    "result of a library function asserted": (
        "void f(void) { int r = getchar(); if (r != 4) { assert(r == 4); } }",
        {"result-asserted"},
    ),
    "argument asserted": ("static void g(int n) { assert(n > 3); }\nvoid f(void) { g(2); }", {"argument-asserted"}),
    "never, with words": ('void f(int n) { switch (n) { case 1: return; }\nassert(0 == "reached"); }', {"never-asserted"}),
    "never": ("void f(int n) { switch (n) { case 1: return; }\nassert(0); }", {"never-asserted"}),
    "many conditions": (
        "int g(int);\nint f(int n) { int *p = malloc(4); if (!p) return 0;\n"
        + "".join(f"if (g({i})) n += {i};\n" for i in range(8))
        + "return n; }",
        {"library-result", "many-conditions"},
    ),
}


@pytest.mark.parametrize("name", _CASES)
def test_what_is_seen(name: str, tmp_path: Path) -> None:
    text, expected = _CASES[name]
    path = tmp_path / "a.c"
    path.write_text(_HEAD + text, encoding="utf-8")
    checker = Checker(Options(engine="automaton"))
    checker.open([str(path)])
    assert _evidence(checker) == expected


def test_a_function_that_the_pointer_may_reach_instead_is_edited(tmp_path: Path) -> None:
    """The trace leads through one of two functions; the evidence depends on the other one, too."""
    text, alike = _CASES["released through a pointer, whichever function it reaches"]
    path = tmp_path / "a.c"
    path.write_text(_HEAD + text, encoding="utf-8")
    checker = Checker(Options(engine="automaton"))
    checker.open([str(path)])
    seen = [_evidence(checker)]
    for body in ("if (count++) free(p);", "count++; free(p);"):
        checker.change(str(path), _HEAD + text.replace("count++; free(p);", body))
        seen.append(_evidence(checker))
    assert seen == [alike, {"function-result", "function-pointer"}, alike]


@pytest.mark.parametrize("other", [3, 2])
def test_what_every_caller_passes_excludes_the_path(other: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search for a path from further up gives up at once."""
    monkeypatch.setattr(beginnings, "_STATES", 0)
    path = tmp_path / "a.c"
    path.write_text(
        "static int g(int *p, int flags) { int *s = 0; if (flags & 1) s = p; if (flags & 3) return *s; return 0; }\n"
        f"int main(int n, char **v) {{ return n > 2 ? g(&n, 0) : g(&n, {other}); }}",
        encoding="utf-8",
    )
    checker = Checker(Options(engine="automaton", limits=Limits(global_edges=1)))
    checker.open([str(path)])
    assert _evidence(checker) == {"null-constant"} | ({"way-unknown"} if other == 3 else set())


def test_what_the_caller_does_before_is_not_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path is excluded by what a variable holds when the program starts, and `main` sets it."""
    monkeypatch.setattr(beginnings, "_STATES", 0)
    path = tmp_path / "a.c"
    path.write_text(
        "static int verbose, count;\nstatic int g(int *p) { int *s = 0; if (count) s = p; if (verbose) return *s; return 0; }\n"
        "int main(int n, char **v) { while (n > 1) { verbose += n; n--; } return g(&n); }",
        encoding="utf-8",
    )
    checker = Checker(Options(engine="automaton", limits=Limits(global_edges=1)))
    checker.open([str(path)])
    assert _evidence(checker) == {"null-constant"}


def _evidence(checker: Checker) -> set[Evidence]:
    [finding] = checker.check().findings
    return set(finding.evidence)
