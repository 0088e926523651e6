"""What closed sets of memory states prove of functions that are called in any state, and what their checker refuses."""

from __future__ import annotations

import msgspec
import pytest

from analysis.certificate import text
from analysis.certificate.ownership.closed_checker import check_closed_sets
from analysis.certificate.ownership.closed_search import ClosedSearch
from analysis.certificate.ownership.closed_sets import ClosedSets, FunctionStates
from analysis.certificate.ownership.memory_state import MemoryState
from analysis.certificate.refusal import RefusedError
from analysis.cfa.graph import Program
from analysis.model.assumptions import PASSED_BLOCKS
from tests.certificate.test_ownership_refused import CLOSE, FREE, LEAK, OPEN, USE, program, why

PROVED = (
    ("freed", "void f(void) { char *p = malloc(8); free(p); }", FREE + LEAK),
    ("characters of the caller are freed", "void f(char *p) { free(malloc(1)); free(p); }", LEAK),
    ("text is printed by a format that is not known", "int vsnprintf(char *, size_t, const char *, __builtin_va_list); void "
    "f(char *s, ...) { __builtin_va_list a; __builtin_va_start(a, s); vsnprintf(s, 2, s, a); free(malloc(1)); }", LEAK),
    ("freed where it is there", "void f(int n) { char *p = malloc(8); if (!p) return; p[0] = n; free(p); "
    "}", FREE + LEAK + USE),
    ("null is freed", "void f(int n) { char *p = 0; if (n) p = malloc(8); free(p); }", FREE + LEAK),
    ("freed on each path", "int f(int n) { char *p = malloc(8); if (n) { free(p); return 1; } free(p); return 2; "
    "}", FREE + LEAK),
    ("goto out", "int f(int n) { char *p = malloc(8); if (!p) goto out; if (n) goto out; *p = 1; out: free(p); "
    "return 0; }", FREE + LEAK),
    ("in a loop", "void f(int n) { while (n--) { char *p = malloc(8); if (!p) continue; *p = 1; free(p); } "
    "}", FREE + LEAK + USE),
    ("assigned null after it was freed", "void f(int n) { char *p = malloc(8); if (n) { free(p); p = 0; } free(p); "
    "}", FREE + LEAK),
    ("a copy is freed", "void f(void) { char *p = malloc(8), *q = p; p = 0; free(q); }", FREE + LEAK),
    ("a pointer moves inside", "void f(int n) { char *p = malloc(8), *q; if (!p) return; for (q = p; n--; q++) "
    "*q = 1; free(p); }", FREE + LEAK + USE),
    ("a pointer in memory moves", "struct two { struct node *a, *b; }; void f(struct two *t, int n) { t->a->name++; "
    "t->a->name -= n; t->b->next = t->b->next + n - 1; }", LEAK),
    ("a global pointer moves", "void f(void) { g += 2; free(malloc(1)); }", LEAK),
    ("returned", "char *f(const char *s) { char *p = strdup(s); return p; }", LEAK),
    ("two blocks", "int f(int n) { char *p = malloc(1), *q = malloc(2); if (p && q) p[0] = q[0]; free(q); free(p); "
    "return 0; }", FREE + LEAK),
    ("calloc", "void f(void) { struct node *n = calloc(1, 24); if (n) { n->v = 1; n->next = head; free(n); } "
    "}", FREE + LEAK + USE),
    ("resized", "void f(void) { char *p = malloc(1), *q; if (!p) return; q = realloc(p, 9); if (!q) { free(p); "
    "return; } *q = 1; free(q); }", FREE + LEAK + USE),
    ("a program that ends", "void f(int n) { char *p = malloc(8); if (n) exit(1); free(p); }", FREE + LEAK),
    ("library functions use it", 'void f(void) { char *p = malloc(8); if (!p) return; memcpy(p, "abc", 4); '
    'printf("%s", p); free(p); }', FREE + LEAK + USE),
    ("strchr leads into it", "void f(void) { char *p = strdup(\"a\"), *q; if (!p) return; q = strchr(p, 97); if (q) "
    "*q = 1; free(p); }", FREE + LEAK + USE),
    ("a local array", "void f(void) { char b[4], *p = b; p[0] = 1; free(malloc(1)); }", FREE + LEAK),
    ("unknown code runs between", "void f(void) { char *p = malloc(8); opaque(); free(p); }", FREE),
    ("a switch", "void f(int n) { char *p = malloc(8); switch (n) { case 1: free(p); break; case 2: default: free(p); "
    "} }", FREE + LEAK),
    ("a callee reads it", "static int h(const char *q) { return q[0]; } void f(void) { char *p = malloc(8); if (p) "
    "h(p); free(p); }", FREE + LEAK),
    ("a callee frees it", "static void h(char *q) { free(q); } void f(void) { char *p = malloc(8); h(p); }", FREE + LEAK),
    ("a callee tests it, and frees it", "static void h(char *q) { if (q) free(q); } "
    "void f(void) { char *p = malloc(8); h(p); }", FREE + LEAK),
    ("a callee makes it, and returns a pointer into it", "static char *h(void) { char *q = malloc(9); return q ? q + 8 : 0; } "
    "char *f(void) { char *p = h(); if (p) *p = 1; return p; }", LEAK + USE),
    ("a pointer into it is returned", "char *f(int n) { char *p = malloc(8); return p + n; }", LEAK),
    ("a callee returns its first member", "struct all { struct node n; int k; }; static struct node *h(void) "
    "{ struct all *a = malloc(40); return a ? &a->n : 0; } void f(void) { struct node *n = h(); if (n) n->v = 1; free(n); }",
    FREE + LEAK + USE),
    ("the first member of an anonymous structure", "struct an { struct { int y; int z; }; int w; }; void f(void) "
    "{ struct an *a = malloc(12); if (a) free(&a->y); }", FREE + LEAK),
    ("a member of a union", "void f(void) { union u *a = malloc(8); if (a) free(&a->n); }", FREE + LEAK),
    ("a callee makes it", "static char *h(void) { char *q = malloc(2); return q; } void f(void) { char *p = h(); "
    "free(p); }", FREE + LEAK),
    ("a callee of a callee makes it", "static char *i(void) { return malloc(2); } static char *h(void) { return i(); "
    "} void f(void) { free(h()); }", FREE + LEAK),
    ("a callee that ends the program", "static void die(void) { exit(1); } void f(void) { char *p = malloc(2); "
    "if (!p) die(); *p = 1; free(p); }", FREE + LEAK + USE),
    ("a callee returns it", "static char *h(char *q) { return q; } void f(void) { char *p = malloc(8); p = h(p); "
    "free(p); }", FREE + LEAK),
    ("a callee resizes it", "static char *h(char *q) { char *r = realloc(q, 9); if (!r) free(q); return r; } "
    "void f(void) { char *p = malloc(8); p = h(p); free(p); }", FREE + LEAK),
    ("a callee fills it", "static void h(struct node *n) { n->next = 0; } void f(void) { struct node *n = malloc(24); "
    "if (n) h(n); free(n); }", FREE + LEAK),
    ("recursion reads it", "static int h(const char *q, int n) { return n ? h(q, n - 1) : q[0]; } void f(void) "
    "{ char *p = malloc(8); if (p) h(p, 3); free(p); }", FREE + LEAK),
    ("recursion frees it", "static void h(char *q, int n) { if (n) h(q, n - 1); else free(q); } void f(void) "
    "{ char *p = malloc(8); h(p, 3); }", FREE + LEAK),
    ("two functions that call each other", "static int i(char *q, int n); static int h(char *q, int n) "
    "{ return n ? i(q, n - 1) : *q; } static int i(char *q, int n) { return h(q, n); } void f(void) "
    "{ char *p = malloc(8); if (p) h(p, 3); free(p); }", FREE + LEAK),
    ("recursion of the function itself", "void f(int n) { char *p = malloc(8); if (n) f(n - 1); free(p); }", FREE + LEAK),
    ("a stream", 'int f(void) { char b[9]; int n = 0; FILE *s = fopen("a", "r"); if (!s) return 1; '
    'while (fgets(b, 9, s)) n++; fclose(s); return n; }', CLOSE + OPEN + LEAK),
    ("a stream that is returned", 'FILE *f(void) { FILE *s = fopen("a", "w"); if (s) fputs("x", s); return s; '
    '}', CLOSE + OPEN + LEAK),
    ("sscanf of numbers", 'int f(const char *s) { int n = 0; char *p = malloc(2); sscanf(s, "%d", &n); free(p); '
    'return n; }', FREE + LEAK),
)  # fmt: skip


