"""How what a function returns and writes relates to what was there before is said only where C reads it as it is meant. The
class: a true equality is printed as an expression that has another value, or a reader takes a name for another variable."""

from __future__ import annotations

import pytest

from analysis.cfa.linking.link import link
from analysis.session.contracts.program_contracts import ProgramContracts
from analysis.session.contracts.sentences import sentences
from tests.support.lowered import unit_of

_HEAD = """typedef void (*handler)(int); handler signal(int, handler); void *malloc(unsigned long);
struct node { int x; struct node *next; }; struct list { struct node *head; int count; }; int g, table[9];
"""


def _said(text: str) -> list[str]:
    contract = ProgramContracts(link([unit_of(_HEAD + text)]).program).of("f").contract
    return [one.text for one in sentences(contract) if one.text.startswith(("sets ", "returns "))]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("int f(int n) { return n + 1; }", "returns `n + 1`"),
        ("int f(int n) { return -n; }", "returns `-n`"),
        ("int *f(int *a, int i) { return a + i; }", "returns `a + i`"),
        ("int *f(struct list *l) { return &l->count; }", "returns `&l->count`"),
        ("void f(int *a, int i, int v) { a[i] = v; }", "sets `a[i]` to `v`"),
        ("int f(int n) { g = n; return 0; }", "sets `g` to `n`"),
        ('int f(int code, char **m) { if (code) *m = "a"; return code; }', "returns `code`"),
    ],
)
def test_what_reads_as_it_is_meant_is_said(text: str, said: str) -> None:
    assert said in _said(text)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("long f(int n, long k) { return (long)n << k; }", "<<"),  # C shifts an int (C11 6.5.7p3)
        ("unsigned f(unsigned n) { return 1u << n >> 3; }", "<<"),
        ("unsigned f(unsigned n) { return n * 4294967295u; }", "4294967295"),  # a long in C (6.4.4.1p5)
        ("unsigned f(unsigned n) { return n - 4000000000u; }", "4000000000"),
        ("void f(int *a) { *a = *a + 2147483647; *a = *a + 1; }", "-2147483648"),
        ("int f(int n) { return -(-n); }", "--"),
        ("unsigned f(unsigned n) { return n & ~7u; }", "&"),
        ("int *f(struct list *l) { int *r = &l->head->x; l->head = 0; return r; }", "&l"),  # now another object
        ("int *f(void) { int *r = &table[g]; g = 3; return r; }", "&table"),
        ("void f(void *p) { *(int *)p = 3; *(short *)p = 4; }", "*"),
        ("int n; static int get(void) { return n; } int f(int n) { return get(); }", "returns `n`"),
        ("int n; static void set(int v) { n = v; } int f(int n) { set(5); return n; }", "sets"),
        ("static int c(void) { static int n; return ++n; } int f(int n) { return c(); }", "`n`"),
        ("int f(int result) { return result + 1; }", "result"),
        ("void on(int s) { g = 5; } int f(void) { g = 3; return 0; } int main(void) { signal(2, on); return f(); }", "sets"),
    ],
)
def test_what_reads_otherwise_is_not_said(text: str, word: str) -> None:
    assert [one for one in _said(text) if word in one] == []


def test_a_result_that_is_known_leaves_what_it_tells_of_others() -> None:
    assert "returns 0 if and only if `*o == NULL`" in _said("int f(int n, int **o) { *o = 0; if (n) *o = &g; return n; }")
    assert not [one for one in _said("int f(int n) { return n; }") if "if and only if" in one]
