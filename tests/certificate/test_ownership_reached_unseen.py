"""Closed sets of memory states see what is reached without a pointer to it in the function.

The classes: library functions access blocks that they are not passed themselves (kept by an earlier call, behind a pointer in an
object, in a list of arguments, as the buffer of a stream); what leads to a block is overwritten as a number or as characters
(through a union, another type of pointer, or an address that was a number); a number that is all that says of an open file is
overwritten."""

from __future__ import annotations

import pytest

from tests.certificate.test_ownership_refused import CLOSE, LEAK, OPEN, USE, program, why

HEAD = """union both { char *p; unsigned long n; char b[8]; }; union both both; struct has { int k; union { char *p; long n; }; };
struct pair { long n; char *p; }; struct file { int fd; signed char small; char name[8]; }; int descriptor; char *pointers[2];
int vprintf(const char *, __builtin_va_list); int setvbuf(FILE *, char *, int, size_t); long read(int, void *, size_t);
static void zero(char *b, int n) { while (n--) *b++ = 0; }
static void zero_any(void *v, int n) { char *b = v; while (n--) *b++ = 0; }
static void unlike(b, n) char *b; int n; { zero(b, n); }
static void zero_number(long *n) { *n = 0; } static void reset(void) { descriptor = 0; }
"""
OWN = "char *o = malloc(1); if (!o) return; o[0] = 1; free(o); "
STREAM = 'FILE *o = fopen("a", "r"); if (!o) return; fclose(o); '


@pytest.mark.parametrize(
    "body",
    [
        "char *p = strdup(\"a\"), *q = p; char **a = &q; free(p); strsep(a, \",\");",
        "char *p = strdup(\"a\"); strtok(p, \",\"); free(p); strtok(0, \",\");",
        "strtok(0, \",\");",
        "char *p = strdup(\"a\"), *q = p; size_t n = 1; free(p); getline(&q, &n, 0);",
        "__builtin_va_list a; __builtin_va_start(a, s); vprintf(s, a);",
    ],
)  # fmt: skip
def test_library_functions_access_what_they_are_not_passed(body: str) -> None:
    of = program(f"{HEAD}void f(const char *s, ...) {{ {OWN}{body} }}")
    assert why(of, *USE)


@pytest.mark.parametrize("rule", [*USE, *CLOSE])
def test_a_buffer_of_the_program_is_accessed_by_other_calls(rule: str) -> None:
    body = f"{HEAD}void f(void) {{ {STREAM} char *p = malloc(1); if (p) p[0] = 1; free(p); }}"
    assert why(program(body), rule) == ""
    sets = "void buffer(FILE *s) { char *b = malloc(9); setvbuf(s, b, 0, 9); free(b); }"
    assert "are given buffers" in why(program(body + sets), rule)


@pytest.mark.parametrize(
    "body",
    [
        "both.n = 0;",
        "v->n = 0;",
        "v->b[1] = 0;",
        "memset(v->b, 0, 8);",
        "unsigned long *n = &v->n; *n = 0;",
        "h->n = 0;",
        "zero_number(&h->n);",
        "*(unsigned long *)&g = 0;",
        "char *b = (char *)&g; b[0] = 0;",
        "char *b = (char *)&g; memset(b, 0, 8);",
        "char *b = (char *)w; b[0] = 0;",
        "void *b = &g; char *c = b; c[0] = 0;",
        "zero((char *)&g, 8);",
        "zero_any(&g, 8);",
        "zero_any(w, 8);",
        "unlike(&g, 8);",
        "unsigned long a = (unsigned long)&g; *(char *)a = 0;",
        "unsigned long a = (unsigned long)&g; memset((void *)a, 0, 8);",
        "struct pair *m = (struct pair *)pointers; m->n = 0;",
        "void *b = pointers; struct pair *m = b; m->n = 0;",
    ],
)
def test_pointers_are_overwritten_as_something_else(body: str) -> None:
    assert why(program(f"{HEAD}void f(union both *v, struct has *h, char **w) {{ {OWN}{body} }}"), *LEAK)


@pytest.mark.parametrize(
    "body",
    [
        "h->k = 0;",
        "union both u; u.n = 0; u.b[0] = 1;",
        "struct has l; char *b = (char *)&l; b[0] = 0;",
        "struct pair *m = malloc(16); if (m) { char *b = (char *)m; b[0] = 0; m->n = 2; } free(m);",
        "long n = 1; zero_number(&n);",
        "char b[4]; zero(b, 4); memset(b, 0, 4);",
    ],
)
def test_numbers_are_numbers(body: str) -> None:
    assert why(program(f"{HEAD}void f(struct has *h) {{ {OWN}{body} }}"), *LEAK) == ""


@pytest.mark.parametrize(
    "body",
    [
        "descriptor = -1;",
        "s->fd = -1;",
        "s->small = -1;",
        "*n = -1;",
        "read(0, n, 4);",
        "struct file other = {0}; *s = other;",
        "memset(s->name, 0, sizeof *s);",
        "reset();",
    ],
)
def test_numbers_that_say_of_open_files_are_overwritten(body: str) -> None:
    of = program(f"{HEAD}void f(struct file *s, int *n) {{ {STREAM}{body} }}")
    assert why(of, *OPEN)
    assert why(of, *LEAK) == ""  # they lead to no memory


@pytest.mark.parametrize("body", ["int n = 3; n++; struct file l; l.fd = n;", "char b[4]; b[0] = 1; t[1] = 2;", "read(0, t, 2);"])
def test_characters_and_own_numbers_say_of_no_open_file(body: str) -> None:
    assert why(program(f"{HEAD}void f(char *t) {{ {STREAM}{body} }}"), *OPEN) == ""


_CLOSED = """typedef struct F FILE; FILE *fopen(const char *, const char *); int fclose(FILE *), puts(const char *);
struct file { int fd, n; }; static struct file all; int open(const char *, int, ...), fcntl(int, int, ...);
void f(struct file *s) { FILE *o = fopen("a", "r"); if (o) fclose(o); s->fd = -1; }
"""


@pytest.mark.parametrize(
    ("rest", "is_proved"),
    [
        ("int main(void) { f(&all); return 0; }", True),
        ('int main(void) { puts("a"); f(&all); return 0; }', True),
        ('int main(void) { all.fd = open("a", 0); f(&all); return 0; }', False),
        ("int main(void) { all.fd = fcntl(0, 0); f(&all); return 0; }", False),
        ("int dup2(int, int); int main(void) { all.fd = dup2(0, 9); f(&all); return 0; }", False),
        ("int pipe(int *); int main(void) { pipe(&all.fd); f(&all); return 0; }", False),
        ("int given(void); int main(void) { all.fd = given(); f(&all); return 0; }", False),
        ("void fill(struct file *); int main(void) { fill(&all); f(&all); return 0; }", False),
        ('int main(void) { int (*by)(const char *, int, ...) = open; all.fd = by("a", 0); f(&all); return 0; }', False),
        ("int (*of)(void); int main(void) { all.fd = of(); f(&all); return 0; }", False),
        ("int other(void) { f(&all); return 0; }", False),
    ],
)
def test_a_number_says_of_an_open_file_only_where_something_opens_one(rest: str, is_proved: bool) -> None:
    assert (why(program(_CLOSED + rest), *OPEN) == "") == is_proved
