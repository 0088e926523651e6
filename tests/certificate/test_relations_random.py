"""Random functions that write through pointers, loop, and call each other and themselves: no run contradicts what is said of how
what they return and write relates to what was there before. Pointers that are passed lead to the same objects, to members of
others, and to variables of the program; numbers are near the limits of their types, and computation wraps."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from analysis.certificate.nonzero.writes import Place
from analysis.certificate.relations.relation_search import RelationSearch
from analysis.cfa.graph import Program
from analysis.session.contracts.related_clauses import RelatedClauses
from tests.support.explorations import program_of

_PROGRAMS, _FUNCTIONS, _RUNS = 60, 8, 60
_SEEDS = (1, 2, 3)
_HEAD = """
typedef unsigned long size;
struct s { int a; unsigned b; struct s *next; unsigned char c; int f : 5; int array[3]; };
union u { int i; unsigned j; struct s *p; unsigned char bytes[8]; float real; };
struct pair { struct s first; struct s second; };
int g, h; unsigned k; size wide; volatile int v; struct s gs, *gp; union u gu; unsigned char text[8]; int *go;
void *memset(void *, int, size); void *memcpy(void *, const void *, size);
static void set(int *to, int x) { *to = x; }
static int take(int *from) { int old = *from; *from = 0; return old; }
static int same(int x) { return x; }
static unsigned up(unsigned n) { unsigned i; for (i = 0; i < n; i++) { TICK } return i; }
static struct s *pop(struct s *l) { struct s *n = l->next; l->next = n->next; l->a--; return n; }
static int down(int n, int *to) { TICK if (n <= 0) { *to = 7; return n; } *to = n; return down(n - 1, to); }
static int least(int x, int y) { return x < y ? x : y; }
static void (*through)(int *, int) = set;
static void keep(int *p) { go = p; }
static void kept(int x) { if (go) *go = x; }
"""
_PARAMETERS = "int x, int y, unsigned n, struct s *p, struct s *q, int *o, int *r, union u *w, unsigned char *c, volatile int *m"
_STATEMENTS = """{i} = {j};
{i} = {j} + {k};
{i} = {j} - 1;
{i}++;
{i}--;
{i} = -{j};
{i} = (signed char){j};
{i} = {j} < {k};
{i} = {j} & 15;
n = {i};
n++;
n = n - 1;
n = n % 7;
{i} = n;
{z} = {i};
{z} = {z} + {c};
{z}++;
{i} = {z};
{z} = {y};
{z} = {c};
p->next = q;
q = p->next;
p = q;
gp = p;
p = gp;
q = p->next->next;
*p = *q;
gs = *p;
o = &g;
o = &p->a;
o = r;
r = &t;
r = (int *)&p->b;
*(unsigned *)o = n;
*(unsigned char *)o = {i};
c = (unsigned char *)&p->a;
*c = {i};
c[1] = 3;
text[2] = {i};
w->i = {i};
w->j = n;
w->p = p;
w->bytes[1] = {i};
w->real = 1;
{i} = w->i;
p = w == &gu ? p : q;
v = {i};
*m = {i};
{i} = *m;
{i} = v;
p->f = {i};
{i} = p->f;
p->array[{i} & 1] = {j};
p->array[2] = {c};
{i} = p->array[2];
memset(p, 0, 8);
memcpy(&gs.a, o, sizeof(int));
set(o, {i});
set(&t, {i});
set(&g, {z});
set(&p->a, {i});
{i} = take(r);
{i} = take(&t);
{i} = same({j});
n = up(n);
n = up({i} & 7);
q = pop(p);
{i} = down({j} & 7, o);
{i} = least({j}, {k});
through(r, {i});
keep(o);
keep(&t);
kept({i});
{{ int b = {i}; o = &b; *o = 4; {j} = b; o = r; }}
{{ struct s b = *p; b.a = {i}; p = &gs; {j} = b.a; }}
{{ int b[2] = {{1, 2}}; b[{i} & 1] = {j}; {k} = b[1]; }}
if ({i} < {j}) {inner}
if ({i} <= {c}) {inner} else {inner}
if (n > {c}) {inner} else {inner}
if (o == &g) {inner}
if (p == q) {inner}
if (n < k) return {i};
if ({i} > {j}) return {j};
if ({i} != {j}) {inner} else {inner}
for ({i} = 0; {i} < {j}; {i}++) {{ TICK {inner} }}
for (unsigned e = 0; e < n; e++) {{ TICK {inner} }}
for ({i} = {j}; {i} != {k}; {i}--) {{ TICK {inner} }}
while (n > {c}) {{ TICK n--; {inner} }}
while ({z} > 0) {{ TICK {z} = {z} - 1; }}
do {{ TICK {inner} }} while ({i}++ < {c});
switch ({i}) {{ case 0: {inner} break; case 1: return {j}; default: {inner} }}
{i} = {f}({j}, {k}, n, p, q, o, r, w, c, m);
{f}({i}, {j}, n, q, p, r, o, w, c, m);
{f}({i}, {j}, {k}, p, p, &g, &p->a, w, c, &v);
{f}({i}, {j}, 3, &gs, q, &t, &t, w, c, m);
TICK {i} = {self}({j} - 1, {k}, n, p, q, o, r, w, c, m);"""
_OBJECTS = ("*o", "*r", "p->a", "q->a", "g", "h", "gs.a", "gp->a", "w->i", "t")
_RETURNS = ("return {i};", "return {i} + 1;", "return {z};", "return n;", "return {j} < {i};", "return (int)k;", "return t;")
_MAIN = """
#include <stdio.h>
#include <stdlib.h>
static struct pair pairs[3]; static union u us[2]; static int cells[3];
static unsigned seed = @SEED@;
static unsigned any(void) { seed = seed * 1103515245u + 12345u; return seed >> 8; }
static int number(void) {
  static const int near[] = {0, 1, 2, 3, -1, -2, 5, 7, 2147483647, -2147483647 - 1, 2147483646, 15};
  return any() % 4 ? near[any() % 12] : (int)any();
}
static struct s *object(void) {
  struct s *all[] = {&gs, &pairs[0].first, &pairs[0].second, &pairs[1].first, &pairs[2].second}; return all[any() % 5]; }
