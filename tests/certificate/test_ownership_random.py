"""Random small functions that allocate, free, copy, pass, test and use pointers: what closed sets prove of them, no run violates,
whichever branches are taken and allocations fail. Runs are those of the code of the compiler, under its address sanitizer."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from random import Random

import pytest

from analysis.certificate.ownership.closed_checker import check_closed_sets, refusal
from analysis.certificate.ownership.closed_search import ClosedSearch
from analysis.certificate.ownership.closed_sets import ClosedSets
from analysis.certificate.ownership.obligations import RULES
from analysis.cfa.linking.link import link
from tests.support.lowered import unit_of

_HEAD = """typedef unsigned long size_t; void *malloc(size_t); void *realloc(void *, size_t); void free(void *);
int choose(void); void *make(size_t);
static void drop(char *p) { free(p); }
static char *made(void) { char *p = malloc(4); if (p) p[0] = 1; return p; }
static int look(const char *p) { return p ? p[0] : 0; }
static char *same(char *p) { return p; }
static char *grown(char *p) { char *q = realloc(p, 8); if (!q) free(p); return q; }
static void tested(char *p) { char *q = p; if (!q) return; if (p) free(q); }
static void both(char *p, char *q) { free(p); free(q); }
static char *G; struct box { char *p; }; static struct box B;
static void cleared(void) { free(G); G = 0; }
static void taken(char **x) { free(*x); *x = 0; }
static void kept_by(struct box *b, char *p) { b->p = p; }
static void emptied(struct box *b) { free(b->p); b->p = 0; }
static void (*hook)(char *) = drop;
static char *chosen(char *p, char *q) { return p ? p : q; }
static void maybe(char *p, int n) { if (n) free(p); }
static int two(int a, int b) { return a + b; }
static char *many(char *p, char *q, char *r) { if (choose()) { free(p); p = 0; } if (choose()) G = q; if (choose()) return r;
if (choose()) return q; if (choose()) return made(); return choose() ? p : 0; }
struct first { struct { char a[4]; }; struct { int : 3; char c; }; }; struct whole { struct first f; char *p; };
static char *headed(void) { char *p = malloc(8); return p ? p + 4 : 0; }
static struct first *begun(void) { struct whole *w = malloc(sizeof *w); return w ? &w->f : 0; }
static void ended_first(struct whole *w) { free(&w->f); }
static char *deep(char *p, int n) { if (n > 0) return deep(p, n - 1); free(p); return 0; }
"""
_NAMES = "pqr"
_PROGRAMS, _RUNS = 100, 5
"""How many programs there are, and how often each function of which something is proved is run."""


class _Body:
    def __init__(self, random: Random, *, with_orders: bool) -> None:
        self.random = random
        self.with_orders = with_orders

    def statement(self, depth: int) -> str:
        r = self.random
        a, b = r.choice(_NAMES), r.choice(_NAMES)
        if self.with_orders and r.random() < 0.4:
            return r.choice(_unordered(a, b, r.choice(_NAMES)))
        inner = "{ " + self.statements(depth - 1) + " }" if depth else ";"
        choices = [
            f"{a} = malloc(4);",
            f"if (!{a}) {a} = malloc(4);",
            f"free({a});",
            f"free({a}); {a} = 0;",
            f"{a} = {b};",
            f"{a} = 0;",
            f"if ({a}) {a}[0] = 2;",
            f"if ({a}) {inner}",
            f"if ({a} == {b}) {inner}",
            f"if (choose()) {inner}",
            f"if (choose()) {inner} else {inner}",
            f"while (choose()) {inner}",
            f"{a} = made();",
            f"drop({a}); {a} = 0;",
            f"drop({a});",
            f"tested({a});",
            f"tested({a}); {a} = {b};",
            f"look({a});",
            f"{a} = same({b});",
            f"{a} = grown({a});",
            f"both({a}, {b});",
            f"{{ char *t = many({a}, {b}, {r.choice(_NAMES)}); if (choose()) {a} = t; }}",
            f"{{ char *t = many({a}, {b}, {r.choice(_NAMES)}); free(t); if ({a}) {a}[0] = 2; }}",
            f"{{ G = many({a}, {b}, {r.choice(_NAMES)}); cleared(); if ({a}) {a}[0] = 2; }}",
            f"{a} = deep({b}, 2);",
            f"{{ char *t = realloc({a}, 8); if (t) {a} = t; }}",
            f"if ({a}) {{ char *t = {a} + 1; t[0] = 1; }}",
            f"{a} = choose() ? {a} : {b};",
            f"G = {a};",
            f"if (!{a}) {a} = headed();",
            f"{a} = headed(); if ({a} && choose()) free({a} - 4);",
            f"{{ struct first *t = begun(); if (t) t->a[0] = 1; if (choose()) free(t); else {a} = (char *)t; }}",
            "{ struct whole *t = (struct whole *)begun(); if (t) ended_first(t); }",
            f"{{ struct first *t = begun(); {a} = t ? &t->c : 0; }}",
            f"{a} = G;",
            "cleared();",
            f"taken(&{a});" if r.random() < 0.2 else f"{a} = chosen({a}, {b});",
            f"kept_by(&B, {a});",
            "emptied(&B);",
            f"{{ struct box x; x.p = {a}; {b} = x.p; }}",
            f"hook({a});",
            f"{{ int n = choose(); maybe({a}, n); if (n) {a} = 0; }}",
            f"{{ char *t = {a}; if (t) t++; if (choose()) {b} = t; }}",
            f"switch (choose()) {{ case 0: free({a}); default: {b} = {a}; }}",
            "if (choose()) break;" if depth == -1 else f"if (choose()) {{ free({a}); return 0; }}",
            f"if (choose()) return {a};",
        ]
        return r.choice(choices)

    def statements(self, depth: int) -> str:
        return " ".join(self.statement(depth) for _ in range(self.random.randrange(1, 4)))


def _unordered(a: str, b: str, c: str) -> tuple[str, ...]:
    """Statements with operands in an open order: arguments come from right to left in gcc's code."""
    return (
        f"two(look({a}), (drop({b}), 1));",
        f"two((drop({a}), 1), look({b}));",
        f"two((drop({a}), {a} = 0, 1), look({b}));",
        f"two(look({a}), ({b} = made()) != 0);",
        f"two(({a} = grown({a})) != 0, look({b}));",
        f"two(({a} = 0, 1), look({b}));",
        f"two({a} ? look({a}) : 0, ({b} ? (drop({b}), {b} = 0, 1) : 0));",
        f"{c} = chosen(same({a}), made());",
        f"{c} = chosen({a} = made(), {b});",
        f"two(look({a}), (G = {b}, cleared(), 1));",
        f"two((maybe({a}, choose()), 1), look({b}));",
        f"two((tested({a}), 1), (look({b}), 1));",
        f"two(look({a}) + look({b}), two((drop({c}), 1), look({a})));",
        f"{{ int l[2] = {{look({a}), (drop({b}), 1)}}; if (l[0]) {c} = 0; }}",
        f"if ({a}) {a}[0] = (drop({b}), 1);",
        f"two(({a} = {b}) != 0, (drop({c}), 1));",
    )


