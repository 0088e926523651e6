"""Random small functions that compute, compare, loop, shift, divide and call each other, on integers of several types.

No run returns what is out of the bounds that are shown, or violates a rule that operators are shown to keep. Runs are those of
the code of the compiler: once as overflow wraps, and once until it would, or something else is undefined.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from random import Random
from typing import NamedTuple, get_args

import pytest

from analysis.certificate.ranges.bounded_values import Range
from analysis.certificate.ranges.range_checker import RULES, RangeRule, open_reason
from analysis.certificate.ranges.range_search import RangeSearch
from analysis.cfa.graph import Program
from analysis.model.ranges import bounds
from tests.support.explorations import program_of

_PROGRAMS, _RUNS = 100, 30
_TYPES = ("int", "int", "unsigned", "long", "signed char", "unsigned char", "short", "_Bool", "unsigned long", "enum three")
_HEAD = """enum three { ONE, TWO, THREE };
static int g; static unsigned char cell; int choose(void);
static int sign(int x) { return x < 0 ? -1 : x > 0; }
static int clamp(int x) { if (x < 1) return 1; if (x > 99) return 99; return x; }
static int low(int x) { return x & 15; }
static unsigned count(unsigned x) { unsigned n = 0; while (x) { n += x & 1; x >>= 1; } return n; }
static int down(int n) { if (n <= 0) return 3; return down(n > 20 ? 20 : n - 1); }
static int up(int n) { if (n > 5) return 0; return n < 0 ? -1 : 1 + up(n + 1); }
static int even(int n); static int odd(int n) { return n <= 0 ? 0 : n > 30 ? 2 : even(n - 1); }
static int even(int n) { return n <= 0 ? 1 : odd(n - 1); }
static void set(int *p) { *p = choose(); }
static long wide(int n) { return n * 70000L; }
static signed char narrow(int n) { return n; }
"""
_STATEMENTS = """{i} = {j} + {k};
{i} = {j} - {k};
{i} = {j} * {c};
{i} = {j} + {c};
{i} += {c};
{i}++;
{i}--;
{i} = {c};
{i} = -{j};
{i} = ~{j};
{i} = !{j};
{i} = {j} & {c};
{i} = {j} | {k};
{i} = {j} ^ {c};
{i} = {j} / {k};
{i} = {j} % {k};
{i} = {j} / {c};
{i} = {j} % {c};
{i} = {j} << ({k} & 7);
{i} = {j} >> ({k} & 7);
{i} = {j} << {k};
{i} = {j} >> {k};
{i} = ({t}){j};
{i} = {j} < {k};
{i} = {j} == {c};
{i} = {j} ? {k} : {c};
{i} = sign({j});
{i} = clamp({j}) + low({k});
{i} = 100 / clamp({j});
{i} = count({j});
{i} = down({j});
{i} = up({j});
{i} = odd({j}) + 2 * even({k});
{i} = wide({j});
{i} = narrow({j});
{i} = g;
{i} = cell;
g = {j};
cell = {j};
set(&g);
if ({i} < {j}) {inner}
if ({i} > {c}) {inner} else {inner}
if ({i} == {c}) {inner} else {inner}
if ({i} != {j}) {inner}
if ({i}) {inner} else {inner}
if (!{i}) return {j};
if ({i} >= {c} && {i} < {d}) {inner}
if ({i} <= 0 || {j} > {c}) {inner} else {inner}
if ({i} - {c} < {d}) {inner}
if ((unsigned){i} < 10u) {inner}
if (({t}){i} >= {c}) {inner}
for ({i} = 0; {i} < {c}; {i}++) {{ {inner} if (!choose()) break; }}
for ({i} = {c}; {i} > 0; {i} -= 2) {{ {inner} if (!choose()) break; }}
while ({i} < {j} && choose()) {{ {inner} {i}++; }}
do {{ {inner} {i} /= 2; }} while ({i} && choose());
switch ({i}) {{ case 0: {inner} break; case {s}: {inner} default: {j} = {d}; }}
{{ {t} z = {i}; if (z > 3) z = 3; {j} = z; }}
{{ int *h = &g; *h = {i}; {j} = g; }}
if (choose()) return {i};
""".splitlines()


def _statement(random: Random, depth: int) -> str:
    def inner() -> str:
        if not depth:
            return ";"
        return "{ " + " ".join(_statement(random, depth - 1) for _ in range(random.randrange(1, 3))) + " }"

    names = {name: random.choice("xynm") for name in "ijk"}
    constants = {name: str(random.choice((-2, -1, 0, 1, 2, 3, 5, 7, 10, 64, 100, 127, 255, 1000, 2147483647))) for name in "cd"}
    constants |= {"t": random.choice(_TYPES), "s": str(random.randrange(1, 9))}
    return random.choice(_STATEMENTS).format(**names, **constants, inner=inner())


def _function(random: Random) -> str:
    result, *types = (random.choice(_TYPES) for _ in range(5))
    body = " ".join(_statement(random, 2) for _ in range(random.randrange(2, 6)))
    declared = f"{types[2]} n = {random.choice('xy')}; {types[3]} m = {random.randrange(-3, 9)};"
    return f"static {result} f({types[0]} x, {types[1]} y) {{ {declared} {body} return {random.choice('xynm')}; }}\n"


class _Shown(NamedTuple):
    """The bounds of the result of a random function: as overflow wraps, and where nothing overflows; the rules that it keeps."""

    wrapped: Range
    defined: Range
    rules: frozenset[str]


def _result(program: Program, *, defined: bool) -> Range | None:
    """The bounds of the result, if the function may return."""
    search = RangeSearch(program, defined=defined)
    assert all(search.follow(name) for name in program.functions)
    assert not search.broken
    name = next(name for name in program.functions if name.endswith("f"))
    return search.contract(name).result


def _shown(body: str) -> _Shown | None:
    program = program_of(_HEAD + body)
    wrapped, defined = (_result(program, defined=defined) for defined in (False, True))
    if wrapped is None or defined is None:
        return None
    search = RangeSearch(program)
    name = next(name for name in program.functions if name.endswith("f"))
    search.follow(name)
    rules = frozenset(rule for rule in get_args(RangeRule) if not open_reason(program, search.claims, name, rule))
    return _Shown(wrapped, defined, rules)


_MAIN = """#include <stdio.h>
#include <signal.h>
#include <setjmp.h>
static sigjmp_buf before; static void caught(int number) { siglongjmp(before, number); }
static unsigned long long seed; static int left = 30;
static int bit(void) { seed = seed * 6364136223846793005ULL + 1442695040888963407ULL; return (seed >> 40) & 1; }
int choose(void) { return left-- > 0 ? bit() : 0; }
static long odd_ones[] = {0, 1, -1, 2, 3, 7, 8, 10, 31, 32, 63, 64, 99, 100, 127, 128, 255, 256, -128, -129, 1000, 32767, 65536,
    2147483647, -2147483647 - 1, 4294967295, 9223372036854775807};
