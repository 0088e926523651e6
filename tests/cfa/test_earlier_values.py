"""The class: a variable that has a value from an earlier run of its block (C11 6.2.4p5-6). Where control enters a block, its
variables have no values until their declarations give them some. A jump may pass these, and an initialiser may read its own
variable."""

from __future__ import annotations

import pytest

from tests.support.lowered import body

PASSED = {
    "a jump into the body of a loop": "for (int i = 0; i < 2; i++) { if (i) goto in; int k; k = 5; in: use(k); }",
    "a loop without an end": "int i = 0; while (1) { if (i) goto in; int k; k = 5; in: use(k); i++; }",
    "a case": "while (g(a)) switch (b++) { int k; case 1: k = 5; break; default: use(k); }",
    "a case of a switch that a loop is in": "while (1) switch (g(a)) { int k; case 1: k = 5; break; case 2: return k; }",
    "a jump back": "int i = 0; again: { if (i) goto in; int k = 5; in: use(k); } i++; goto again;",
    "its address": "for (int i = 0; i < 2; i++) { if (i) goto in; int k; k = 5; in: use(&k); }",
    "a part": "for (int i = 0; i < 2; i++) { if (i) goto in; struct node k; k.v = 5; in: use(k.v); }",
    "a part beside": "for (int i = 0; i < 2; i++) { if (i) goto in; struct node k = {5}; in: k.next = 0; use(k.v); }",
    "an element": "for (int i = 0; i < 2; i++) { if (i) goto in; int k[2]; k[0] = 5; in: use(k[0]); }",
    "an inner block": "for (int i = 0; i < 2; i++) { if (i) goto in; { int k = 5; { in: use(k); } } }",
    "a condition": "for (int i = 0; i < 2; i++) { if (i) goto in; int k = 5; in: if (k) return 1; }",
    "a statement expression": "for (int i = 0; i < 2; i++) use(({ if (i) goto in; int k = 5; in: k; }));",
}
KEPT = {
    "no loop": "if (a) goto in; { int k; k = 5; in: use(k); }",
    "given a value behind the label": "for (int i = 0; i < 2; i++) { if (i) goto in; int k; k = 5; in: k = 6; use(k); }",
    "given a value by a call": "for (int i = 0; i < 2; i++) { if (i) goto in; int k; k = 5; in: k = g(a); use(k); }",
    "a jump out": "for (int i = 0; i < 2; i++) { int k = 5; if (i) goto out; use(k); } out: use(a);",
    "a jump to the end": "for (int i = 0; i < 2; i++) { if (i) goto next; int k = 5; use(k); next: ; }",
    "a jump back within the block": "for (int i = 0; i < 2; i++) { int k = 5; again: use(k); if (k--) goto again; }",
    "cases with blocks": "while (g(a)) switch (b) { case 1: { int k = 5; use(k); break; } default: { int k; k = 1; use(k); } }",
    "a loop around": "while (g(a)) { int k = 5; while (g(b)) use(k); do { int m = k; use(m); } while (g(a)); }",
    "a loop without an end": "while (1) { int k = g(a); if (k) break; use(k); }",
    "a literal": "for (int i = 0; i < 2; i++) { struct node *q = &(struct node){i, 0}; use(q->v); }",
    "a list": "for (int i = 0; i < 2; i++) { struct node k = {i, p ? 0 : &k}; int m[2] = {i, 1}; use(k.v, m[i]); }",
    "a conditional value": "for (int i = 0; i < 2; i++) { int k = i ? a : b; int m = i && a; use(k, m); }",
    "outside of the block": "int k; for (int i = 0; i < 2; i++) { if (i) goto in; k = 5; in: use(k); }",
    "a structure that a call returns": "struct node made(int); for (int i = 0; i < 2; i++) use(i); use(made(a), made(b).v);",
    "static": "for (int i = 0; i < 2; i++) { if (i) goto in; static int k; k = 5; in: use(k); }",
}


@pytest.mark.parametrize("name", PASSED)
def test_a_value_from_an_earlier_run_of_the_block_is_not_read(name: str) -> None:
    assert "whose declaration a jump may pass" in body(PASSED[name])


@pytest.mark.parametrize("name", KEPT)
def test_a_value_of_this_run_is_read(name: str) -> None:
    assert "not supported" not in body(KEPT[name])
    assert "whose declaration" not in body(KEPT[name])


@pytest.mark.parametrize("initialiser", ["a ? 5 : k", "k", "(k + 1) * 2", "g(k)"])
def test_an_initialiser_that_reads_its_own_variable_reads_no_value(initialiser: str) -> None:
    assert "k is declared" in body(f"while (g(a)) {{ int k = {initialiser}; use(k); }}")


@pytest.mark.parametrize("initialiser", ["malloc(sizeof *k)", "malloc(sizeof(k))", "s"])
def test_what_is_not_evaluated_reads_nothing(initialiser: str) -> None:
    assert "k is declared" not in body(f"while (g(a)) {{ void *k = {initialiser}; use(k); }}")
