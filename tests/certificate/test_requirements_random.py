"""Random small functions that follow, test, copy and store pointers, divide, and call each other.

Where what a function needs is kept, no run follows a null pointer or divides by zero, and no result is null that is said not to
be. Runs are those of the code of the compiler.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from analysis.certificate.nonzero.callee_contracts import Contract
from analysis.certificate.nonzero.claims import Requirements
from analysis.certificate.nonzero.needed_values import Rule
from analysis.certificate.nonzero.requirement_checker import check_requirements, conditions, open_place
from analysis.certificate.nonzero.requirement_search import RequirementSearch
from analysis.cfa.linking.link import link
from analysis.model import ir
from analysis.model.spelling import spell_expr
from tests.support.lowered import unit_of

_HEAD = """struct s { int n; int m; struct s *l; struct s *r; int *v; union { long i; struct s *u; } o; };
int choose(void); void *malloc(unsigned long);
static struct s *G; static int D; static struct s H;
static int get(struct s *x) { return x->n; }
static int deep(struct s *x) { return x->l->n; }
static int safe(struct s *x) { return x ? x->n : 0; }
static int part(int x, int y) { return x / y; }
static struct s *made(void) { static struct s one; one.n = 1; return &one; }
static struct s *maybe(struct s *x) { return choose() ? x : 0; }
static struct s *other(struct s *x) { return x ? x : &H; }
static void cut(struct s *x) { if (x) x->l = 0; }
static void cutr(struct s *x) { x->r = 0; }
static void zero(int *x) { if (x) *x = 0; }
static void clear(struct s **x) { *x = 0; }
static void swap(void) { G = choose() ? &H : 0; D = choose(); }
static int down(struct s *x, int k) { if (k <= 0) return x->n; return down(x, k - 1); }
static struct s *last(struct s *x) { while (x->l && x->l != x) { x = x->l; if (choose()) break; } return x; }
static int pick(struct s *x, int k) { return k ? x->n : 0; }
static int pick2(struct s *x, int k) { switch (k) { case 1: return deep(x); case 2: return safe(x); } return pick(x, k); }
static void ring(struct s *x) { x->l = x; }
static void join(struct s *x, struct s *y) { x->l = y; }
static int wipe(struct s *x) { if (x) x->l = 0; return 1; }
static int sum(int a, int b) { return a + b; }
static int step(void) { D = D ? 0 : 1; return D; }
static struct s *(*hook)(struct s *) = maybe;
static int has(struct s *x) { return x != 0; }
static int put(struct s *x, struct s **y) { if (!y) return 0; *y = x; return x ? 2 : 0; }
static int both(struct s *x, struct s *y) { if (!x || !y) return 0; return 1; }
static int lose(struct s *x, struct s **y) { int k = x != 0; *y = choose() ? x : 0; return k; }
static struct s *keep(struct s *x) { return x ? other(x) : 0; }
static struct s *must(struct s *x, int k) { if (k) x->n = 1; return x; }
static struct s *made2(struct s *x, int k) { if (k) x->n = 1; if (!x) G = 0; return &H; }
static struct s *again(struct s *x, int k);
static struct s *ahead(struct s *x, int k) { if (k == 1 && x) x->n = 1; return k > 1 ? again(0, k - 2) : x; }
static struct s *again(struct s *x, int k) { return k > 2 ? ahead(x, 1) : ahead(x, k); }
"""
_PROGRAMS, _RUNS = 120, 24
_RULES: tuple[Rule, ...] = ("null-dereference", "division-by-zero")


_STATEMENTS = """{i} = {a}->n;
{a}->n = {i};
{a} = {a}->{m};
{a} = {b};
{a}->{m} = {b};
{a} = 0;
{i} = {j};
{i} = 1;
{i} = 0;
{i} = 7 / {j};
if ({i}) {j} = 8 % {i};
if ({j} > 0) {i} /= {j};
if ({a}) {inner}
if (!{a}) return 0;
if ({a} == 0) {inner} else {inner}
if ({a}->{m}) {inner}
if ({a} && {a}->{m}) {inner}
if ({a} && {b}) {inner}
if (!{a} || !{b}) return {b};
while ({a}) {{ {inner} {a} = {a}->{m}; if (choose()) break; }}
while (choose()) {inner}
if (choose()) {inner}
{i} = get({a});
{i} = deep({a});
{i} = safe({a});
{i} = part({i}, {j});
{a} = made();
{a} = maybe({b});
{a} = other({b});
cut({a});
cutr({a});
zero({a}->v);
zero(&{i});
clear(&{a}->{m});
clear(&{a});
swap();
G = {a};
{a} = G;
D = {i};
if (G) {{ {i} = G->n; swap(); }}
if (D) {{ {inner} {i} = 5 / D; }}
{i} = down({a}, 2);
{a} = last({b});
{a} = hook({b});
{{ struct s x = {{0}}; x.l = {a}; {b} = x.l; }}
{{ struct s x = *{a}; {b} = x.{m}; }}
*{a} = *{b};
{a}->v = &{i};
if ({a}->v) {i} = *{a}->v;
{a}->o.u = {b}; {b}->o.i = 0; {b} = {a}->o.u;
{a}->o.i = 0;
{{ int f = 0; if ({a}) f = 1; if (f) {i} = {a}->n; }}
{{ struct s *c = {a}; if (c) {inner} if (c) {b} = {a}->{m}; }}
if ({a}->{m} && {b}) {{ {b}->{o} = 0; {i} = {a}->{m}->n; }}
{{ char *c = (char *){a}; if (c) {a}->n = 2; }}
if ({a} != {b}) {inner} else if ({a}) {i} = {b}->n;
switch ({i}) {{ case 0: {inner} break; default: {j} = 6 / {i}; }}
{{ struct s **h = &{a}->{m}; *h = {b}; {i} = {a}->{m} ? {b}->n : 0; }}
{{ int *h = &{a}->n; *h = {i}; }}
{i} = {i} ? 9 / {i} : {j};
do {{ {inner} }} while ({a} && choose());
if ({a}) return {a};
{i} = pick({a}, 0);
{i} = pick({a}, {i});
{i} = pick(0, {i});
{i} = pick2({a}, 0) + pick2({b}, 2);
{i} = pick2({a}, 1);
ring({a});
join({a}, {b});
if ({a} && {a}->l && {b}) {{ ring({b}); {i} = {a}->l->n; }}
if ({a} && {a}->l && {b}) {{ join({b}, {a}); {i} = {a}->l->n; }}
if ({a} && {a}->l && {b}) {{ join({b}, {c}); {i} = {a}->l->n; }}
{i} = sum(safe({a}), step()) + step();
if ({a} && {a}->l) {i} = sum({a}->l->n, wipe({b}));
if ({a} && {a}->l) {i} = sum(wipe({b}), {a}->l->n);
if ({a} && {a}->r) {i} = sum(wipe({b}), {a}->r->n) + wipe({a});
if ({a} && {a}->l && {b}) {i} = sum((ring({b}), 1), {a}->l->n) + wipe(0);
{i} = sum(D ? 6 / D : 0, step());
if (D) {i} = sum(6 / D, step());
{i} = sum({a} && {a}->l ? {a}->l->n : 0, wipe({b})) + step();
if (D) {i} = step() + sum(wipe({a}), 8 / D);
if (z) *z = {a};
if (z && *z) {inner}
if (!z || !*z) return {a};
if (z) {a} = *z;
if (!z) return 0;
*z = {a};
if (has({a})) {i} = {a}->n;
if (!has({a})) return {b};
if (put({a}, &{b})) {i} = {b}->n;
if (put({a}, &{b}) == 0) return {b};
{{ int k2 = put({a}, z); if (k2) {b} = *z; if (z && k2) {i} = {b}->n; }}
if (both({a}, {b})) {i} = {a}->n + {b}->n;
if (lose({a}, &{a}) != 0) {i} = {a}->n;
if (lose({a}->l, &{a}->l)) {i} = {a}->l->n;
{c} = keep({a}); if ({c}) {i} = {a}->n;
{a} = must({b}, 0);
{a} = must(0, {i});
{a} = made2({b}, {i});
if (G) {{ {a} = made2(0, 0); {i} = {a}->n + G->n; }}
{a} = again({b}, {i});
{a} = again({b}, 3);
{a} = again(0, 0);
if ({a}) {{ {b} = again({a}, 2); {i} = {b}->n; }}
""".splitlines()


def _statement(random: Random, depth: int) -> str:
    def inner() -> str:
        if not depth:
            return ";"
        body = " ".join(_statement(random, depth - 1) for _ in range(random.randrange(1, 4)))
        return f"{{ {body} }}"

    names = {name: random.choice("pqt") for name in "abc"} | {name: random.choice("nk") for name in "ij"}
    members = {name: random.choice("lr") for name in "mo"}
    return random.choice(_STATEMENTS).format(**names, **members, inner=inner())


def _function(random: Random) -> str:
    statements = " ".join(_statement(random, 2) for _ in range(random.randrange(1, 5)))
    result = random.choice("pqt")
    head = "struct s *f(struct s *p, struct s *q, int n, struct s **z)"
    return f"{head} {{ struct s *t = 0; int k = 1; {statements} return {result}; }}\n"


class _Shown(NamedTuple):
    """What is shown of a random function: the rules that it keeps under these conditions, and whether its result is not null."""

    rules: frozenset[str]
    needs: tuple[str, ...]
    nonzero: bool
    tells: tuple[str, ...]


def _told(contract: Contract) -> Iterator[str]:
    """What the result says of what was passed, as conditions in C. A pointer that is followed in one is not null then."""
    for one in contract.tells or ():
        guard = f"{spell_expr(one.expr.pointer)} == 0 || " if isinstance(one.expr, ir.Deref) else ""
        is_so = f"({spell_expr(one.expr)} {'!=' if one.nonzero else '=='} 0)"
        yield f"({guard}(r != 0) != {one.when:d} || {is_so})"


def _shown(text: str) -> _Shown:
    program = link([unit_of(_HEAD + text)]).program
    rules, needs, nonzero, tells = set[str](), list[str](), False, list[str]()
    for rule in _RULES:
        search = RequirementSearch(program, rule)
        found = search.follow("f")
        assert found is not None
        assert not any(open_place(program, name, found) for name, found in search.found.items() if name != "f")
        if open_place(program, "f", found):
            continue
        rules.add(rule)
        needs += conditions(found.contract.needs)
        nonzero = nonzero or (rule == "null-dereference" and found.contract.nonzero)
        tells += _told(found.contract)
        if not found.contract.needs:
            assert check_requirements(program, Requirements("f", rule, search.needs())).steps
    return _Shown(frozenset(rules), tuple(dict.fromkeys(needs)), nonzero, tuple(sorted(tells)))


_MAIN = """#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <unistd.h>
#include <sys/wait.h>
static unsigned long long seed; static int left = 40;
static int bit(void) { seed = seed * 6364136223846793005ULL + 1442695040888963407ULL; return (seed >> 40) & 1; }
int choose(void) { return left-- > 0 ? bit() : 0; }
"""
_GRAPH = """static struct s *Z; static struct s heap[4]; static int cells[4];
static struct s *any(void) { return bit() || bit() ? &heap[(seed >> 45) & 3] : 0; }
static void build(void) {
    for (int i = 0; i < 4; i++) {
        heap[i].n = bit(); heap[i].m = bit(); heap[i].l = any(); heap[i].r = any(); heap[i].o.u = any();
        heap[i].v = bit() ? &cells[i] : 0; cells[i] = bit();
    }
    G = any(); D = bit(); Z = any();
}
"""


@pytest.mark.parametrize("seed", [11, 12])
def test_no_run_breaks_what_is_shown(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    bodies = [_function(random) for _ in range(_PROGRAMS)]
    shown = [_shown(body) for body in bodies]
    assert sum("null-dereference" in one.rules for one in shown) > _PROGRAMS // 4
    assert sum(bool(one.needs) for one in shown) > _PROGRAMS // 8
    assert any(one.nonzero for one in shown)
    assert sum(len(one.tells) for one in shown) > _PROGRAMS // 4
    said = _runs(tmp_path, bodies, shown)
    assert len(said) > _PROGRAMS  # most needs are kept by some arguments
    broken = 0
    for number, signal, is_null, is_told in said:
        rule = {"11": "null-dereference", "8": "division-by-zero"}.get(signal)
        broken += rule is not None
        one = shown[number]
        are_both = len(one.rules) == len(_RULES)  # a run that breaks another rule proves nothing of this one
        assert rule is None or not (are_both and rule in one.rules), (one, bodies[number])
        assert not (one.nonzero and is_null and signal == "0"), (one, bodies[number])
        assert is_told or signal != "0", (one, bodies[number])
    assert broken  # by what is not shown


def _runs(folder: Path, bodies: list[str], shown: list[_Shown]) -> list[tuple[int, str, bool, bool]]:
    """The number of the function of each run, the signal that ended it, whether the result was null, and whether it told the
    truth."""
    parts = [_MAIN, _HEAD.replace("int choose(void); void *malloc(unsigned long);", ""), _GRAPH]
    calls = []
    for number, (body, one) in enumerate(zip(bodies, shown, strict=True)):
        parts.append(body.replace("*f(", f"*f{number}("))
        condition = " && ".join(f"({need})" for need in one.needs) or "1"
        calls.append(
            f"case {number}: {{ if (!({condition})) _exit(77); "
            f"struct s *r = f{number}(p, q, n, z); if (!({' && '.join(one.tells) or '1'})) _exit(88); _exit(r ? 0 : 66); }}"
        )
    parts.append(
        "static void call(int i, struct s *p, struct s *q, int n, struct s **z)"
        f" {{ switch (i) {{ {' '.join(calls)} }} }}\n"
        f"int main(void) {{ for (int i = 0; i < {len(bodies)}; i++) for (int run = 0; run < {_RUNS}; run++) {{"
        " int status; "
        "if (!fork()) { seed = run * 7919 + 13; build(); struct s *p = any(), *q = any(); call(i, p, q, bit(), bit() ? &Z : 0); }"
        " wait(&status); "
        "int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0; "
        'if (code != 77) printf("%d %d %d\\n", i, WIFSIGNALED(status) ? WTERMSIG(status) : 0,'
        " code == 66 ? 1 : code == 88 ? 2 : 0); } return 0; }\n"
    )
    source, program = folder / "all.c", folder / "all"
    source.write_text("".join(parts))
    flags = ("-w", "-O0", "-g0", "-fno-builtin", "-fno-strict-aliasing", "-fno-delete-null-pointer-checks", "-fwrapv")
    subprocess.run(["gcc", *flags, "-o", program, source], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    return [(int(number), signal, code == "1", code != "2") for number, signal, code in rows]
