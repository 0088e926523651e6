"""What is shown of functions without a solver: that they need nothing, what they need of their callers, or where it is open."""

from __future__ import annotations

import re

import msgspec
import pytest

from analysis.certificate import text
from analysis.certificate.nonzero.claims import FunctionNeeds, Requirements
from analysis.certificate.nonzero.needed_values import Rule
from analysis.certificate.nonzero.requirement_checker import check_requirements, conditions, open_place
from analysis.certificate.nonzero.requirement_search import RequirementSearch
from analysis.certificate.refusal import RefusedError
from analysis.cfa.graph import Program
from analysis.cfa.linking.link import link
from analysis.cfa.marks import with_places
from analysis.model import ir
from analysis.model.c_types import Pointer
from tests.support.lowered import unit_of

_HEAD = """typedef unsigned long size_t; void *malloc(size_t); void free(void *); size_t strlen(const char *); void exit(int);
char *strcpy(char *, const char *); void *memset(void *, int, size_t); char *getenv(const char *); void unknown(void);
void longjmp(int *, int); int setjmp(int *); void qsort(void *, size_t, size_t, int (*)(const void *, const void *));
struct s { int n; char *b; struct s *l; struct s *r; unsigned f : 2; }; int choose(void);
union u { int i; char *p; };
"""
_NULL: Rule = "null-dereference"
_ZERO: Rule = "division-by-zero"

