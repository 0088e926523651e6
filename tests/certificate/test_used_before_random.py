"""Random programs that take pointers out of members, globals and arrays, and use what they lead to before and after something
ends: what is proved of a function in runs from main, no run violates there. Runs are those of the code of the compiler, under its
address sanitizer."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from analysis.certificate.ownership.closed_checker import check_closed_sets, open_reason, refusal
from analysis.certificate.ownership.closed_search import ClosedSearch
from analysis.certificate.ownership.closed_sets import ClosedSets
from analysis.certificate.ownership.kept_by_callers import broken
from analysis.certificate.ownership.whole_conditions import unmet
from analysis.cfa.linking.link import link
from tests.support.lowered import unit_of

_HEAD = """typedef unsigned long size_t; void *malloc(size_t); void *realloc(void *, size_t); void free(void *);
static volatile int chosen; static int choose(void) { return chosen; }
"""
_GIVEN = """struct box { struct box *next; char *p; }; static struct box *B; static char *T[2]; static struct box S;
static int two(int a, int b) { return a + b; }
static char *made(void) { char *p = malloc(4); if (p) p[0] = 1; return p; }
static struct box *boxed(void) { struct box *b = malloc(sizeof *b); if (b) { b->next = 0; b->p = made(); } return b; }
static void set(void) { B = boxed(); if (B) B->next = choose() ? B : boxed(); T[0] = made(); T[1] = choose() ? T[0] : made(); }
"""
_RULE, _FROM = "use-after-free", ("main",)
_PROGRAMS, _RUNS, _FUNCTIONS = 20, 3, 4
_USES = (
    "if (b && b->p) b->p[0] = 1;", "if (B && B->p) B->p[0] = 2;", "if (B && B->next && B->next->p) B->next->p[0] = 3;",
    "if (T[0]) T[0][0] = 1;", "if (T[choose()]) { q = T[1]; if (q) q[0] = 2; }", "if (q) q[0] = 3;", "if (b) b = b->next;",
    "b = B;", "if (b) q = b->p;", "q = T[0];", "if (S.p) S.p[0] = 1;", "S.p = q;", "T[1] = q;", "if (b) b->p = q;",
    "q = T[1] = q;", "if (b) q = b->p = T[0];", "if (B) b = B->next = b;",
    "if (B) { struct box t = *B; if (t.p) t.p[0] = 4; }", "{ char **t = &T[1]; if (*t) **t = 2; }",
)  # fmt: skip
_OWN = (
    "{ char *t = made(); free(t); }", "{ char *t = made(); if (t) { t[0] = 1; free(t + 0); } }",
    "{ struct box *t = malloc(sizeof *t); if (t) { t->p = q; t->next = b; if (t->p) t->p[0] = 1; } free(t); }",
    "{ char *t = realloc(made(), 9); if (t && choose()) t[8] = 1; free(t); }",
)  # fmt: skip
_ENDS = (
    "free(q);", "if (b) free(b->p);", "free(T[0]);", "free(b);", "if (B) { free(B->p); B->p = 0; }",
    "{ char *t = made(); T[0] = t; free(t); }", "{ char *t = made(); free(t); T[0] = t; }",
    "{ char *t = made(); free(t); q = t; }", "{ char *t = realloc(q, 9); if (t) q = t; }",
    "{ char *t = T[1]; if (choose()) T[1] = 0; free(t); }", "S.p = made(); free(S.p);",
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
    """The functions of which it is proved; and of how many only because nothing has ended before."""
    program = link([unit_of(f"{_HEAD}{_GIVEN}{text}int main(void) {{ top(); return 0; }}")]).program
    search, proved, before = ClosedSearch(program), set[str](), 0
    for function in program.functions:
        followed = search.follow(function)
        assert followed is not None
        names = search.follow_callers(function, _RULE)
        assert names is not None
        found = search.found_below(names, function, _RULE)
        if not open_reason(program, found, function, _RULE, _FROM):
            proved.add(function.rpartition("::")[2])
            is_other = unmet(program, found, function, _RULE) or broken(program, found, function, _RULE, _FROM)
            before += bool(refusal(program, followed.found, function, _RULE) and is_other)
            assert check_closed_sets(program, ClosedSets(function, _RULE, search.sets(*names), _FROM)).states
    return frozenset(proved), before


_MAIN = """#include <stdlib.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/wait.h>
static unsigned long long seed; static int left = 25;
static int next(void) { seed = seed * 6364136223846793005ULL + 1442695040888963407ULL; return (seed >> 40) & 7; }
int choose(void) { return left-- > 0 ? next() & 1 : 0; }
static void *xmalloc(size_t n) { return next() ? malloc(n) : 0; }
static void *xrealloc(void *p, size_t n) { return next() ? realloc(p, n) : 0; }
#define malloc xmalloc
#define realloc xrealloc
"""


_LOOP = """int main(void) {
    for (int number = 0; number < (int)sizeof wanted; number++)
        for (int run = 0; wanted[number] && run < RUNS; run++) {
            fprintf(stderr, "RUN %d\\n", number);
            fflush(stderr);
            if (!fork()) { seed = run * 7919 + 1; all[number](); _exit(0); }
            wait(0);
        }
    return 0;
}
"""


def _runs(bodies: Sequence[str], wanted: Sequence[bool], folder: Path) -> list[tuple[int, str]]:
    """The program of each run, and the function in which it uses what has ended, as the first thing that is wrong; empty if it
    does not."""
    parts = [_MAIN, f"#define RUNS {_RUNS}\n"]
    for number, body in enumerate(bodies):
        parts.append(re.sub(r"\b(h\d|top|two|made|boxed|set|box|B|T|S)\b", rf"\1_{number}", _GIVEN + body))
    table = ", ".join(f"top_{number}" for number in range(len(bodies)))
    parts.append(f"static int (*all[])(void) = {{ {table} }};\n")
    parts.append(f"static char wanted[] = {{ {', '.join(str(int(one)) for one in wanted)} }};\n{_LOOP}")
    source, program = folder / "all.c", folder / "all"
    source.write_text("".join(parts))
    subprocess.run(["gcc", "-w", "-O0", "-fsanitize=address", "-fno-builtin", "-o", program, source], check=True)
    options = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run([program], capture_output=True, text=True, check=True, env=options)
    found = list[tuple[int, str]]()
    for run in done.stderr.split("RUN ")[1:]:
        number, _, said = run.partition("\n")
        frames = re.findall(r"#\d+ 0x\w+ in (\w+)_\d+", said.partition("freed by")[0])
        found.append((int(number), str(frames[0]) if "heap-use-after-free" in said else ""))
    return found


@pytest.mark.parametrize("seed", [5])
def test_no_run_uses_what_has_ended_where_nothing_had_before(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    bodies = [_program(random) for _ in range(_PROGRAMS)]
    answers = [_proved(body) for body in bodies]
    wanted = [before > 0 for _, before in answers]
    assert sum(wanted) > _PROGRAMS // 3
    runs = _runs(bodies, wanted, tmp_path)
    assert len(runs) == _RUNS * sum(wanted)
    assert any(where for _, where in runs)  # what is not proved
    for number, where in runs:
        assert where not in answers[number][0], (where, bodies[number])
