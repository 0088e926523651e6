"""What a function finds in memory is live as long as nothing has ended: required of callers, and kept in runs from `main` that
come to the function before anything ends. The class: something ends on a way there, in whatever order, or what has ended is found
again through a number, the library, or a copy."""

from __future__ import annotations

import msgspec
import pytest

from analysis.certificate.ownership.closed_checker import NOTHING, check_closed_sets, open_reason, refusal
from analysis.certificate.ownership.closed_search import ClosedSearch
from analysis.certificate.ownership.closed_sets import ClosedSets
from analysis.certificate.ownership.kept_by_callers import FOUND_LIVE
from analysis.certificate.pointed.whole_program import pointed
from analysis.certificate.refusal import RefusedError
from analysis.cfa.linking.link import link
from analysis.model.assumptions import COPIED_POINTERS
from analysis.model.report import IF_KEPT
from tests.support.lowered import unit_of

_USE, _MAIN = "use-after-free", ("main",)
_HEAD = """typedef unsigned long size_t; void *malloc(size_t); void *realloc(void *, size_t); void free(void *); void exit(int);
char *strtok(char *, const char *); int sscanf(const char *, const char *, ...); void opaque(void); void (*through)(void);
struct n { struct n *next; int v; char *s; }; struct n *G, *H; long number; int c;
typedef struct F { char *base; } FILE; FILE *fopen(const char *, const char *); int fclose(FILE *); int setjmp(long *);
long getline(char **, size_t *, FILE *); char *setlocale(int, const char *);
static void release(void) { free(H); } static int pick(int a, int b) { return a + b; }
static int ended(void) { free(H); return 1; }
static struct n *fresh(void) { return malloc(sizeof(struct n)); }
"""
_START = "int main(int n, char **v) { G = fresh(); H = G; if (!G) return 1; G->next = G; "


def _said(text: str, rule: str = _USE) -> tuple[str, str]:
    """Why the rule is not proved of `f` whoever calls it, and in runs from main, where the checker agrees."""
    program = link([unit_of(_HEAD + text)]).program
    name = next(one for one in program.functions if one.rpartition("::")[2] == "f")
    search = ClosedSearch(program)
    followed = search.follow(name)
    assert followed is not None
    names = search.follow_callers(name, rule)
    assert names is not None
    why = open_reason(program, search.found_below(names, name, rule), name, rule, _MAIN)
    claim = ClosedSets(name, rule, search.sets(*names), _MAIN)
    if why in ("", NOTHING):
        assert why == ""
        assert check_closed_sets(program, claim).assumptions
    else:
        with pytest.raises(RefusedError):
            check_closed_sets(program, claim)
    alone = refusal(program, followed.found, name, rule)
    if alone:
        with pytest.raises(RefusedError):
            check_closed_sets(program, msgspec.structs.replace(claim, runs_from=()))
    return alone, why


_F = "static int f(struct n *p) { return p->next->v + G->next->v; } "
_IN_FRONT = {
    "nothing ends before": f"{_F} {_START} f(G); free(G); return 0; }}",
    "through a caller": f"{_F} static int h(void) {{ int r = f(G->next); free(H); return r; }} {_START} return h(); }}",
    "own blocks end": f"{_F} {_START} void *t = malloc(3); free(t); f(G); free(G); return 0; }}",
    "a function ends its own": f"static void own(void) {{ free(malloc(1)); }} {_F} {_START} own(); f(G); free(G); return 0; }}",
    "used in a loop": "static int f(struct n *p) { int r = 0; while (p && r < 9) { r += p->next->v; p = p->next; } return r; } "
    f"{_START} f(G); free(G); return 0; }}",
    "ended behind": f"static void f(struct n *p) {{ struct n *q = p->next; c = q->v; free(q->s); }} {_START} f(G); free(G); "
    "return 0; }",
    "two assignments in one expression": f"{_F} {_START} H = G->next = G; f(G); free(G); return 0; }}",
    "ended where no run goes on": f"{_F} {_START} if (n > 3) {{ free(G); exit(1); }} f(G); free(G); return 0; }}",
}


@pytest.mark.parametrize("name", _IN_FRONT)
def test_what_comes_before_all_ends_is_proved(name: str) -> None:
    alone, why = _said(_IN_FRONT[name])
    assert alone.startswith(IF_KEPT)
    assert FOUND_LIVE in alone
    assert why == ""