# name, program, what f needs: nothing is "", and what is open begins with "?"
_FATAL = """int printf(const char *, ...); static void fatal(const char *t, const char *s);
static void done(void) { if (choose()) fatal("more", ""); exit(1); }
static void fatal(const char *t, const char *s) { printf(t, s); done(); }"""
_POINTERS = (
    ("a parameter", "int f(struct s *p) { return p->n; }", "p != NULL"),
    ("it is tested", "int f(struct s *p) { return p ? p->n : 0; }", ""),
    ("tested on one path", "int f(struct s *p, int k) { if (k && !p) return 0; return p->n; }", "p != NULL"),
    ("two pointers", "int f(struct s *p) { return p->l->n; }", "p != NULL, p->l != NULL"),
    ("what it leads to, if there is any", "int f(struct s *p) { return p ? p->l->n : 0; }", "p == NULL || p->l != NULL"),
    ("only one of two parameters", "int f(struct s *p, struct s *q) { return q ? p->n : 0; }", "p != NULL"),
    ("a list", "int f(struct s *p) { int n = 0; for (; p; p = p->l) n += p->n; return n; }", ""),
    ("a flag", "int f(struct s *p) { int ok = 0; if (p) ok = 1; if (!ok) return 0; return p->n; }", ""),
    ("an early return, by a copy", "int f(struct s *p) { struct s *q = p; if (!q) return 1; return p->n; }", ""),
    ("the address of a variable", "int f(void) { struct s x, *p = &x; p->n = 1; return p->n; }", ""),
    ("a string", "char f(void) { char *p = \"a\"; return *p; }", ""),
    ("malloc may fail", "int f(void) { int *p = malloc(4); return *p; }", "?`p` may be null"),
    ("malloc is tested", "int f(void) { int *p = malloc(4); if (!p) exit(1); return *p; }", ""),
    ("a wrapper that ends the program", "static void *x(size_t n) { void *p = malloc(n); if (!p) exit(1); return p; } "
    "int f(void) { int *p = x(4); return *p; }", ""),
    ("a callee needs it", "static int g(struct s *x) { return x->n; } int f(struct s *p) { return g(p); }", "p != NULL"),
    ("a callee needs it, and it is tested", "static int g(struct s *x) { return x->n; } "
    "int f(struct s *p) { return p ? g(p) : 0; }", ""),
    ("a callee needs it, and it is null", "static int g(struct s *x) { return x->n; } int f(void) { return g(0); }",
     "?which g() needs"),
    ("a callee may come without", "static int g(struct s *x, int k) { return k ? x->n : 0; } "
    "int f(struct s *p) { g(p, 0); return p->n; }", "p != NULL"),
    ("it is written by a callee", "static void g(struct s *x) { if (x) x->l = 0; } "
    "int f(struct s *p) { if (!p || !p->l) return 0; g(p); return p->l->n; }", "?`p->l` may be null"),
    ("another member is written by a callee", "static void g(struct s *x) { if (x) x->r = 0; } "
    "int f(struct s *p) { if (!p || !p->l) return 0; g(p); return p->l->n; }", ""),
    ("it is written by name", "int f(struct s *p) { if (!p) return 0; p = 0; return p->n; }", "?`p` may be null"),
    ("by another pointer", "int f(struct s *p, struct s *q) { if (!p || !q || !p->l) return 0; q->l = 0; return p->l->n; }",
     "?`p->l` may be null"),
    ("a number is written", "int f(struct s *p, struct s *q) { if (!p || !q || !p->l) return 0; q->n = 0; return p->l->n; }", ""),
    ("characters are written", "int f(struct s *p, char *q) { if (!p || !q || !p->l) return 0; *q = 0; return p->l->n; }",
     "?`p->l` may be null"),
    ("its address goes out", "static void g(struct s **x) { if (x) *x = 0; } "
    "int f(struct s *p) { if (!p) return 0; g(&p); return p->n; }", "?`p` may be null"),
    ("unknown code runs", "struct s *h; int f(void) { if (!h) return 0; unknown(); return h->n; }", "?`h` may be null"),
    ("unknown code leaves locals", "int f(struct s *p) { if (!p) return 0; unknown(); return p->n; }", ""),
    ("a union", "int f(char *s) { union u x; x.p = s; if (!s) return 0; x.i = 0; return *x.p; }", "?`x.p` may be null"),
    ("a library function needs it", "size_t f(const char *p) { return strlen(p); }", "p != NULL"),
    ("free takes null", "void f(char *p) { free(p); }", "!nothing"),
    ("a library function returns its argument", "char f(char *p) { return p ? *strcpy(p, \"a\") : 0; }", ""),
    ("a library function may return null", "char f(void) { return *getenv(\"A\"); }", "?may be null"),
    ("a library function writes to it", "int f(struct s *p) { if (!p || !p->l) return 0; "
     "memset(p, 0, sizeof *p); return p->l->n; }", "?`p->l` may be null"),
    ("the end of a number", "long strtol(const char *, char **, int); char f(char *p) { char *e; if (!p) return 0; "
    "strtol(p, &e, 10); return *e; }", ""),
    ("an element", "int f(int *p, int i) { return p[i]; }", "p != NULL"),
    ("a function pointer", "int f(int (*p)(void)) { return p(); }", "p != NULL"),
    ("recursion", "int f(struct s *p) { return p->n ? f(p) : 0; }", "p != NULL"),
    ("recursion down a list", "int f(struct s *p) { return p ? 1 + f(p->l) : 0; }", ""),
    ("functions that call each other", "static int g(struct s *x); int f(struct s *p) { return p->n ? g(p) : 0; } "
    "static int g(struct s *x) { return f(x); }", "p != NULL"),
    ("what a cast cuts off", "int f(struct s *p) { if ((char)(long)p == 0) return 0; return p->n; }", ""),
    ("what a cast cuts off is zero", "int f(struct s *p) { if ((char)(long)p) return 0; return p->n; }", "p != NULL"),
    ("a jump from elsewhere", "static int j[9]; int f(struct s *p) { if (setjmp(j)) p = 0; return p->n; }", "?setjmp"),
    ("a static variable", "int f(struct s *p) { static struct s *k; if (!k) k = p; return k->n; }", "p != NULL"),
    ("one call passes a format without text", "int printf(const char *, ...); static void g(const char *a, char *b) "
     "{ if (*a == 'x') printf(a, *b); } int f(void) { g(\"y\", 0); return 0; }", "?which g() needs"),
    ("a constant chooses the branch", "static int g(struct s *x, int k) { switch (k) { case 1: return x->n; default: "
     "return 0; } } int f(void) { return g(0, 2); }", ""),
    ("a constant chooses the other branch", "static int g(struct s *x, int k) { switch (k) { case 1: return x->n; default: "
     "return 0; } } int f(void) { return g(0, 1); }", "?which g() needs"),
    ("a callee is open for another reason", "static int g(struct s *x, int k) { struct s *y = malloc(40); return k ? x->n "
     ": y->n; } int f(void) { return g(0, 0); }", ""),
    ("a function that calls itself needs no more than that", "struct s *f(struct s *p, char *n) { if (!p) { struct s *t = "
     "malloc(40); if (!t) exit(1); t->l = 0; t->n = *n; return t; } while (p->l) p = p->l; p->l = f(p->l, n); return p; }",
     "n != NULL"),
    ("a text that is split", "char *strtok(char *, const char *); int f(char *p) { int n = 0; char *w = strtok(p, \" \"); "
     "while (w) { n++; w = strtok((char *)0, \" \"); } return n; }", "p != NULL"),
    ("a text that may not have been begun", "char *strtok(char *, const char *); char *f(char *p, int k) { "
     "if (k) strtok(p, \" \"); return strtok((char *)0, \" \"); }", "?may be null"),
    ("through two callees", "static int h(struct s *x, int k) { return k ? x->n : 0; } static int g(struct s *x, int k) "
     "{ return h(x, k); } int f(void) { return g(0, 0); }", ""),
    ("a callee stores no null", "static void g(struct s *x) { x->l = x; } "
     "int f(struct s *p, struct s *q) { if (!p || !q || !p->l) return 0; g(q); return p->l->n; }", ""),
    ("operands that change other things", "static int n; static int a(void) { return n++; } static int b(void) { return n--; } "
     "int f(struct s *p) { if (!p || !p->l) return 0; return a() + b() + p->l->n; }", ""),
    ("behind the operands all is known again", "static struct s *h; static int g(void) { h = 0; return 1; } "
     "int f(struct s *p) { int k = g() + (h ? 1 : 2); h = p; return k + h->n; }", "p != NULL"),
    ("the result goes where the callee writes", "static struct s *h; static int g(void) { h = 0; return 1; } "
    "void f(void) { if (h) h->n = g(); }", "?may be null"),
    ("what a callee returns without what it needs", "struct s *h; static struct s *g(struct s *x, int k) { if (k) x->n = 1; "
     "return x; } static struct s *e(void) { return g(h, 0); } int f(void) { return e()->n; }", "?may be null"),
    ("what a callee writes without what it needs", "struct s *h, *i; static void g(struct s *x, int k) { if (k) x->n = 1; "
     "if (!x) i = 0; } static void e(void) { g(h, 0); } int f(void) { if (!i) return 0; e(); return i->n; }", "?may be null"),
    ("a callee returns without what it needs", "struct s *h; static void g(struct s *x, int k) { if (k) x->n = 1; if (x) "
     "exit(1); } static void e(void) { g(h, 0); } int f(void) { struct s *p = 0; e(); return p->n; }", "?`p` may be null"),
    ("unknown code takes null", "struct s *h; void take(struct s *); static struct s *g(void) { struct s *p = h; take(p); "
     "return p; } int f(void) { return g()->n; }", "?may be null"),
    ("a printed null pointer", "int printf(const char *, ...); struct s *h; static struct s *g(void) { struct s *p = h; "
     "printf(\"%p\", (void *)p); return p; } int f(void) { return g()->n; }", "?may be null"),
    ("a stream of the library", "struct _IO_FILE; extern struct _IO_FILE *stdin; int f(void) { return (int)(long)&*stdin; }", ""),
    ("a stream, beside other variables of libraries", "struct _IO_FILE; extern struct _IO_FILE *stdin; extern int getdate_err; "
     "extern char *argp_program_version; int f(void) { return (int)(long)&*stdin; }", ""),
    ("a variable of the program's own", "struct s *stdin; int f(void) { return stdin->n; }", "?`stdin` may be null"),
    ("a parameter of that name", "struct _IO_FILE; extern struct _IO_FILE *stdin; struct _IO_FILE *k(void) { return stdin; } "
     "static int g(struct s *stdin) { return stdin->n; } int f(void) { return g(0); }", "?which g() needs"),
    ("two names of one variable", "extern char **environ, **__environ; char *f(void) { if (!environ) return 0; __environ = 0; "
     "return *environ; }", "?another name"),
    ("a table of characters", "const unsigned short **__ctype_b_loc(void); int f(int c) { return (*__ctype_b_loc())[c] & 8; }",
     ""),
    ("a constant for a function that calls itself, which the text does not ask for", f"{_FATAL} struct s *h; int f(void) "
     "{ if (!h) fatal(\"none\", 0); return h->n; }", ""),
    ("one that the text asks for", f"{_FATAL} struct s *h; int f(void) {{ if (!h) fatal(\"none %s\", 0); return h->n; }}",
     "?which fatal() needs"),
    ("what is called does not return, though it does not get what it needs", "struct s *h; static void end(struct s *x) "
     "{ if (choose()) x->n = 1; exit(1); } static struct s *g(void) { if (!h) end(h); return h; } "
     "int f(void) { return g()->n; }", ""),
    ("it returns where it does not get it", "struct s *h; static void end(struct s *x) { if (choose()) x->n = 1; "
     "if (!x) return; exit(1); } static struct s *g(void) { if (!h) end(h); return h; } int f(void) { return g()->n; }",
     "?may be null"),
    ("what it writes where it does not get it", "struct s *h; static void put(struct s *x) { if (choose()) x->n = 1; "
     "if (!x) h = 0; } static void g(void) { put(0); } int f(void) { if (!h) return 0; g(); return h->n; }", "?`h` may be null"),
    ("functions that call each other, where one does not get what it needs", "struct s z; "
     "static struct s *up(struct s *x, int n); "
     "static struct s *down(struct s *x, int n) { if (choose()) x->n = 1; return n ? up(0, n - 1) : x; } "
     "static struct s *up(struct s *x, int n) { return down(x, n); } static struct s *g(void) "
     "{ return up(&z, 1); } int f(void) { return g()->n; }",
     "?may be null"),
    ("nothing is added", "char *f(char *p) { return p + 0; }", "!nothing"),
    ("something is added", "char *f(char *p, int n) { return p + n; }", "p != NULL"),
)  # fmt: skip
_DIVISORS = (
    ("a parameter", "int f(int n) { return 8 / n; }", "n != 0"),
    ("it is tested", "int f(int n) { return n ? 8 / n : 0; }", ""),
    ("it is positive", "int f(int n) { return n > 0 ? 8 % n : 0; }", ""),
    ("it may be negative or zero", "int f(int n) { return n < 1 ? 8 % n : 0; }", "n != 0"),
    ("unsigned and not below", "unsigned f(unsigned n, unsigned m) { return n > m ? 8 / n : 0; }", ""),
    ("a constant", "int f(int n) { return n / 2; }", "!nothing"),
    ("a switch", "int f(int n) { switch (n) { case 0: return 0; default: return 8 / n; } }", ""),
    ("a switch the other way", "int f(int n) { switch (n) { case 1: return 0; default: return 8 / n; } }", "n != 0"),
    ("what a cast cuts off", "int f(int n) { return n ? 8 / (char)n : 0; }", "?may be zero"),
    ("what a cast keeps", "long f(int n) { return n ? 8 / (long)n : 0; }", ""),
    ("a bit-field cuts off", "int f(struct s *p) { p->f = 4; return 8 / p->f; }", "?`p->f` may be zero"),
    ("a sum", "int f(int n) { return n ? 8 / (n + 1) : 0; }", "?may be zero"),
    ("one bit is set", "int f(int n) { return 8 / (n | 1); }", ""),
    ("a floating divisor", "double f(double d) { return d ? 8 / d : 0; }", "?floating"),
    ("a floating divisor that was an integer", "double f(double d, int n) { return d / (float)n; }", "n != 0"),
    ("one that is tested", "double f(double d, int n) { return n ? d / n : 0; }", ""),
    ("one that was floating before", "double f(double d, double e) { return e ? d / (int)e : 0; }", "?may be zero"),
    ("values that are infinite do not end the run", "int h; double r; static int g(int x) { r = 1.5 / x; return x; } "
     "static int e(void) { return g(h); } int f(void) { return 8 / e(); }", "?may be zero"),
    ("a floating constant", "double f(double d) { return d / 0.5f + d / 2; }", "!nothing"),
    ("a constant that a conversion makes zero", "double f(double d) { return d / (int)0.5; }", "?may be zero"),
    ("a constant that is too small", "double f(double d) { return d / (float)1e-300; }", "?floating"),
    ("a callee divides", "static int g(int x, int y) { return x / y; } int f(int n) { return n ? g(n, n) : g(n, 2); }", ""),
    ("it is decreased in a loop", "int f(int n) { int s = 0; while (n) { s += 8 / n; n--; } return s; }", ""),
    ("what a callee gives without what it needs", "int h, r; static int g(int x, int k) { if (k) r = 8 / x; return x; } "
     "static int e(void) { return g(h, 0); } int f(void) { return 8 / e(); }", "?may be zero"),
    ("its bytes by name", "struct b { unsigned char a, b, c, d; }; int f(int *p) { if (!*p) return 0; ((struct b *)p)->a = 0; "
     "return 8 / *p; }", "?`*p` may be zero"),
    ("its bytes in an array", "struct b { unsigned char a[4]; }; int f(int n) { if (!n) return 0; ((struct b *)&n)->a[0] = 0; "
     "return 8 / n; }", "?`n` may be zero"),
    ("a character beside other members", "struct c { char k; int n; }; int f(struct c *p, struct s *q) { if (!q->n) return 0; "
     "p->k = 0; return 8 / q->n; }", ""),
    ("much that is put together", "int f(int n) { int s = 0, a0 = n | n; " + "".join(
        f"int a{i + 1} = a{i} | a{i};" for i in range(40)) + " s = 8 / a40; return s + "
     + " + ".join(f"a{i}" for i in range(40)) + "; }", "?`a40` may be zero"),
    ("an old declaration cuts off", "int g(); int f(void) { return g(256); } int g(c) char c; { return 8 / c; }", "?do not fit"),
)  # fmt: skip


