"""What is said of how what functions return and write relates to what was there when they were called, and what is not said."""

from __future__ import annotations

import pytest

from analysis.certificate.refusal import RefusedError
from analysis.certificate.relations.relation_checker import FunctionRelations, check_relations
from analysis.certificate.relations.relation_contract import NEVER
from analysis.certificate.relations.relation_search import RelationSearch
from analysis.model import ir
from analysis.model.c_types import INT
from analysis.session.contracts.related_clauses import RelatedClauses
from tests.support.explorations import program_of

_HEAD = """
struct node { struct node *next; int v; };
struct list { struct node *head; int count; unsigned size, used; };
union both { int i; unsigned char bytes[4]; struct node *p; };
int g; volatile int device; static void set(int *to, int x) { *to = x; } int choose(void); void free(void *);
static int add(struct list *l) { int old = l->count; l->count = old + 1; return old; }
"""


def _said(text: str) -> dict[str, str]:
    """What is said of the function `f`: formulas by texts."""
    program = program_of(_HEAD + text)
    search = RelationSearch(program)
    assert search.follow("f")
    cfa = program.functions["f"]
    return {one.text: one.formula for one in RelatedClauses(program, cfa, cfa, search.contract("f")).clauses("proved")}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("int f(int n) { return n; }", {"returns `n`": "result == n"}),
        ("int f(int n) { int m = n; n = 3; return m + 1; }", {"returns `n + 1`": "result == n + 1"}),
        ("void f(int *out, int v) { *out = v; }", {"sets `*out` to `v`": "*out == v"}),
        ("void f(int *out, int v) { set(out, v); }", {"sets `*out` to `v`": "*out == v"}),
        ("int f(int v) { int x; set(&x, v); return x; }", {"returns `v`": "result == v"}),
        ("void f(struct list *l) { l->count++; }", {"sets `l->count` to its old value plus 1": "l->count == old(l->count) + 1"}),
        (
            "int f(struct list *l) { add(l); return add(l); }",
            {
                "returns `old(l->count) + 1`": "result == old(l->count) + 1",
                "sets `l->count` to its old value plus 2": "l->count == old(l->count) + 2",
            },
        ),
        (
            "struct node *f(struct list *l) { struct node *n = l->head; l->head = n->next; return n; }",
            {
                "returns what `l->head` was": "result == old(l->head)",
                "sets `l->head` to what `l->head->next` was": "l->head == old(l->head->next)",
            },
        ),
        (
            "unsigned f(const struct list *l) { return l->size - l->used; }",
            {"returns `l->size - l->used`": "result == l->size - l->used"},
        ),
        ("unsigned f(unsigned n) { unsigned i; for (i = 0; i < n; i++) ; return i; }", {"returns `n`": "result == n"}),
        (
            "unsigned f(const int *a, unsigned n) { for (unsigned i = 0; i < n; i++) if (a[i]) return i; return n; }",
            {"returns at most `n`": "result <= n"},
        ),
        ("unsigned f(unsigned n) { if (!n) return 1; while (n > 9) n = n - 1; return n - 1; }", {}),
        ("unsigned f(unsigned n) { return n ? n - 1 : 0; }", {"returns at most `n`": "result <= n"}),
        (
            "unsigned f(unsigned m) { unsigned i = 0; if (!m) return 0; while (i + 1 < m) i++; return i; }",
            {"returns at most `m`": "result <= m"},
        ),
        ("unsigned f(unsigned m) { if (m < 3) return 2; unsigned i = 0; while (i + 1 < m) i++; return i; }", {}),
        (
            "unsigned f(unsigned m) { unsigned i = 0; if (m == 0) for (;;) ; while (i + 1 < m) i++; return i; }",
            {"returns less than `m`": "result < m"},
        ),
        ("int f(int n) { if (n <= 0) return n; return f(n - 1); }", {"returns at most `n`": "result <= n"}),
        ("int f(int n, int *o) { if (n <= 0) { *o = 7; return 1; } return f(n - 1, o); }", {"sets `*o` to `7`": "*o == 7"}),
        ("int f(unsigned char c) { return c; }", {"returns `c`": "result == c"}),
        ("unsigned char f(int n) { return n; }", {"returns `(unsigned char)n`": "result == (unsigned char)n"}),
        ("int f(int a, int b) { return a < b; }", {"returns `a < b`": "result == (a < b)"}),
        ("int f(int n) { while (n < 5) if (choose()) n++; return n; }", {"returns at least `n`": "result >= n"}),
    ],
)
def test_what_is_said(text: str, said: dict[str, str]) -> None:
    assert _said(text) == said


