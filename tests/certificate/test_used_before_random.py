"""Random programs that take pointers out of members, globals and arrays, and use what they lead to before and after something
ends: what is proved of a function in runs from main, no run violates there. Runs are those of the code of the compiler, under its
address sanitizer."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from random import Random

import pytest

from analysis.certificate.ownership.closed_checker import check_closed_sets, open_reason, refusal
from analysis.certificate.ownership.closed_search import ClosedSearch
from analysis.certificate.ownership.closed_sets import ClosedSets
from analysis.certificate.ownership.kept_by_callers import FOUND_LIVE
from analysis.cfa.linking.link import link
from tests.support.lowered import unit_of

_HEAD = "typedef unsigned long size_t; void *malloc(size_t); void *realloc(void *, size_t); void free(void *); int choose(void);\n"
_GIVEN = """struct box { struct box *next; char *p; }; static struct box *B; static char *T[2]; static struct box S;
static int two(int a, int b) { return a + b; }
static char *made(void) { char *p = malloc(4); if (p) p[0] = 1; return p; }
static struct box *boxed(void) { struct box *b = malloc(sizeof *b); if (b) { b->next = 0; b->p = made(); } return b; }
static void set(void) { B = boxed(); if (B) B->next = choose() ? B : boxed(); T[0] = made(); T[1] = choose() ? T[0] : made(); }
"""
_RULES = ("use-after-free",)
_PROGRAMS, _RUNS, _FUNCTIONS = 40, 4, 4
_USES = (
    "if (b && b->p) b->p[0] = 1;", "if (B && B->p) B->p[0] = 2;", "if (B && B->next && B->next->p) B->next->p[0] = 3;",
    "if (T[0]) T[0][0] = 1;", "if (T[choose()]) { q = T[1]; if (q) q[0] = 2; }", "if (q) q[0] = 3;", "if (b) b = b->next;",
    "b = B;", "if (b) q = b->p;", "q = T[0];", "if (S.p) S.p[0] = 1;", "S.p = q;", "T[1] = q;", "if (b) b->p = q;",
    "if (B) { struct box t = *B; if (t.p) t.p[0] = 4; }", "{ char **t = &T[1]; if (*t) **t = 2; }",
)  # fmt: skip
_OWN = (
    "{ char *t = made(); free(t); }", "{ char *t = made(); if (t) { t[0] = 1; free(t + 0); } }",
    "{ struct box *t = malloc(sizeof *t); if (t) { t->p = q; t->next = b; if (t->p) t->p[0] = 1; } free(t); }",
    "{ char *t = realloc(made(), 9); if (t && choose()) t[8] = 1; free(t); }",
)  # fmt: skip
_ENDS = (
    "free(q);", "if (b) free(b->p);", "free(T[0]);", "free(b);", "if (B) { free(B->p); B->p = 0; }",
    "{ char *t = made(); T[0] = t; free(t); }", "{ char *t = made(); free(t); T[0] = t; }", "{ char *t = made(); free(t); q = t; }",
    "{ char *t = realloc(q, 9); if (t) q = t; }", "{ char *t = T[1]; if (choose()) T[1] = 0; free(t); }", "S.p = made(); free(S.p);",
    "{ struct box t; t.p = made(); S = t; free(t.p); }", "{ struct box *t = boxed(); if (t) { free(t); if (choose()) B = t; } }",
)  # fmt: skip


def _statement(random: Random, number: int, depth: int, ends: float) -> str:
    kind = random.random()
    if kind < ends:
        return random.choice(_ENDS)
    if kind < ends + 0.1:
        return random.choice(_OWN)
    if kind < 0.6:
        return random.choice(_USES)
    called = [f"h{random.randrange(number)}" for _ in range(2)] if number else ["two", "two"]
    calls = [f"{name}({random.choice(('b', 'B', '0', 'B ? B->next : 0'))}, {random.choice(('q', 'T[0]', '0', 'made()'))})"
             if number else "two(1, 2)" for name in called]  # fmt: skip
    inner = "{ " + " ".join(_statement(random, number, depth - 1, ends) for _ in range(2)) + " }" if depth else ";"
    return random.choice([
        *[f"{calls[0]};"] * 4,
        f"two({calls[0]}, {calls[1]});",
        f"if (B) B->next = {calls[0]} ? B : 0;",
        f"if ({calls[0]} && {calls[1]}) {inner}",
        f"choose() ? {calls[0]} : {calls[1]};",
        f"if (choose()) {inner}",
        f"if (choose()) {inner} else {inner}",
        f"while (choose()) {inner}",
        f"do {inner} while (choose());",
        f"if (choose()) return {calls[0]};",
        f"if (choose()) h{number}(b, q);" if number < _FUNCTIONS else ";",
    ])  # fmt: skip


def _program(random: Random) -> str:
    parts, ends = list[str](), random.choice((0.03, 0.08, 0.2))
    for number in range(_FUNCTIONS):
        body = " ".join(_statement(random, number, 1, ends) for _ in range(random.randrange(1, 5)))
        parts.append(f"static int h{number}(struct box *b, char *q) {{ {body} return 0; }}\n")
    first, then = (" ".join(_statement(random, _FUNCTIONS, 1, more) for _ in range(random.randrange(1, 4))) for more in (0, 0.4))
    parts.append(f"static int top(void) {{ struct box *b = 0; char *q = 0; set(); {first} {then} return 0; }}\n")
    return "".join(parts)


def _proved(text: str) -> tuple[frozenset[str], int]:
    """The functions of which it is proved, and of how many nothing need have ended before."""
    program = link([unit_of(f"{_HEAD}{_GIVEN}{text}int main(void) {{ top(); return 0; }}")]).program
    search, found, kept = ClosedSearch(program), set[str](), 0
    for function in program.functions:
        followed = search.follow(function)
        assert followed is not None
        for rule in _RULES:
            names = search.follow_callers(function, rule)
            assert names is not None
            if not open_reason(program, search.found_below(names, function, rule), function, rule, ("main",)):
                found.add(function.rpartition("::")[2])
                kept += FOUND_LIVE in refusal(program, followed.found, function, rule)
                assert check_closed_sets(program, ClosedSets(function, rule, search.sets(*names), ("main",))).states
    return frozenset(found), kept


_MAIN = """#include <stdlib.h>
static unsigned long long seed; static int left = 25, deep = 200;
static int next(void) { seed = seed * 6364136223846793005ULL + 1442695040888963407ULL; return (seed >> 40) & 7; }
int choose(void) { return left-- > 0 ? next() & 1 : 0; }
static void *xmalloc(size_t n) { return next() ? malloc(n) : 0; }
static void *xrealloc(void *p, size_t n) { return next() ? realloc(p, n) : 0; }
#define malloc xmalloc
#define realloc xrealloc
"""


def _violated(program: Path, number: int, run: int) -> str:
    """The function in which a run uses what has ended, as the first thing that is wrong; empty if it does not."""
    options = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run([program, str(number), str(run)], capture_output=True, text=True, check=False, env=options)
    if "heap-use-after-free" not in done.stderr:
        return ""
    frames = re.findall(r"#\d+ 0x\w+ in (\w+)_\d+", done.stderr.partition("freed by")[0])
    return str(frames[0])


@pytest.mark.parametrize("seed", [5])
def test_no_run_uses_what_has_ended_where_nothing_had_before(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    bodies = [_program(random) for _ in range(_PROGRAMS)]
    answers = [_proved(body) for body in bodies]
    assert sum(kept for _, kept in answers) > _PROGRAMS // 2
    parts = [_MAIN]
    for number, body in enumerate(bodies):
        parts.append(re.sub(r"\b(h\d|top|two|made|boxed|set|box|B|T|S)\b", rf"\1_{number}", _GIVEN + body))
    table = ", ".join(f"top_{number}" for number in range(_PROGRAMS))
    parts.append(f"static int (*all[])(void) = {{ {table} }};\n")
    parts.append("int main(int n, char **v) { seed = atoi(v[2]) * 7919 + 1; return all[atoi(v[1])](); }\n")
    source, program = tmp_path / "all.c", tmp_path / "all"
    source.write_text("".join(parts))
    subprocess.run(["gcc", "-w", "-O0", "-fsanitize=address", "-fno-builtin", "-o", program, source], check=True)
    seen = 0
    for number, (proved, kept) in enumerate(answers):
        for run in range(_RUNS if kept else 0):
            where = _violated(program, number, run)
            seen += bool(where)
            assert where not in proved, (where, bodies[number])
    assert seen  # what is not proved