def _function(random: Random, *, with_orders: bool) -> str:
    body = _Body(random, with_orders=with_orders)
    text = " ".join(body.statement(2) for _ in range(random.randrange(1, 5)))
    cleanup = random.choice(["free(p);", "free(p); free(q); free(r);", "", "free(p); free(q); return r;"])
    return f"char *f(void) {{ char *p = 0, *q = 0, *r = 0; {text} {cleanup} return 0; }}\n"


_MAIN = """#include <stdlib.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/wait.h>
static unsigned long long seed; static int left = 30;
int choose(void) { seed = seed * 6364136223846793005ULL + 1442695040888963407ULL; return left-- > 0 ? (seed >> 40) & 1 : 0; }
static int fail(void) { seed = seed * 6364136223846793005ULL + 1442695040888963407ULL; return ((seed >> 41) & 3) == 0; }
static void *live[64];
static void *kept(void *p) { for (int i = 0; p && i < 64; i++) if (!live[i]) { live[i] = p; break; } return p; }
static void dropped(void *p) { for (int i = 0; i < 64; i++) if (live[i] == p) live[i] = 0; }
static void *xmalloc(size_t n) { return fail() ? 0 : kept(malloc(n)); }
static void xfree(void *p) { dropped(p); free(p); }
static void *xrealloc(void *p, size_t n) {
    if (fail()) return 0;
    void *q = realloc(p, n); dropped(p); return kept(q);
}
static int leads_into(char *p, char *block) { return p >= block && p < block + 16; }
static void left_over(void *p) { for (int i = 0; i < 64; i++) if (live[i] && !leads_into(p, live[i])) fprintf(stderr, "LEAK "); }
"""
_LOOP = """int main(void) {
    for (int f = 0; f < (int)sizeof wanted; f++)
        for (int run = 0; wanted[f] && run < RUNS; run++) {
            fprintf(stderr, "RUN %d %d\\n", f, run);
            fflush(stderr);
            if (!fork()) { seed = run * 7919 + 1; left_over(all[f]()); _exit(0); }
            wait(0);
        }
    return 0;
}
"""


