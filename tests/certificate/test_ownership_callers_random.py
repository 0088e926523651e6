"""Random programs whose functions pass pointers to each other: what closed sets prove of a function in runs from main, by what
its callers keep, no run violates there. Runs are those of the code of the compiler, under its address sanitizer."""

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
from analysis.cfa.linking.link import link
from tests.support.lowered import unit_of

_HEAD = (
    "typedef unsigned long size_t; void *malloc(size_t); void *realloc(void *, size_t); void free(void *); int choose(void);\n"
)
_GLOBALS = "static char *G; static char V[8];\n"
_RULES = ("double-free", "invalid-free", "use-after-free")
_PROGRAMS, _RUNS, _FUNCTIONS = 50, 4, 4


def _statement(random: Random, number: int, depth: int) -> str:
    a, b = random.choice("pqr"), random.choice("pqr")
    inner = "{ " + _statements(random, number, depth - 1) + " }" if depth else ";"
    callee = f"h{random.randrange(max(number, 1))}" if number else "same"
    return random.choice(
        [
            f"{a} = malloc(4);",
            f"if (!{a}) {a} = malloc(4);",
            f"free({a});",
            f"free({a}); {a} = 0;",
            f"{a} = {b};",
            f"if ({a}) {a}[0] = 1;",
            f"if ({a}) {{ char *t = {a} + 1; t[0] = 1; }}",
            f"if (choose()) {inner}",
            f"if (choose()) {inner} else {inner}",
            f"if ({a}) {inner}",
            f"{{ char *t = realloc({a}, 8); if (t) {a} = t; }}",
            f"G = {a};" if random.random() < 0.3 else f"{a} = same({b}, 0);",
            f"{a} = G;" if random.random() < 0.3 else f"{a} = 0;",
            *[f"{callee}({a}, {b});", f"{callee}({a}, 0);", f"{callee}({a}, 0); {a} = 0;", f"{callee}(0, {a});"] * 2,
            f"{callee}(malloc(3), {a});",
            f"{callee}({a}, V);" if random.random() < 0.5 else f"if ({a}) {callee}({a} + 1, 0);",
            f"if (choose()) {{ h{number}({a}, {b}); return; }}" if number < _FUNCTIONS else ";",
            "if (choose()) return;",
        ]
    )


def _statements(random: Random, number: int, depth: int) -> str:
    return " ".join(_statement(random, number, depth) for _ in range(random.randrange(1, 4)))


def _program(random: Random) -> str:
    parts = ["static char *same(char *p, char *q) { return p; }\n"]
    for number in range(_FUNCTIONS):
        end = random.choice(["free(p);", "if (p) p[0] = 1;", "", "free(q);", "if (q) q[0] = 2;"])
        body = _statements(random, number, 1)
        parts.append(f"static void h{number}(char *p, char *q) {{ char *r = 0; {body} {end} }}\n")
    calls = " ".join(_statement(random, _FUNCTIONS, 0) for _ in range(random.randrange(3, 7)))
    parts.append(f"static void top(void) {{ char *p = malloc(4), *q = 0, *r = 0; {calls} }}\n")
    return "".join(parts)


def _proved(text: str) -> tuple[frozenset[tuple[str, str]], int]:
    """The functions and rules that are proved, and how many of them only by what callers keep."""
    program = link([unit_of(f"{_HEAD}{_GLOBALS}{text}int main(void) {{ top(); return 0; }}")]).program
    search, found, kept = ClosedSearch(program), set[tuple[str, str]](), 0
    for function in program.functions:
        followed = search.follow(function)
        assert followed is not None
        for rule in _RULES:
            names = search.follow_callers(function, rule)
            assert names is not None
            if not open_reason(program, search.found_below(names, function, rule), function, rule, ("main",)):
                found.add((function.rpartition("::")[2], rule))
                kept += bool(refusal(program, followed.found, function, rule))
                assert check_closed_sets(program, ClosedSets(function, rule, search.sets(*names), ("main",))).states
    return frozenset(found), kept


_MAIN = """#include <stdlib.h>
#include <stdio.h>
static unsigned long long seed; static int left = 25;
static int next(void) { seed = seed * 6364136223846793005ULL + 1442695040888963407ULL; return (seed >> 40) & 3; }
int choose(void) { return left-- > 0 ? next() & 1 : 0; }
static void *xmalloc(size_t n) { return next() ? malloc(n) : 0; }
static void *xrealloc(void *p, size_t n) { return next() ? realloc(p, n) : 0; }
#define malloc xmalloc
#define realloc xrealloc
"""
_KINDS = {"double-free": "double-free", "bad-free": "invalid-free", "heap-use-after-free": "use-after-free"}


def _violated(program: Path, number: int, run: int) -> tuple[str, str] | None:
    """The function and the rule that a run violates; None if it violates nothing that is asked."""
    options = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run([program, str(number), str(run)], capture_output=True, text=True, check=False, env=options)
    kind = next(
        (rule for word, rule in _KINDS.items() if f"attempting {word}" in done.stderr or f": {word}" in done.stderr), None
    )
    frames = re.findall(r"#\d+ 0x\w+ in (\w+)", done.stderr.partition("freed by")[0])
    inside = next((name for name in frames if re.match(r"(h|top|same)\d*_", name)), None)
    assert kind is None or inside is not None, done.stderr[:900]
    return (inside.rpartition("_")[0], kind) if kind and inside else None


@pytest.mark.parametrize("seed", [3])
def test_no_run_violates_what_callers_keep(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    bodies = [_program(random) for _ in range(_PROGRAMS)]
    answers = [_proved(body) for body in bodies]
    assert sum(kept for _, kept in answers) > _PROGRAMS // 4
    parts = [_MAIN]
    for number, body in enumerate(bodies):
        named = re.sub(r"\b(h\d|top|same)\(", rf"\1_{number}(", body)
        parts.append(
            _GLOBALS.replace("G;", f"G{number};").replace("V[", f"V{number}[") + re.sub(r"\b([GV])\b", rf"\g<1>{number}", named)
        )
    table = ", ".join(f"top_{number}" for number in range(_PROGRAMS))
    parts.append(f"static void (*all[])(void) = {{ {table} }};\n")
    parts.append("int main(int n, char **v) { seed = atoi(v[2]) * 7919 + 1; all[atoi(v[1])](); return 0; }\n")
    source, program = tmp_path / "all.c", tmp_path / "all"
    source.write_text("".join(parts))
    subprocess.run(["gcc", "-w", "-O0", "-fsanitize=address", "-fno-builtin", "-o", program, source], check=True)
    seen = 0
    for number, (proved, kept) in enumerate(answers):
        for run in range(_RUNS if kept else 0):
            violated = _violated(program, number, run)
            seen += violated is not None
            assert violated is None or violated not in proved, (violated, bodies[number])
    assert seen  # what is not proved