def _program(source: str) -> Program:
    return link([unit_of(_HEAD + source)]).program


def _said(source: str, rule: Rule) -> str:
    """What f needs, or the first place that is open."""
    program = _program(source)
    search = RequirementSearch(program, rule)
    found = search.follow("f")
    assert found is not None
    why = open_place(program, "f", found)
    needs = conditions(found.contract.needs)
    if not why and not needs:
        assert check_requirements(program, Requirements("f", rule, search.needs())).steps == sum(
            one.steps for one in search.found.values()
        )
    return "?" + with_places(why, program, None) if why else ", ".join(needs)


@pytest.mark.parametrize(("source", "wanted"), [row[1:] for row in _POINTERS], ids=[row[0] for row in _POINTERS])
def test_pointers(source: str, wanted: str) -> None:
    _compare(_said(source, _NULL), wanted)


@pytest.mark.parametrize(("source", "wanted"), [row[1:] for row in _DIVISORS], ids=[row[0] for row in _DIVISORS])
def test_divisors(source: str, wanted: str) -> None:
    _compare(_said(source, _ZERO), wanted)


def _compare(said: str, wanted: str) -> None:
    if wanted.startswith("?"):
        assert said.startswith("?")
        assert wanted[1:] in said
    else:
        assert said == wanted.replace("!nothing", "")