@pytest.mark.parametrize(("body", "rules"), [case[1:] for case in PROVED], ids=[case[0] for case in PROVED])
def test_what_is_proved(body: str, rules: tuple[str, ...]) -> None:
    of = program(body)
    for rule in rules:
        assert why(of, rule) == ""
        assert check_closed_sets(of, claimed(of, rule)).assumptions


def claimed(of: Program, rule: str, function: str = "f") -> ClosedSets:
    search = ClosedSearch(of)
    search.follow(function)
    return ClosedSets(function, rule, search.sets(function))


@pytest.mark.parametrize(
    ("body", "rule", "said"),
    [
        ("void f(void) { struct node *n = malloc(24); if (!n) return; n->next = head; head = n; "
        "}", "memory-leak", "`head` is assigned"),
        ("void f(struct node *n) { char *p = malloc(1); n->name = p; "
        "}", "memory-leak", "what `p` points to is stored in `n->name`"),
        ("void f(struct node *n) { n->name = 0; free(malloc(1)); "
        "}", "memory-leak", "`n->name` is assigned, and may have held the last pointer to a block"),
        ("void f(void) { char *a[1]; a[0] = malloc(1); opaque(a); }", "memory-leak", "is stored in `a[0]`"),
        ("void f(char *p) { free(p); }", "double-free", "`p` is freed, and comes from the caller"),
        ("void f(void) { free(g); }", "double-free", "`g` is freed, and what it points to is not followed"),
        ("void f(void) { char *p = malloc(1); opaque(p); free(p); }", "memory-leak", "opaque() "
        "is called, of which not all is known"),
        ("void f(int n) { char *p = malloc(1); if (n) return; free(p); }", "memory-leak", "what `p` points to is not freed"),
        ("int f(int n) { return n; }", "double-free", "nothing in it"),
    ],
)  # fmt: skip
def test_refusals_say_what_leaks(body: str, rule: str, said: str) -> None:
    of = program(body)
    assert said in why(of, rule)
    with pytest.raises(RefusedError):
        check_closed_sets(of, claimed(of, rule))