static long any(void) { bit(); return odd_ones[(seed >> 33) % (sizeof odd_ones / sizeof *odd_ones)]; }
"""


@pytest.mark.parametrize("seed", [1, 2])
def test_no_run_leaves_the_bounds_that_are_shown(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    bodies = [_function(random) for _ in range(_PROGRAMS)]
    both = [(body, one) for body in bodies if (one := _shown(body)) is not None]
    assert sum(one.wrapped != bounds_of(body) for body, one in both) > _PROGRAMS // 3
    for rule in sorted(RULES):
        assert sum(rule in one.rules for _, one in both) > _PROGRAMS // 10
    traps = 0
    for is_defined in (False, True):
        for number, signal, result in _runs(tmp_path, [body for body, _ in both], is_defined=is_defined):
            body, one = both[number]
            low, high = one.defined if is_defined else one.wrapped
            assert signal or low <= result <= high, (result, one, body)
            traps += is_defined and signal == 4
            is_kept = len(one.rules) == len(RULES)
            assert not (is_kept and is_defined and signal == 4), (one, body)
    assert traps


def bounds_of(body: str) -> Range:
    """The bounds of the type of a random function's result."""
    (type_,) = (cfa.type.result for name, cfa in program_of(_HEAD + body).functions.items() if name.endswith("f"))
    return bounds(type_)


def _runs(folder: Path, bodies: list[str], *, is_defined: bool) -> list[tuple[int, int, int]]:
    """The number of the function of each run, the signal that ended it, and its result."""
    calls = []
    parts = [_MAIN, _HEAD]
    for number, body in enumerate(bodies):
        parts.append(body.replace(" f(", f" f{number}(", 1))
        sign = "%llu" if body.startswith("static unsigned long") else "%lld"
        calls.append(f'case {number}: printf("{number} 0 {sign}\\n", (long long)f{number}(any(), any())); break;')
    parts.append(
        f"static void call(int i) {{ switch (i) {{ {' '.join(calls)} }} }}\n"
        "int main(void) { signal(SIGILL, caught); signal(SIGFPE, caught);"
        f" for (volatile int i = 0; i < {len(bodies)}; i++) for (volatile int run = 0; run < {_RUNS}; run++) {{"
        " seed = run * 7919 + 13; left = 30; int ended = sigsetjmp(before, 1);"
        ' if (ended) printf("%d %d 0\\n", i, ended); else call(i); } return 0; }\n'
    )
    source, program = folder / "all.c", folder / f"all{is_defined:d}"
    source.write_text("".join(parts))
    checks = ("signed-integer-overflow", "shift", "integer-divide-by-zero")
    flags = (f"-fsanitize={','.join(checks)}", "-fsanitize-undefined-trap-on-error") if is_defined else ("-fwrapv",)
    subprocess.run(["gcc", "-w", "-O0", "-g0", *flags, "-o", program, source], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=True, timeout=60)
    return [tuple(map(int, line.split())) for line in done.stdout.splitlines()]  # type: ignore[misc]  # three each