_CALLED = "static int g(struct s *x) { return x->n; } int f(struct s *p) { return g(p); } "


def _claim(source: str, entry: str, runs_from: tuple[str, ...], drop: str = "") -> Requirements:
    program = _program(source)
    search = RequirementSearch(program, _NULL)
    name = next(one for one in program.functions if one.rpartition("::")[2] == entry)
    assert search.follow(name) is not None
    assert search.follow_callers(name)
    needs = tuple(one for one in search.needs() if one.function.rpartition("::")[2] != drop)
    return Requirements(name, _NULL, needs, runs_from)


@pytest.mark.parametrize("entry", ["f", "g"])
def test_callers_keep_it(entry: str) -> None:
    source = _CALLED + "int main(void) { struct s x; x.n = 1; return f(&x); }"
    assert check_requirements(_program(source), _claim(source, entry, ("main",))).assumptions


@pytest.mark.parametrize(
    ("caller", "why"),
    [
        ("int main(void) { return f(0); }", "`NULL`, which f() needs, may be null"),
        ("struct s *h; int main(void) { return f(h); }", "`h`, which f() needs, may be null"),
        ("int (*h)(struct s *) = f; int main(void) { struct s x; return f(&x) + h(0); }", "the address of f"),
        ("int main(void) { return 0; }", "no call of f() was found"),
        ("struct s *h; int main(void) { h->n = f(h); return 0; }", "`h`, which f() needs, may be null"),
        ("int other(struct s *p) { return f(p); } int main(void) { struct s x; return f(&x); }", "no call of other() was found"),
    ],
)
def test_callers_do_not_keep_it(caller: str, why: str) -> None:
    source = _CALLED + caller
    with pytest.raises(RefusedError, match=re.escape(why)):
        check_requirements(_program(source), _claim(source, "f", ("main",)))