def test_what_callers_keep_is_an_assumption() -> None:
    of = program("void f(char *p) { free(malloc(1)); }")
    assert PASSED_BLOCKS.sentence in check_closed_sets(of, claimed(of, "memory-leak")).assumptions
    assert PASSED_BLOCKS.sentence not in check_closed_sets(of, claimed(of, "double-free")).assumptions


LOOP = "static char *h(void) { return malloc(2); } void f(int n) { while (n--) { char *p = h(); if (p) *p = 1; free(p); } }"


def _without(one: FunctionStates, row: int, state: int) -> FunctionStates:
    location, states = one.states[row]
    rest = (*states[:state], *states[state + 1 :])
    return msgspec.structs.replace(one, states=(*one.states[:row], (location, rest), *one.states[row + 1 :]))


def test_a_set_without_one_of_its_states_is_refused() -> None:
    of = program(LOOP)
    whole = claimed(of, "double-free")
    check_closed_sets(of, whole)
    tried = 0
    for number, one in enumerate(whole.functions):
        for row, (_, states) in enumerate(one.states):
            for state in range(len(states)):
                functions = (*whole.functions[:number], _without(one, row, state), *whole.functions[number + 1 :])
                with pytest.raises(RefusedError):
                    check_closed_sets(of, msgspec.structs.replace(whole, functions=functions))
                tried += 1
    assert tried > 10


def test_other_certificates_are_refused() -> None:
    of, other = program(LOOP), program(LOOP.replace("free(p);", "free(p); free(p);"))
    whole = claimed(of, "double-free")
    with pytest.raises(RefusedError):
        check_closed_sets(other, whole)
    for change in (
        {"rule": "null-dereference"},
        {"rule": "use-after-close"},
        {"functions": whole.functions[:1]},
        {"functions": whole.functions[::-1]},
        {"functions": (*whole.functions, whole.functions[-1])},
        {"entry": "main"},
    ):
        with pytest.raises((RefusedError, KeyError)):
            check_closed_sets(of, msgspec.structs.replace(whole, **change))


def test_a_set_that_claims_what_is_not_there_is_refused() -> None:
    """Contracts follow from states at the exit: one that is made up must not make another proof."""
    of = program("static void h(char *q) { } void f(void) { char *p = malloc(2); h(p); }")
    with pytest.raises(RefusedError):
        check_closed_sets(of, claimed(of, "memory-leak"))
    freed = program("static void h(char *q) { free(q); } void f(void) { char *p = malloc(2); h(p); }")
    with pytest.raises(RefusedError):
        check_closed_sets(of, claimed(freed, "memory-leak"))
    strange = MemoryState((("p", "at "), ("q", "at 0")), (("", "passed"), ("9", "heap")))
    whole = claimed(freed, "memory-leak")
    last = whole.functions[-1]
    more = msgspec.structs.replace(last, states=tuple((at, (*states, strange)) for at, states in last.states))
    with pytest.raises((RefusedError, KeyError)):
        check_closed_sets(freed, msgspec.structs.replace(whole, functions=(*whole.functions[:-1], more)))


def test_certificates_are_written_and_read() -> None:
    of = program(LOOP)
    whole = claimed(of, "double-free")
    read = text.read(text.write((whole,), of, "LP64"), of)
    assert read.all == (whole,)
    assert check_closed_sets(of, read.closed_sets[0]).states
