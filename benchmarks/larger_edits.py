"""Seeded edits of the larger programs of the corpus, as tasks of difference verification (`difference_tasks`).

All programs of at least `LINES` lines count in which nothing is wrong and whose property, or a part of it, is one of `SEEDS`,
which are those that all verifiers here speak of: those of the index, with their further files included, and the first version of
each sequence of `incremental.csv` that is long enough. Each gives three tasks, at a function that is drawn by chance: `large
regressing`, where a defect of a kind that the program is asked about comes if an input is one number; `large fixing`, which is
that backwards; and `large neutral`, where something is computed that nothing depends on.

Edits are made in functions that run: the program is compiled with an exit there, and run with inputs that are all zero. Else
nobody could say that the defect is one.
"""

from __future__ import annotations

import csv
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from analysis.engines.difference.data_detector import Goal
from analysis.model.options import Options
from benchmarks.corpus import rows, text_of
from benchmarks.difference_tasks import BODY, Task, version_of

LINES = 80
_HEADER = "int __VERIFIER_nondet_int(); void reach_error();\n"
SEEDS = {
    "assertion": "if (__VERIFIER_nondet_int() == {}) reach_error();",
    "null-dereference": "if (__VERIFIER_nondet_int() == {}) {{ int *seeded = 0; *seeded = 1; }}",
    "array-bounds": "{{ int seeded[4], at = __VERIFIER_nondet_int(); if (at == {}) seeded[at + 4] = 0; }}",
    "division-by-zero": "{{ int seeded = __VERIFIER_nondet_int() != {}; seeded = 7 / seeded; }}",
    "uninitialized-read": "if (__VERIFIER_nondet_int() == {}) {{ int seeded; if (seeded) seeded = 1; }}",
}
_NEUTRAL = "unsigned seeded = {}; seeded = seeded + 3;"
_EXIT = "{ extern void _exit(int); _exit(77); }"
_STUBS = """#include <unistd.h>
#define ANY(type) __attribute__((weak)) type __VERIFIER_nondet_##type(void) { return 0; }
ANY(int) ANY(char) ANY(short) ANY(long) ANY(float) ANY(double)
__attribute__((weak)) unsigned __VERIFIER_nondet_uint(void) { return 0; }
__attribute__((weak)) unsigned long __VERIFIER_nondet_ulong(void) { return 0; }
__attribute__((weak)) void *__VERIFIER_nondet_pointer(void) { return 0; }
__attribute__((weak)) void __VERIFIER_assume(int holds) { if (!holds) _exit(0); }
__attribute__((weak)) void __VERIFIER_assert(int holds) { if (!holds) _exit(1); }
"""


class _Program(NamedTuple):
    name: str
    path: Path
    text: str
    rules: tuple[str, ...]
    options: Options


def larger_tasks(corpus: Path, seed: int) -> Iterator[Task]:
    """The tasks: three for each program that runs."""
    random = Random(seed)
    for program in _programs(corpus):
        at = _place(program, random)
        if at is None:
            continue
        text = program.text
        number = random.randrange(100)
        broken = text[:at] + f" {SEEDS[random.choice(program.rules)].format(number)} " + text[at:]
        other = text[:at] + f" {_NEUTRAL.format(number)} " + text[at:]
        yield _task("large regressing", program, text, broken, is_safe=False)
        yield _task("large fixing", program, broken, text, is_safe=True)
        yield _task("large neutral", program, text, other, is_safe=True)


def _task(category: str, program: _Program, old: str, new: str, *, is_safe: bool) -> Task:
    goal: Goal = "assertions" if program.rules == ("assertion",) else "violations"
    return Task(category, program.name, program.path, old, new, is_safe, program.options, program.rules, goal)


def _programs(corpus: Path) -> Iterator[_Program]:
    for row in rows(corpus):
        text = text_of(row) or row.path.read_text("utf-8", "replace")
        rules = tuple(sorted(row.rules.intersection(SEEDS)))
        if row.is_safe and rules and text.count("\n") >= LINES:
            text = "\n".join((_HEADER + text, *(f'#include "{path.name}"' for path in row.more), ""))
            yield _Program(f"{row.id} {row.path.name}", row.path, text, rules, Options(flags=row.flags, data_model=row.model))
    seen = set[str]()
    with (corpus / "incremental.csv").open(newline="") as file:
        for line in csv.DictReader(file):
            version = None if line["seq"] in seen else version_of(corpus, line)
            if version is not None and version.is_safe and version.text.count("\n") >= LINES:
                seen.add(line["seq"])
                yield _Program(line["seq"], version.path, _HEADER + version.text, version.rules, version.options)


def _place(program: _Program, random: Random) -> int | None:
    """Where the body of a function begins that runs; None if there is none."""
    found = [match.end() for match in BODY.finditer(program.text)]
    random.shuffle(found)
    return next((at for at in found if _is_reached(program, at)), None)


def _is_reached(program: _Program, at: int) -> bool:
    flags = program.options.flags
    words = [f"-D{define}" for define in flags.defines]
    words += [word for folder in (*flags.include_dirs, str(program.path.parent)) for word in ("-I", folder)]
    with tempfile.TemporaryDirectory() as name:
        stubs, made = Path(name) / "stubs.c", Path(name) / "program"
        stubs.write_text(_STUBS)
        linked = ["-x", "none", str(stubs), "-o", str(made), "-lm", "-pthread", "-Wl,--unresolved-symbols=ignore-all"]
        text = program.text[:at] + f" {_EXIT} " + program.text[at:]
        done = subprocess.run(
            ["cc", "-w", *words, "-x", "c", "-", *linked], input=text.encode(), capture_output=True, check=False
        )
        if done.returncode:
            return False
        try:
            ran = subprocess.run([str(made)], stdin=subprocess.DEVNULL, capture_output=True, timeout=5, cwd=name, check=False)
        except subprocess.TimeoutExpired:
            return False
    return ran.returncode == 77
