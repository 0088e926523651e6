"""Closed sets of memory states accept nothing that a run of the function can violate, or that cannot be known of a function that
is called in any state. The class: a pointer to a block goes where it is not followed, or the block ends unseen."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from analysis.certificate.ownership.closed_checker import NOTHING, obstacle, refusal
from analysis.certificate.ownership.closed_search import ClosedSearch
from analysis.cfa.graph import Program
from analysis.cfa.linking.link import link
from tests.support.lowered import unit_of

HEAD = """typedef unsigned long size_t; typedef struct F FILE; struct F *stderr;
void *malloc(size_t); void *calloc(size_t, size_t); void *realloc(void *, size_t); void free(void *); char *strdup(const char *);
FILE *fopen(const char *, const char *); int fclose(FILE *); int fputs(const char *, FILE *); char *fgets(char *, int, FILE *);
void *memcpy(void *, const void *, size_t); char *strchr(const char *, int); long strtol(const char *, char **, int);
char *strtok(char *, const char *); char *strsep(char **, const char *); int printf(const char *, ...); void exit(int);
int sscanf(const char *, const char *, ...); long getline(char **, size_t *, FILE *); int asprintf(char **, const char *, ...);
void *memset(void *, int, size_t); int putenv(char *); int atexit(void (*)(void)); int open(const char *, int, ...);
typedef struct { long v[8]; } jmp_buf[1]; int setjmp(jmp_buf); void longjmp(jmp_buf, int);
void (*signal(int, void (*)(int)))(int);
void qsort(void *, size_t, size_t, int (*)(const void *, const void *)); int opaque(); char *given(void); void ext(char *);
int pthread_create(unsigned long *, const void *, void *(*)(void *), void *); FILE *freopen(const char *, const char *, FILE *);
struct node { int v; struct node *next; char *name; }; struct node *head; char *g; static char *kept; static jmp_buf env;
union u { char *p; unsigned long n; };
"""
FREE, USE, LEAK = ("double-free", "invalid-free"), ("use-after-free",), ("memory-leak",)
CLOSE, OPEN = ("use-after-close",), ("resource-leak",)


_PRINTS = "int vsnprintf(char *, size_t, const char *, __builtin_va_list);"
_LIST = "__builtin_va_list a; __builtin_va_start(a, s);"


class Case(NamedTuple):
    """A program, whose function `f` is not proved for the rules."""

    name: str
    text: str
    rules: tuple[str, ...]


def _block(name: str, body: str, rules: tuple[str, ...], parameters: str = "int n, char *s") -> Case:
    return Case(name, f"void f({parameters}) {{ char *p = malloc(8); if (!p) return; {body} }}", rules)


_TWO = "struct two { struct node *a, *b; }; void f(struct two *t, int n)"
_OVERLAID = "struct over { union u *u; }; void f(struct over *t)"

CASES = (
    # pointers in memory that become others than those that they were
    Case("it becomes another one that moved", f"{_TWO} {{ t->a->name = t->b->name + 1; }}", LEAK),
    Case("it becomes one of two", f"{_TWO} {{ t->a->name = (n ? t->a->name : t->b->name) + 1; }}", LEAK),
    Case("it becomes a number", f"{_TWO} {{ t->a->name = (char *)((long)t->a->name + 1); }}", LEAK),
    Case("it shares its bytes", f"{_OVERLAID} {{ t->u->p = t->u->p + 1; }}", LEAK),
    # blocks that are freed by what lies in front of a pointer
    Case(
        "its start is computed by a callee",
        "static void h(char *q) { if (q) free(q - 8); } void f(void) { char *p = malloc(9); if (p) h(p + 8); }",
        FREE,
    ),
    Case("null, from which a callee computes a start", "static void h(char *q) { free(q - 8); } void f(void) { h(0); }", FREE),
    Case("a member is freed", "void f(struct node *q) { free(&q->name); }", FREE),
    Case("behind what is in front of it", "void f(char *q) { char *r = q - 8; free(r + 4); }", FREE),
    Case("it may be the number of a file", f'{_TWO} {{ t->a->name++; }} int h(void) {{ return open("a", 0); }}', OPEN),
    # what the function does with its own block
    _block("freed twice", "free(p); free(p);", FREE),
    _block("freed twice on a path", "if (n) free(p); free(p);", FREE),
    _block("freed by a copy", "char *q = p; free(q); free(p);", FREE),
    _block("freed by the second copy", "char *q, *r; q = r = p; free(q); r[0] = 1;", USE),
    _block("read after it was freed", "free(p); n = p[0];", USE),
    _block("written after it was freed", "free(p); *p = 1;", USE),
    _block("read inside after it was freed", "char *q = p + 2; free(p); n = *q;", USE),
    _block("passed after it was freed", 'free(p); printf("%s", p);', USE),
    _block("freed inside", "free(p + 1);", FREE),
    Case("freed by its second member", "void f(void) { struct node *p = malloc(24); if (p) free(&p->next); }", FREE),
    Case(
        "freed by what follows a bit-field without a name",
        "struct b { int : 5; struct { int y; int z; }; }; void f(void) { struct b *p = malloc(12); if (p) free(&p->y); }",
        FREE,
    ),
    Case(
        "freed by the second of two anonymous members",
        "struct b { struct { int x; }; struct { int y; }; }; void f(void) { struct b *p = malloc(8); if (p) free(&p->y); }",
        FREE,
    ),
    Case(
        "freed by an element of an array",
        "struct b { int a[2]; }; void f(void) { struct b *p = malloc(8); if (p) free(&p->a[1]); }",
        FREE,
    ),
    Case(
        "one of two blocks is returned",
        "char *f(void) { char *p = malloc(2), *q = malloc(2); if (!p) free(q); return p; }",
        LEAK,
    ),
    Case(
        "a callee returns the second of two anonymous members, which is freed",
        "struct b { struct { int x; }; union { int y; char c; }; }; "
        "static int *h(void) { struct b *p = malloc(8); return p ? &p->y : 0; } void f(void) { free(h()); }",
        FREE + LEAK,
    ),
    Case(
        "a callee returns a pointer into it, which is freed",
        "static char *h(void) { char *q = malloc(9); return q ? q + 8 : 0; } void f(void) { char *p = h(); free(p); }",
        FREE + LEAK,
    ),
    Case(
        "a callee returns a pointer into it, which is lost",
        "static char *h(void) { char *q = malloc(9); return q ? q + 8 : 0; } void f(void) { char *p = h(); if (p) *p = 1; }",
        LEAK,
    ),
    Case(
        "a callee returns its first member, which is freed twice",
        "struct all { struct node n; int k; }; static struct node "
        "*h(void) { struct all *a = malloc(40); return a ? &a->n : 0; } void f(void) { struct node *n = h(); free(n); free(n); }",
        FREE,
    ),
    Case("what holds a block is freed by its first member", "void f(struct node *p) { free(&p->v); }", LEAK),
    Case(
        "what holds a block is freed by a pointer to its first member",
        "void f(struct node *p) { int *q = &p->v; free(q); }",
        LEAK,
    ),
    Case("what a global leads to is freed by its first member", "void f(void) { free(&head->v); }", LEAK),
    _block("freed after it was moved", "p++; free(p);", FREE),
    _block("freed after += moved it", "p += n; free(p);", FREE),
    _block("freed in a loop", "for (int i = 0; i < n; i++) free(p);", FREE),
    _block("not freed on a path", "if (n) return; free(p);", LEAK),
    _block("assigned over", "p = malloc(4); free(p);", LEAK),
    _block("null assigned over", "p = 0;", LEAK),
    _block("only a number is left", "unsigned long a = (unsigned long)p; free((char *)a);", FREE + LEAK),
    _block("a number goes to memory", "static unsigned long a; a = (unsigned long)p; opaque(); free(p);", FREE),
    _block("lost before the program ends", "p = 0; exit(1);", LEAK),
    _block("lost before an endless loop", "p = 0; for (;;) n++;", LEAK),
    _block("a switch frees and falls through", "switch (n) { case 1: free(p); case 2: free(p); default: ; }", FREE),
    _block("goto to a free", "if (n) { free(p); goto end; } n = 3; end: free(p);", FREE),
    _block("goto back over a free", "again: free(p); if (opaque()) goto again;", FREE),
    _block("?: chooses one of two", "char *q = malloc(4); char *r = n ? p : q; free(r); free(p);", FREE),
    _block("a comma frees first", "n = (free(p), p[0]);", USE),
    _block("&& frees before the use", "if (n && (free(p), 1) && p[0]) n = 2;", USE),
    _block("loops lose all but the last", "for (int i = 0; i < n; i++) p = malloc(2); free(p);", LEAK),
    # the pointer goes elsewhere
    _block("stored in a global", "g = p; opaque(); free(p);", FREE),
    _block("stored in a static local", "static char *last; last = p; opaque(); free(p);", FREE),
    _block("stored behind a parameter", "*o = p; opaque(); free(p);", FREE, "char **o"),
    _block("stored in a structure that is passed", "struct node a; a.name = p; opaque(&a); free(p);", FREE),
    _block("stored in an array", "char *a[2]; a[0] = p; opaque(a); free(p);", FREE),
    _block("stored in a union", "union u a; a.p = p; opaque(a.n); free(p);", FREE),
    _block("stored in a copied structure", "struct node a, b; a.name = p; b = a; opaque(b); free(p);", FREE),
    _block("stored in a compound literal", "opaque((struct node){.name = p}); free(p);", FREE),
    _block("its address is taken", "char **q = &p; free(*q); free(p);", FREE + LEAK),
    _block("its address is passed", "opaque(&p); free(p);", FREE),
    _block("passed to unknown code", "opaque(p); free(p);", FREE + LEAK),
    _block("passed on as a further argument", "opaque(1, 2, p); free(p);", FREE),
    _block("passed on through a pointer", "void (*h)(char *) = ext; h(p); free(p);", FREE),
    _block("kept by the library", "putenv(p); free(p);", FREE),
    _block("strtol says where it ends", "char *e; strtol(p, &e, 10); ext(e); free(p);", FREE),
    _block("strtok keeps it", 'strtok(p, ","); ext(strtok(0, ",")); free(p);', FREE),
    _block("its bytes are copied", "char *q; memcpy(&q, &p, sizeof p); free(q); free(p);", FREE),
    _block("stored in its own list", "head->next = (struct node *)p;", LEAK),
    _block("a signal handler may see it", "kept = p; signal(2, (void (*)(int))0); free(p);", FREE),
    _block("the end of the program frees it", "kept = p; atexit(0); free(p);", FREE + LEAK),
    _block("another thread has it", "unsigned long t; pthread_create(&t, 0, 0, p); free(p);", FREE),
    _block("sorted by code of the program", "qsort(p, 2, 4, 0); free(p);", LEAK),
    _block("returned from inside", "g = p + 1;", LEAK),
    # blocks of others
    Case("a parameter is freed", "void f(char *p) { free(p); }", (*FREE, *LEAK)),
    Case("a parameter is read", "int f(char *p) { char *q = malloc(1); free(q); return *p; }", USE),
    Case("a global is freed", "void f(void) { free(g); }", (*FREE, *LEAK)),
    Case("a global is read", "int f(void) { free(malloc(1)); return *g; }", USE),
    Case("a field is freed", "void f(struct node *n) { free(n->name); }", (*FREE, *USE, *LEAK)),
    Case("an element is freed", "void f(char **a) { for (int i = 0; i < 3; i++) free(a[i]); }", (*FREE, *USE)),
    Case("unknown code returns it", "void f(void) { char *p = given(); free(p); }", (*FREE, *LEAK)),
    Case("a variable is freed", "void f(void) { char a[4]; free(a); }", FREE),
    Case("a literal is freed", 'void f(int n) { char *p = "x"; if (n) p = strdup(p); free(p); }', FREE),
    Case("nothing was assigned", "void f(int n) { char *p; if (n) p = malloc(2); free(p); }", FREE),
    Case("a parameter is freed by realloc", "void f(char *p) { char *q = realloc(p, 4); free(q); }", FREE),
    Case("a node is freed by realloc", "void f(struct node *p) { struct node *q = realloc(p, 24); free(q); }", (*FREE, *LEAK)),
    Case("a node is freed", "void f(struct node *p) { free(malloc(1)); free(p); }", (*FREE, *LEAK)),
    Case("a node is freed as anything", "void f(void *p) { free(malloc(1)); free(p); }", (*FREE, *LEAK)),
    Case("a node is freed as characters", "void f(struct node *p) { char *q = (char *)p; free(malloc(1)); free(q); }", LEAK),
    Case("a list of characters is freed", "void f(char **p) { free(malloc(1)); free(p); }", LEAK),
    Case("a part of a union is freed", "void f(union u *p) { free(malloc(1)); free(p); }", LEAK),
    Case(
        "a callee frees a node",
        "static void h(struct node *q) { free(q); } void f(struct node *p) { free(malloc(1)); h(p); }",
        LEAK,
    ),
    Case(
        "a format that is not known",
        f"{_PRINTS} void f(char *s, ...) {{ {_LIST} vsnprintf(s, 2, s, a); free(malloc(1)); }}",
        OPEN,
    ),
    Case(
        "a format writes where pointers may be",
        f"{_PRINTS} void f(struct node *n, char *s, ...) {{ {_LIST} vsnprintf((char *)n, 24, s, a); free(malloc(1)); }}",
        LEAK,
    ),
    Case("a global loses its block", "void f(void) { free(malloc(1)); g = 0; }", LEAK),
    Case("a list loses its head", "void f(void) { free(malloc(1)); head = head->next; }", LEAK),
    Case("a field loses its block", "void f(struct node *n) { free(malloc(1)); n->name = 0; }", LEAK),
    Case("a structure loses its blocks", "void f(struct node *n) { free(malloc(1)); memset(n, 0, sizeof *n); }", LEAK),
    Case("a structure is assigned", "void f(struct node *n) { struct node a = {0}; free(malloc(1)); *n = a; }", LEAK),
    Case(
        "inside its own block",
        "void f(void) { struct node *n = malloc(24); if (!n) return; n->name = malloc(2); free(n); }",
        LEAK,
    ),
    Case("a volatile pointer", "void f(void) { char *volatile p = malloc(2); free(p); free(p); }", FREE),
    Case("the other kind of end", 'void f(void) { FILE *p = fopen("a", "r"); free(p); }', FREE),
    # resizing
    _block("resized, and the old one used", "char *q = realloc(p, 16); if (q) { p[0] = 1; free(q); } else free(p);", USE),
    _block("resized, and the old one freed", "char *q = realloc(p, 16); free(p); free(q);", FREE),
    _block("resized over itself", "p = realloc(p, 16); free(p);", LEAK),
    _block("resized to a size that may be 0", "char *q = realloc(p, n); if (q) free(q); else free(p);", FREE),
    _block("a pointer into it, resized", "char *e = p + 1; p = realloc(p, 16); if (p) *e = 1; free(p);", USE),
    # functions of the program
    Case("a callee frees it", "static void h(char *q) { free(q); } void f(void) { char *p = malloc(2); h(p); free(p); }", FREE),
    Case(
        "a callee may free it",
        "static void h(char *q, int n) { if (n) free(q); } void f(int n) { char *p = malloc(2); h(p, n); free(p); }",
        FREE,
    ),
    Case(
        "a callee keeps it",
        "static void h(char *q) { kept = q; } void k(void) { free(kept); } void f(void) { char *p = malloc(2); h(p); "
        "k(); free(p); }",
        FREE,
    ),
    Case(
        "a callee returns it",
        "static char *h(char *q) { return q; } void f(void) { char *p = malloc(2); free(h(p)); free(p); }",
        FREE,
    ),
    Case(
        "a callee returns a part of it",
        "static char *h(char *q) { return q + 1; } void f(void) { char *p = malloc(2); if (p) free(h(p)); }",
        FREE + LEAK,
    ),
    Case(
        "a callee resizes it",
        "static char *h(char *q) { return realloc(q, 9); } void f(void) { char *p = malloc(2); char *q = h(p); "
        "free(q); free(p); }",
        FREE,
    ),
    Case(
        "a callee of a callee frees it",
        "static void i(char *q) { free(q); } static void h(char *q) { i(q); } void f(void) { char *p = malloc(2); "
        "h(p); if (p) *p = 1; }",
        USE,
    ),
    Case(
        "it is passed twice",
        "static void h(char *q, char *r) { free(q); free(r); } void f(void) { char *p = malloc(2); h(p, p); }",
        FREE + LEAK,
    ),
    Case(
        "it is passed twice, once inside",
        "static void h(char *q, char *r) { free(q); *r = 1; } void f(void) { char *p = malloc(2); if (p) h(p, p + 1); }",
        LEAK,
    ),
    Case(
        "recursion frees it",
        "static void h(char *q, int n) { if (n) h(q, n - 1); else free(q); } void f(void) { char *p = malloc(2); "
        "h(p, 3); free(p); }",
        FREE,
    ),
    Case(
        "recursion of the function itself",
        "void f(char *p, int n) { char *q = malloc(2); if (n) f(q, 0); free(p); free(q); }",
        FREE,
    ),
    Case(
        "a callee takes it as a number",
        "static void h(unsigned long q) { free((void *)q); } void f(void) { char *p = malloc(2); h((unsigned long)p); free(p); }",
        FREE,
    ),
    Case(
        "a callee without a prototype",
        "static void h(q) char *q; { free(q); } void f(void) { char *p = malloc(2); h(p); free(p); }",
        FREE,
    ),
    Case(
        "a variadic callee",
        "static void h(int n, ...) { __builtin_va_list a; __builtin_va_start(a, n); "
        "free(__builtin_va_arg(a, char *)); } void f(void) { char *p = malloc(2); h(1, p); free(p); }",
        FREE,
    ),
    Case(
        "one of several callees",
        "static void h(char *q) { free(q); } static void i(char *q) { } void (*t[2])(char *) = {h, i}; void f(int n) "
        "{ char *p = malloc(2); t[n](p); free(p); }",
        FREE,
    ),
    Case(
        "passed again to one of several callees",
        "static void h(char *q) { free(q); } static void i(char *q) { } void (*t[2])(char *) = {h, i}; void f(int n) "
        "{ char *p = 0; free(malloc(1)); while (n--) { if (!p) p = malloc(2); t[n & 1](p); } }",
        FREE,
    ),
    Case(
        "a callee frees it where it is null",
        "static void h(char *q) { if (!q) free(q); } void f(void) { char *p = malloc(2); h(p); }",
        LEAK,
    ),
    Case(
        "a callee frees it where a copy is not null",
        "static void h(char *q) { char *r = q; q = 0; if (!q) free(r); } void f(void) { char *p = malloc(2); h(p); free(p); }",
        FREE,
    ),
    Case(
        "a callee frees it twice",
        "static void h(char *q) { free(q); free(q); } void f(void) { char *p = malloc(2); h(p); }",
        FREE,
    ),
    Case("a callee frees it inside", "static void h(char *q) { free(q + 1); } void f(void) { char *p = malloc(2); h(p); }", FREE),
    Case(
        "functions below free it twice",
        "static void i(char *q) { free(q); } static void h(char *q) { i(q); i(q); } void f(void) { char *p = malloc(2); h(p); }",
        FREE,
    ),
    Case("a new block of a callee", "static char *h(void) { return malloc(2); } void f(void) { h(); }", LEAK),
    Case(
        "a new block of a callee, on a path",
        "static char *h(int n) { return n ? malloc(2) : 0; } void f(int n) { char *p = h(n); if (n > 3) return; free(p); }",
        LEAK,
    ),
    Case("a new block through a parameter", "static void h(char **o) { *o = malloc(2); } void f(void) { char *p; h(&p); }", LEAK),
    Case(
        "a new block in a structure",
        "static struct node h(void) { struct node n = {0}; n.name = malloc(2); return n; } void f(void) { struct node n = h(); }",
        LEAK,
    ),
    Case(
        "a block out of a global list",
        "static struct node *h(void) { struct node *n = head; head = n->next; return n; } void f(void) "
        "{ struct node *n = h(); free(malloc(1)); }",
        LEAK,
    ),
    Case(
        "a callee drops what it makes",
        "static void h(void) { char *p = malloc(2); p[0] = 1; } void f(void) { h(); char *p = malloc(2); p[0] = 1; }",
        LEAK,
    ),
    Case(
        "a callee returns what it freed",
        "static char *h(void) { char *p = malloc(2); free(p); return p; } void f(void) { char *p = h(); free(p); }",
        FREE,
    ),
    Case(
        "a callee returns a block that it keeps",
        "static char *h(void) { char *p = malloc(2); kept = p; return p; } void k(void) { free(kept); } void f(void) "
        "{ char *p = h(); k(); free(p); }",
        FREE,
    ),
    Case(
        "a callee jumps out", "static void h(void) { longjmp(env, 1); } void f(void) { char *p = malloc(2); h(); free(p); }", LEAK
    ),
    Case(
        "a callee may jump out",
        "static void h(void) { opaque(); exit(1); } void f(void) { char *p = malloc(2); if (!p) h(); free(p); }",
        LEAK,
    ),
    Case(
        "a callee ends the thread",
        "void end(void) __attribute__((noreturn)); static void h(void) { end(); } "
        "void f(int n) { char *p = malloc(2); if (n) h(); free(p); }",
        LEAK,
    ),
    Case(
        "a callee is not understood",
        'static void h(char *q) { __asm__("" : : "r"(q) : "memory"); __asm__("nop"); } void f(void) '
        "{ char *p = malloc(2); h(p); free(p); }",
        FREE,
    ),
    # control that is not plain
    _block("setjmp", "if (setjmp(env)) { free(p); return; } free(p);", FREE + LEAK),
    _block("longjmp", "if (n) longjmp(env, 1); free(p);", LEAK),
    _block("computed goto", "void *t = &&a; goto *t; a: free(p);", FREE),
    _block("assembler", '__asm__ volatile("nop" : "+r"(p)); free(p);', FREE),
    _block("cleanup", "__attribute__((cleanup(opaque))) char *q = p; free(p);", FREE),
    _block("a nested function", "void h(void) { free(p); } h(); free(p);", FREE),
    Case(
        "a jump past a declaration",
        "void f(int n) { goto in; { char *p = 0; again: p = 0; in: free(p); } if (n) goto again; }",
        FREE,
    ),
    Case(
        "a jump into a block again",
        "void f(int n) { int i = 0; more: if (i++) goto in; { char *p = malloc(2); in: free(p); } if (i < 2) goto more; }",
        FREE,
    ),
    Case("a case past a declaration", "void f(int n) { switch (n) { char *p; case 1: p = malloc(2); case 2: free(p); } }", FREE),
    # streams
    Case("closed twice", 'void f(void) { FILE *p = fopen("a", "r"); if (!p) return; fclose(p); fclose(p); }', CLOSE),
    Case(
        "used after it was closed", 'void f(void) { FILE *p = fopen("a", "w"); if (!p) return; fclose(p); fputs("x", p); }', CLOSE
    ),
    Case("a parameter is closed", "void f(FILE *p) { fclose(p); }", CLOSE),
    Case("a parameter is used", 'void f(FILE *p) { fputs("x", p); }', CLOSE),
    Case("a global is used", 'void f(void) { fputs("x", stderr); }', CLOSE),
    Case("not closed", 'int f(void) { char b[9]; FILE *p = fopen("a", "r"); return p && fgets(b, 9, p); }', (*OPEN, *LEAK)),
    Case(
        "not closed on a path",
        'int f(int n) { FILE *p = fopen("a", "r"); if (!p) return 1; if (n) return 2; fclose(p); return 0; }',
        OPEN,
    ),
    Case(
        "opened again",
        'void f(void) { FILE *p = fopen("a", "r"); if (!p) return; freopen("b", "r", p); fclose(p); }',
        (*OPEN, *CLOSE),
    ),
    Case("a descriptor", 'void f(void) { FILE *p = fopen("a", "r"); if (p) fclose(p); open("b", 0); }', OPEN),
    # library functions that allocate or free
    Case("getline", "void f(FILE *s) { char *p = 0; size_t n = 0; getline(&p, &n, s); }", LEAK),
    Case("getline frees", "void f(FILE *s, size_t n) { char *p = malloc(1), *q = p; getline(&p, &n, s); free(q); }", FREE),
    Case("asprintf", 'void f(void) { char *p; asprintf(&p, "x"); free(malloc(1)); }', LEAK),
    Case("sscanf allocates", 'void f(char *s) { char *p; sscanf(s, "%ms", &p); free(malloc(1)); }', LEAK),
    Case("strsep", 'void f(void) { char *p = strdup("a"), *q = p; strsep(&p, ","); free(p); free(q); }', FREE),
    Case("strchr", 'void f(void) { char *p = strdup("a"); if (p) free(strchr(p, 97)); }', FREE + LEAK),
    Case(
        "attributes that start code",
        "__attribute__((constructor)) static void h(void) { } void f(void) { free(malloc(1)); }",
        FREE + LEAK,
    ),
)


def program(text: str) -> Program:
    return link([unit_of(HEAD + text)]).program


def why(of: Program, rule: str, function: str = "f") -> str:
    """Why a rule is not proved of a function; empty if it is."""
    followed = ClosedSearch(of).follow(function)
    assert followed is not None
    return obstacle(of, rule) or refusal(of, followed.found, function, rule)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_may_violate_is_not_proved(case: Case) -> None:
    of = program(case.text)
    assert "f" in of.functions
    for rule in case.rules:
        assert why(of, rule), f"{rule} is proved"


@pytest.mark.parametrize("case", [case for case in CASES if "is freed by" in case.name], ids=lambda case: case.name)
def test_what_is_lost_with_a_block_is_not_said_to_be_impossible(case: Case) -> None:
    """A refusal with another reason would pass for one of these."""
    assert [rule for rule in case.rules if NOTHING in why(program(case.text), rule)] == []


@pytest.mark.parametrize(
    ("first", "second", "rules"),
    [
        ("void h(char *); void f(void) { char *p = malloc(2); h(p); free(p); }", "void h(char *q) { free(q); }", FREE),
        ("extern char *o; void f(void) { char *p = malloc(2); o = p; free(p); }", "char *o; void k(void) { free(o); }", LEAK),
        ("char *h(void); void f(void) { h(); }", "char *h(void) { return malloc(2); }", LEAK),
        ("static void h(char *q) { } void f(void) { char *p = malloc(2); h(p); }", "static void h(char *q) { free(q); }", LEAK),
        (
            "void h(char *); void f(void) { char *p = malloc(2); h(p); free(p); }",
            "void h(char *q, int n) { if (n) free(q); }",
            FREE,
        ),
    ],
)
def test_functions_of_other_files_are_those_that_are_called(first: str, second: str, rules: tuple[str, ...]) -> None:
    of = link([unit_of(HEAD + first, "a.c"), unit_of(HEAD + second, "b.c")]).program
    assert all(why(of, rule) for rule in rules)