@pytest.mark.parametrize("drop", ["f", "g"])
def test_a_claim_that_leaves_out_a_need_is_refused(drop: str) -> None:
    source = _CALLED + "int main(void) { struct s x; x.n = 1; return f(&x); }"
    with pytest.raises(RefusedError):
        check_requirements(_program(source), _claim(source, "f" if drop == "g" else drop, (), drop))


def test_a_stream_may_write_to_what_another_function_gave_it() -> None:
    """So nothing is proved of functions that may use streams; of others it is."""
    source = """struct _IO_FILE; extern struct _IO_FILE *stdout; int setvbuf(struct _IO_FILE *, char *, int, size_t);
int putchar(int); static struct s *h; int g(void) { return h ? h->n : 0; }
int f(void) { if (!h) return 0; putchar(0); return h->n; }
int main(void) { static struct s x; h = &x; setvbuf(stdout, (char *)&h, 0, sizeof h); return f() + g(); }"""
    program = _program(source)
    with pytest.raises(RefusedError, match="may write to what setvbuf"):
        check_requirements(program, Requirements("f", _NULL))
    assert check_requirements(program, Requirements("g", _NULL)).steps


def test_needs_of_others_are_refused() -> None:
    """A need speaks of the function's own parameters, and of what they lead to."""
    program = _program("struct s *h; int f(struct s *p) { return p->n + h->n; }")
    for need in (ir.Var("h", "global", Pointer(ir.Var)), ir.IntConst(0, Pointer(ir.Var))):  # type: ignore[arg-type]
        with pytest.raises(RefusedError, match="not said clearly"):
            check_requirements(program, Requirements("f", _NULL, (FunctionNeeds("f", (need,)),)))


def test_a_claim_is_read_as_it_was_written() -> None:
    source = _CALLED + "int main(void) { struct s x; x.n = 1; return f(&x); }"
    program, claim = _program(source), _claim(source, "f", ("main",))
    written = text.write([claim], program, "LP64")
    assert text.read(written, program).all == (claim,)
    other = msgspec.json.decode(written)
    other["requirements"][0]["entry"] = "nobody"
    with pytest.raises(RefusedError, match="functions that the program does not have"):
        text.read(msgspec.json.encode(other), program)