static int *cell(void) {
  struct s *one = object();
  int *all[] = {&g, &h, &cells[0], &cells[1], &one->a, (int *)&one->b, &one->array[2], (int *)&k, &us[0].i, &gu.i};
  return all[any() % 10];
}
static void start(void) {
  fuel = 300; through = set; go = any() % 2 ? cell() : 0;
  unsigned char *all = (unsigned char *)pairs;
  for (unsigned i = 0; i < sizeof pairs; i++) all[i] = any();
  g = number(); h = number(); k = number(); v = number(); gp = object(); gs.a = number(); gs.b = number(); gs.next = object();
  gs.c = any(); gs.f = any() % 8; gs.array[2] = number(); gu.i = number(); us[0].i = number(); us[1].i = number();
  for (int i = 0; i < 3; i++) {
    pairs[i].first.next = object(); pairs[i].second.next = object(); cells[i] = number();
    pairs[i].first.a = number(); pairs[i].second.a = number();
  }
}
"""


class _Body:
    """Statements of one function. `callees`: the functions that it may call."""

    def __init__(self, random: Random, own: str, callees: list[str]) -> None:
        self._random, self._own, self._callees = random, own, callees or ["same_args"]

    def lines(self, count: int, depth: int = 0) -> str:
        return " ".join(self._one(depth) for _ in range(count))

    def _one(self, depth: int) -> str:
        forms = _STATEMENTS.split("\n")
        form = self._random.choice([one for one in forms if depth < 2 or "{inner}" not in one])
        found = self.filled(form.replace("{inner}", "@"))
        while "@" in found:
            found = found.replace("@", f"{{ {self.lines(self._random.randint(0, 2), depth + 1)} }}", 1)
        return found

    def filled(self, form: str) -> str:
        pick = self._random.choice
        numbers = [pick(("x", "y", "i", "j")) for _ in range(3)]
        return form.format(
            i=numbers[0],
            j=numbers[1],
            k=numbers[2],
            z=pick(_OBJECTS),
            y=pick(_OBJECTS),
            c=pick((0, 1, 2, 3, 100)),
            f=pick(self._callees),
            self=self._own,
        )


def _text(random: Random) -> str:
    """A program, with `TICK` where a run may be ended."""
    found = [_HEAD, f"static int same_args({_PARAMETERS}) {{ return x; }}\n"]
    names: list[str] = []
    for number in range(_FUNCTIONS):
        name = f"f{number}"
        body = _Body(random, name, names)
        end = body.filled(random.choice(_RETURNS))
        lines = body.lines(random.randint(1, 6))
        found.append(f"int {name}({_PARAMETERS}) {{ int i = x, j = y, t = 0; {lines} {end} }}\n")
        names.append(name)
    return "".join(found)


class _Said(NamedTuple):
    function: str
    formula: str


def _said(program: Program) -> Iterator[_Said]:
    search = RelationSearch(program)
    for name, cfa in program.functions.items():
        assert search.follow(name)
        if name.startswith("f"):
            clauses = RelatedClauses(program, cfa, cfa, search.contract(name)).clauses("proved")
            yield from (_Said(name, clause.formula) for clause in clauses)


def _olds(formula: str) -> list[str]:
    """The expressions in `old(...)`."""
    found = []
    for one in re.finditer(r"\bold\(", formula):
        depth, at = 1, one.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(formula[at], 0)
            at += 1
        found.append(formula[one.end() : at - 1])
    return found


def _check(said: _Said, number: int) -> str:
    """A function in C that calls one with random arguments and prints what it contradicts."""
    formula, before = said.formula, []
    for at, expr in enumerate(_olds(formula)):
        before.append(f"__typeof__(({expr}) + 0) old{at} = {expr};")
        formula = formula.replace(f"old({expr})", f"old{at}", 1)
    return f"""static void check{number}(void) {{
  int x = number(), y = number(); unsigned n = any() % 2 ? any() % 6 : (unsigned)number();
  struct s *p = object(), *q = object(); int *o = cell(), *r = any() % 3 ? cell() : o;
  union u *w = any() % 2 ? &gu : &us[any() % 2]; unsigned char *c = any() % 2 ? text : (unsigned char *)cell();
  volatile int *m = any() % 2 ? &v : cell();
  {" ".join(before)} int result = 0;
  if (setjmp(out)) return;
  int got = {said.function}(x, y, n, p, q, o, r, w, c, m); result = got; (void)result;
  if (!({formula})) {{ printf("{said.function}: {said.formula.replace(chr(34), "")}\\n"); exit(1); }}
}}
"""


def _run(text: str, said: list[_Said], seed: int, folder: Path) -> str:
    """What a run contradicts; empty if nothing."""
    ticks = "#include <setjmp.h>\nstatic jmp_buf out; static int fuel;\n" + text.replace("TICK", "if (!fuel--) longjmp(out, 1);")
    checks = "".join(_check(one, at) for at, one in enumerate(said))
    calls = "".join(f"start(); check{at}(); " for at in range(len(said)))
    main = f"int main(void) {{ for (int e = 0; e < {_RUNS}; e++) {{ {calls} }} return 0; }}\n"
    source, program = folder / "a.c", folder / "a.out"
    source.write_text(ticks + _MAIN.replace("@SEED@", str(seed)) + checks + main)
    subprocess.run(["gcc", "-w", "-O1", "-fwrapv", "-o", str(program), str(source)], check=True)
    done = subprocess.run([str(program)], capture_output=True, text=True, timeout=60, check=False)
    return done.stdout if done.returncode == 1 else ""


@pytest.mark.parametrize("seed", _SEEDS)
def test_no_run_contradicts_what_is_said(seed: int, tmp_path: Path) -> None:
    random, count = Random(seed), 0
    for _ in range(_PROGRAMS // len(_SEEDS)):
        text = _text(random)
        said = list(_said(program_of(text.replace("TICK", ""))))
        count += len(said)
        assert said
        assert not _run(text, said, random.randrange(1 << 30), tmp_path), text
    assert count > _PROGRAMS // len(_SEEDS)


def test_a_run_contradicts_what_is_said_where_no_write_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Place, "meets", lambda _one, _other: False)
    random = Random(1)
    for _ in range(10):
        text = _text(random)
        said = list(_said(program_of(text.replace("TICK", ""))))
        if _run(text, said, random.randrange(1 << 30), tmp_path):
            return
    pytest.fail("no run contradicts what is wrong")