@pytest.mark.parametrize(
    "text",
    [
        "void f(int *a, int *b, int v) { *a = v; *b = 0; *b = choose(); }",  # they may be one object
        "int f(unsigned n) { unsigned i; for (i = 1; i < n; i++) ; return n == 0 ? i : 0; }",
        "int f(int *p) { g = 1; *p = choose(); return g; }",
        "int f(int *p) { int old = g; *p = choose(); return g - old; }",
        "int f(union both *u, int v) { u->i = v; u->bytes[0] = 1; u->bytes[1] = choose(); return u->i; }",
        "int f(int *p, unsigned char *c) { *p = 2; *c = choose(); return *p; }",
        "int f(int *p, unsigned *c) { *p = 2; *c = choose(); return *p; }",
        "int f(void) { device = 1; return device; }",
        "void f(struct node *n) { n->v = 3; free(n); }",
        "int f(struct list *l) { if (choose()) l->count++; return choose(); }",
        "unsigned f(unsigned n) { unsigned i; for (i = 1; i < n; i++) ; return i + choose(); }",
        "unsigned f(unsigned n) { unsigned i; for (i = 0; i != n; i += 2) ; return i + choose(); }",
        "unsigned f(unsigned n) { return n + (unsigned)choose(); }",
        "signed char f(int n) { if (n < 0) return 0; signed char i; for (i = 0; i < n; i++) if (choose()) break; return i; }",
        "int f(int n) { int i = 0; while (choose()) i++; return i < n ? i + n : i; }",
        "int f(struct list *l, struct list *m) { l->count = 1; m->count = choose(); return l->count; }",
        "int f(int *a, int i, int j) { a[i] = 1; a[j] = choose(); return a[i]; }",
        "int *f(void) { int x; return &x; }",
    ],
)
def test_what_need_not_hold_is_not_said(text: str) -> None:
    said = _said(text)
    assert all("device" in one or "*c" in one for one in said), said


def test_a_claim_that_says_more_is_refused() -> None:
    program = program_of(_HEAD + "unsigned f(unsigned n) { unsigned i; for (i = 0; i < n; i++) ; return i; }")
    search = RelationSearch(program)
    search.follow("f")
    claim = search.claims["f"]
    check_relations(program, [claim], search.contract)
    for odd in _more_than(claim):
        with pytest.raises(RefusedError):
            check_relations(program, [odd], search.contract)


def _more_than(claim: FunctionRelations) -> list[FunctionRelations]:
    zero = ir.IntConst(0, INT)
    found = [claim._replace(contract=NEVER), claim._replace(contract=claim.contract._replace(result=zero))]
    for location, state in claim.states.items():
        states = dict(claim.states)
        del states[location]
        found.append(claim._replace(states=states))
        if state.differences:
            stronger = frozenset(one._replace(most=one.most - 1) for one in state.differences)
            found.append(claim._replace(states={**claim.states, location: state._replace(differences=stronger)}))
        values = dict.fromkeys(state.values, zero)
        if values:
            found.append(claim._replace(states={**claim.states, location: state._replace(values=values)}))
    return found


def test_a_write_that_is_not_claimed_is_refused() -> None:
    program = program_of(_HEAD + "void f(int *out, int v) { *out = v; }")
    search = RelationSearch(program)
    search.follow("f")
    claim = search.claims["f"]
    states = {at: state._replace(written=frozenset()) for at, state in claim.states.items()}
    with pytest.raises(RefusedError):
        check_relations(program, [claim._replace(states=states)], search.contract)
    contract = claim.contract._replace(written=frozenset())
    with pytest.raises(RefusedError):
        check_relations(program, [claim._replace(contract=contract)], search.contract)