_CALLED_LATE = {
    "ended before": f"{_F} {_START} free(H); f(G); return 0; }}",
    "ended on a path": f"{_F} {_START} if (n) free(H); f(G); return 0; }}",
    "ended by a callee": f"{_F} {_START} release(); f(G); return 0; }}",
    "ended two calls below": f"static void twice(void) {{ release(); }} {_F} {_START} twice(); f(G); return 0; }}",
    "ended in the round before": f"{_F} {_START} while (n--) {{ f(G); free(H); }} return 0; }}",
    "ended before the caller is called": f"{_F} static void h(void) {{ f(G); }} {_START} free(H); h(); return 0; }}",
    "ended before another call": f"{_F} static void h(void) {{ f(G); }} {_START} h(); free(H); h(); return 0; }}",
    "ended in recursion": f"{_F} static void h(int k) {{ f(G); if (k) h(k - 1); free(H); if (k > 1) h(0); }} "
    f"{_START} h(n); return 0; }}",
    "ended in an open order": f"{_F} {_START} return pick(f(G), ended()); }}",
    "ended through a pointer": f"{_F} {_START} through = release; through(); f(G); return 0; }}",
    "ended by other code": f"{_F} {_START} opaque(); f(G); return 0; }}",
    "what has ended is passed": f"{_F} {_START} struct n *p = malloc(sizeof *p); free(p); f(p); return 0; }}",
    "what has ended is stored": f"{_F} {_START} struct n *p = malloc(sizeof *p); free(p); G->next = p; f(G); return 0; }}",
    "what has ended is stored by a callee": "static void keep(struct n *p) { G->next = p; } "
    f"{_F} {_START} struct n *p = malloc(sizeof *p); free(p); keep(p); f(G); return 0; }}",
    "what has ended is returned": "static struct n *old(void) { struct n *p = malloc(9); free(p); return p; } "
    f"{_F} {_START} G->next = old(); f(G); return 0; }}",
    "a number is passed as a pointer": f"{_F} {_START} f((struct n *)number); return 0; }}",
    "a call that is not seen": f'{_F} static void h(void) {{ __asm__("call f"); }} {_START} f(G); free(G); h(); return 0; }}',
    "what the compiler calls when a block of statements ends": "static void clean(struct n **p) { free(*p); } "
    f"static void h(void) {{ __attribute__((cleanup(clean))) struct n *x = H; }} {_F} {_START} h(); f(G); return 0; }}",
    "an operand that is not seen ends it": "static int die(void) { exit(1); return 0; } "
    f"{_F} {_START} return pick(f(G), pick(die(), (free(H), 1))); }}",
    "a caller is not followed": f"{_F} {_START} long b[99]; if (setjmp(b)) free(H); f(G); return 0; }}",
    "ended by a callee that is not followed": "static void lost(void) { long b[99]; if (!setjmp(b)) free(H); } "
    f"{_F} {_START} lost(); f(G); return 0; }}",
    "ended by the library": f"{_F} {_START} size_t m = 1; FILE *x = fopen(v[0], v[0]); if (!x) return 1; "
    "getline(&H->s, &m, x); f(G); return 0; }",
    "the library ends what it returned before": "static int f(struct n *p) { return p->s[0]; } "
    f'{_START} G->s = setlocale(1, 0); setlocale(1, "C"); return f(G); }}',
    "ended with an own stream": "static int f(struct n *p) { return p->s[0]; } "
    f"{_START} FILE *x = fopen(v[0], v[0]); if (!x) return 1; G->s = x->base; fclose(x); n = f(G); free((void *)number); "
    "return n; }",
    "the library ends it in a callee": 'static void set(void) { setlocale(1, "C"); } '
    f"{_F} {_START} set(); f(G); free((void *)number); return 0; }}",
    "what has ended is stored where it was made": "static void put(void) { struct n *p = malloc(9); free(p); G->next = p; } "
    f"{_F} {_START} put(); f(G); return 0; }}",
    "what has ended is among many results": "static struct n *old(struct n *a, struct n *b, struct n *d) { "
    "struct n *p = malloc(9); if (c & 1) free(a); if (c & 2) free(b); if (c & 4) free(d); free(p); "
    f"return c > 99 ? p : 0; }} {_F} {_START} G->next = old(0, 0, 0); f(G); return 0; }}",
    "another parameter leads there": "static int f(struct n *p, struct n *q) { free(q); return p->v; } "
    f"{_START} return f(G, G); }}",
    "ended among further arguments": "static void all(int n, ...) { __builtin_va_list a; __builtin_va_start(a, n); "
    "free(__builtin_va_arg(a, void *)); __builtin_va_end(a); } "
    f"{_F} {_START} all(1, G->next); f(G); return 0; }}",
    "its inside is stored": f"{_F} {_START} struct n *p = malloc(99); if (!p) return 1; G->next = p + 1; free(p); "
    "f(G); return 0; }",
    "a jump leads back": f"{_F} {_START} again: f(G); if (n--) {{ free(G->next); goto again; }} return 0; }}",
    "free through a pointer": f"{_F} {_START} void (*g)(void *) = free; g(H); f(G); return 0; }}",
    "resized before": f"{_F} {_START} H = realloc(H, 99); f(G); return 0; }}",
    "its address is used": f"{_F} int (*at)(struct n *) = f; {_START} f(G); free(H); return at(G); }}",
    "main is called again": f"{_F} {_START} f(G); free(H); return n ? main(0, v) : 0; }}",
}


@pytest.mark.parametrize("name", _CALLED_LATE)
def test_what_may_come_behind_an_end_is_not_proved(name: str) -> None:
    assert _said(_CALLED_LATE[name])[1]