def _compiled(text: str, folder: Path) -> Path:
    """All functions in one program, which is told which one to call, and with which choices."""
    source, program = folder / "all.c", folder / "all"
    source.write_text(text)
    flags = ("-w", "-O0", "-g0", "-fsanitize=address", "-fno-builtin")
    subprocess.run(["gcc", *flags, "-o", program, source], check=True)
    return program


def _proved(text: str) -> frozenset[str]:
    program = link([unit_of(_HEAD + text)]).program
    search = ClosedSearch(program)
    followed = search.follow("f")
    assert followed is not None
    found = frozenset(rule for rule in RULES if not refusal(program, followed.found, "f", rule))
    for rule in found:
        assert check_closed_sets(program, ClosedSets("f", rule, search.sets("f"))).states
    return found


def _said(error: str) -> set[str]:
    kinds = {"double-free": "double-free", "bad-free": "invalid-free", "heap-use-after-free": "use-after-free"}
    found = {rule for word, rule in kinds.items() if f"AddressSanitizer: attempting {word}" in error or f": {word}" in error}
    return found | ({"memory-leak"} if "LEAK" in error else set())


@pytest.mark.parametrize(("seed", "with_orders"), [(7, False), (8, True)])
def test_no_run_violates_what_is_proved(seed: int, with_orders: bool, tmp_path: Path) -> None:
    random = Random(seed)
    bodies = [_function(random, with_orders=with_orders) for _ in range(_PROGRAMS)]
    proved = [_proved(body) for body in bodies]
    assert sum(bool(rules) for rules in proved) > _PROGRAMS // 10
    assert sum("memory-leak" in rules for rules in proved) > _PROGRAMS // 40
    head = _HEAD.replace(
        "typedef unsigned long size_t; void *malloc(size_t); void *realloc(void *, size_t); void free(void *);", ""
    )
    parts = [_MAIN, f"#define RUNS {_RUNS}\n#define malloc xmalloc\n#define realloc xrealloc\n#define free xfree\n", head]
    parts += [body.replace("*f(void)", f"*f{number}(void)") for number, body in enumerate(bodies)]
    table = ", ".join(f"f{number}" for number in range(len(bodies)))
    parts.append(f"static char *(*all[])(void) = {{ {table} }};\n")
    wanted = ", ".join("1" if rules else "0" for rules in proved)
    parts.append(f"static char wanted[] = {{ {wanted} }};\n{_LOOP}")
    options = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run([_compiled("".join(parts), tmp_path)], capture_output=True, text=True, check=False, env=options)
    assert done.returncode == 0
    runs = done.stderr.split("RUN ")[1:]
    assert len(runs) == _RUNS * sum(map(bool, proved))
    violated = 0
    for run in runs:
        first, _, error = run.partition("\n")
        number = int(first.split()[0])
        found = _said(error)
        violated += bool(found)
        assert not proved[number] & found, (sorted(proved[number]), bodies[number], first, error[:900])
    assert violated  # by what is not proved: the sanitizer sees something