_ENDS_ITSELF = {
    "before": "int f(struct n *p) { free(p->s); return G->next->v; }",
    "on a path": "int f(struct n *p) { if (c) free(p->s); return G->next->v; }",
    "a parameter": "int f(struct n *p) { free(p); return G->next->v; }",
    "in a loop": "int f(struct n *p) { int r = 0; while (c--) { r += G->next->v; free(G); } return r; }",
    "in a callee": "int f(struct n *p) { release(); return G->next->v; }",
    "in an open order": "int f(struct n *p) { return pick(G->next->v, ended()); }",
    "in an operand behind": "int f(struct n *p) { return G->next->v + ended(); }",
    "by other code": "int f(struct n *p) { opaque(); return G->next->v; }",
    "through a pointer": "int f(struct n *p) { through(); return G->next->v; }",
    "resized": "int f(struct n *p) { H = realloc(H, 40); return G->next->v; }",
    "jumped back": "int f(struct n *p) { int r = 0; again: r += G->next->v; free(H); if (r < 9) goto again; return r; }",
    "a number is a pointer": "int f(struct n *p) { return ((struct n *)number)->v; }",
    "what is read is a pointer": 'int f(char *s) { struct n *q; sscanf(s, "%p", &q); return q->v; }',
    "the library uses what it kept": 'int f(struct n *p) { int r = p->next->v; strtok(0, " "); return r; }',
    "what the library kept": 'int f(struct n *p) { return strtok(0, " ")[0]; }',
    "stored when it has ended": "int f(struct n *p) { struct n *q = malloc(9); free(q); p->next = q; return p->next->v; }",
    "found in a local": "int f(struct n *p) { struct n *q = malloc(9), **a = &q; free(q); return (*a)->v; }",
    "where the result of the call is stored": "int f(struct n *p) { G->v = ended(); return 0; }",
    "where a member is changed by the call": "int f(struct n *p) { G->v += ended(); return 0; }",
    "in an index": "static int t[3]; int f(struct n *p) { t[ended()] = G->v; return 0; }",
    "in a list of values": "int f(struct n *p) { int l[2] = {ended(), G->v}; return l[0]; }",
    "in an assignment in another one": "int f(struct n *p) { return H->v = G->v = ended(); }",
    "in an assignment to where another one leads": "int f(struct n *p) { struct n *q = malloc(9); free(q); "
    "return (G->next = q)->v; }",
    "in a case above": "int f(struct n *p) { switch (c) { case 1: ended(); default: return G->v; } }",
    "another parameter ends it": "static int ends(struct n *a) { free(a); return 1; } "
    "int f(struct n *p) { ends(p); return G->next->v; }",
}


@pytest.mark.parametrize("name", _ENDS_ITSELF)
def test_what_the_function_may_end_before_is_not_required_of_callers(name: str) -> None:
    alone, why = _said(f"{_ENDS_ITSELF[name]} {_START} return 0; }}")
    assert alone
    assert why
    assert not alone.startswith(IF_KEPT)


def test_a_stream_that_two_parameters_lead_to_is_closed_twice() -> None:
    text = "static void f(FILE *a, FILE *b) { fclose(a); fclose(b); } static FILE *T; " + _START
    assert _said(f"{text} T = fopen(v[0], v[0]); if (T) f(T, T); return 0; }}", "use-after-close")[1]


_SIGNAL = "void (*signal(int, void (*)(int)))(int); static void on(int s) { c = s; } "
_THREAD = "int pthread_create(unsigned long *, const void *, void *(*)(void *), void *); static void *on(void *a) { return a; } "


@pytest.mark.parametrize(
    ("declared", "started"),
    [(_SIGNAL, "signal(2, on);"), (_THREAD, "unsigned long t; pthread_create(&t, 0, on, 0);")],
    ids=["handler", "thread"],
)
def test_a_thread_or_a_handler_that_returns_could_end_it_meanwhile(declared: str, started: str) -> None:
    alone, why = _said(f"{declared}{_F}{_START} {started} f(G); free(G); return 0; }}")
    assert alone
    assert not alone.startswith(IF_KEPT)
    assert why


@pytest.mark.parametrize(("later", "is_all_known"), [("free(G);", True), ("free((void *)number);", False)])
def test_that_pointers_are_copies_is_listed_as_assumed(later: str, is_all_known: bool) -> None:
    """What is printed and read again is none, also where it is not known what pointers lead to in the whole program."""
    program = link(
        [
            unit_of(f"""{_HEAD} int sprintf(char *, const char *, ...); long strtol(const char *, char **, int);
        static union {{ long n; struct n *p; }} U; static int f(void) {{ return U.p->v; }} {_START}
        char b[40]; void *p = malloc(9); sprintf(b, "%p", p); free(p); U.n = strtol(b, 0, 16); f(); {later} return 0; }}""")
        ]
    ).program
    assert bool(pointed(program).broken) != is_all_known
    (name,) = (one for one in program.functions if one.rpartition("::")[2] == "f")
    search = ClosedSearch(program)
    assert search.follow(name)
    names = search.follow_callers(name, _USE)
    assert names is not None
    assert COPIED_POINTERS.sentence in check_closed_sets(program, ClosedSets(name, _USE, search.sets(*names), _MAIN)).assumptions
