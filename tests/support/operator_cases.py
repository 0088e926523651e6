"""Operations on corner values, with what gcc's code computes and what its sanitizers say: for the tables of `analysis.c`.

One C file has a loop over the values of each operator and type. It is compiled plainly (with -fwrapv) and once with each of the
sanitizers that are about a rule; their handlers are ours, they count.
"""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from analysis.c.operators import BINARY, UNARY, sign_of
from analysis.c.undefined import OperatorRule
from analysis.model import c_types
from analysis.model.c_types import LP64, Integer
from analysis.model.ranges import bounds

INT128, UNSIGNED_INT128 = Integer(128, True, "__int128"), Integer(128, False, "unsigned __int128")
COMPUTED = (c_types.INT, c_types.UNSIGNED_INT, LP64.long, LP64.unsigned_long, INT128, UNSIGNED_INT128)
"""The integer types that operators compute in: no narrower one after the promotions."""
CONVERTED = (
    c_types.BOOL, c_types.CHAR, c_types.SIGNED_CHAR, c_types.UNSIGNED_CHAR, c_types.SHORT, c_types.UNSIGNED_SHORT, *COMPUTED
)  # fmt: skip
DISTANCES = (-(1 << 31), -1, 0, 1, 2, 7, 30, 31, 32, 33, 62, 63, 64, 65, 127, 128, (1 << 31) - 1)
_SANITIZERS: dict[str, OperatorRule] = {
    "integer-divide-by-zero": "division-by-zero",
    "signed-integer-overflow": "signed-overflow",
    "shift-base": "signed-overflow",
    "shift-exponent": "shift-range",
}
_HANDLERS = ["add_overflow", "sub_overflow", "mul_overflow", "negate_overflow", "divrem_overflow", "shift_out_of_bounds"]
_HEAD = """
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
static volatile int said;
static sigjmp_buf back;
static void trapped(int number) { (void)number; siglongjmp(back, 1); }
static void show(__int128 value) {
    printf("%d %016lx%016lx\\n", said, (unsigned long)((unsigned __int128)value >> 64), (unsigned long)value);
}
"""


class Case(NamedTuple):
    """`right` is None for unary operators. `result`: what the code computes, None if it traps;
    `violated`: what sanitizers say."""

    operator: str
    type: Integer
    left: int
    right: int | None
    result: int | None
    violated: frozenset[OperatorRule]


class Conversion(NamedTuple):
    """A value converted from one type to another."""

    source: Integer
    target: Integer
    value: int
    result: int


def corners(type_: Integer) -> tuple[int, ...]:
    """Values at which the operators of a type change what they do."""
    low, high = bounds(type_)
    near = {low, low + 1, low // 2, -8, -7, -3, -1, 0, 1, 2, 3, 7, 31, 32, high // 3, high // 2, high // 2 + 1, high - 1, high}
    return tuple(sorted(value for value in near if low <= value <= high))


def literal(value: int, type_: Integer) -> str:
    """A value as C writes it."""
    pattern = value & ((1 << 128) - 1)
    return f"({type_.name})((unsigned __int128){pattern >> 64}ul << 64 | {pattern & (1 << 64) - 1}ul)"


def _operations() -> list[tuple[str, Integer, tuple[int, ...] | None]]:
    """Operators and types, with the right operands."""
    found: list[tuple[str, Integer, tuple[int, ...] | None]] = []
    for type_ in COMPUTED:
        of = sign_of(type_)
        found += [(operator, type_, None) for operator, row in UNARY if row == of]
        for operator, row in BINARY:
            if row == of:
                found.append((operator, type_, DISTANCES if operator in ("<<", ">>") else corners(type_)))
    return found


def _table(name: str, type_: Integer, values: tuple[int, ...]) -> str:
    return f"static volatile {type_.name} {name}[] = {{ {', '.join(literal(value, type_) for value in values)} }};"


def _text() -> str:
    lines = [_HEAD]
    lines += [
        f"void __ubsan_handle_{name}(void *a, void *b, void *c) {{ (void)a, (void)b, (void)c; said = 1; }}" for name in _HANDLERS
    ]
    calls = []
    for number, (operator, type_, right) in enumerate(_operations()):
        lines.append(_table(f"a{number}", type_, corners(type_)))
        inner, operation = "", f"{operator} a{number}[i]"
        if right is not None:
            other = c_types.INT if operator in ("<<", ">>") else type_
            lines.append(_table(f"b{number}", other, right))
            inner, operation = f"for (int j = 0; j < {len(right)}; j++)", f"a{number}[i] {operator} b{number}[j]"
        lines.append(f"static void f{number}(void) {{ for (int i = 0; i < {len(corners(type_))}; i++) {inner} {{ said = 0;")
        lines.append(f'if (sigsetjmp(back, 1)) puts(said ? "1 trap" : "0 trap"); else show((__int128)({operation})); }} }}')
        calls.append(f"f{number}();")
    for number, (source, target) in enumerate((s, t) for s in CONVERTED for t in CONVERTED):
        lines.append(_table(f"c{number}", source, corners(source)))
        lines.append(f"static void g{number}(void) {{ for (int i = 0; i < {len(corners(source))}; i++)")
        lines.append(f"show((__int128)({target.name})c{number}[i]); }}")
        calls.append(f"g{number}();")
    return "\n".join(lines) + f"\nint main(void) {{ signal(SIGFPE, trapped); {' '.join(calls)} return 0; }}\n"


def _run(flags: tuple[str, ...], text: str, folder: Path) -> list[tuple[bool, int | None]]:
    source, part, binary = folder / "cases.c", folder / "cases.o", folder / "cases"
    source.write_text(text)
    subprocess.run(["gcc", "-w", "-O0", *flags, "-c", "-o", part, source], check=True)
    subprocess.run(["gcc", "-o", binary, part], check=True)
    lines = subprocess.run([binary], check=True, capture_output=True, text=True).stdout.splitlines()
    found: list[tuple[bool, int | None]] = []
    for line in lines:
        said, _, digits = line.partition(" ")
        pattern = None if digits == "trap" else int(digits, 16)
        found.append((said == "1", None if pattern is None else pattern - (pattern >> 127 << 128)))
    return found


@cache
def measured() -> tuple[tuple[Case, ...], tuple[Conversion, ...]]:
    """All operations and conversions, as gcc has them."""
    text = _text()
    with TemporaryDirectory() as folder:
        plain = _run(("-fwrapv",), text, Path(folder))
        said = {name: _run((f"-fsanitize={name}",), text, Path(folder)) for name in _SANITIZERS}
    cases: list[Case] = []
    for operator, type_, right in _operations():
        for one in corners(type_):
            for other in right or (None,):
                at = len(cases)
                violated = frozenset(rule for name, rule in _SANITIZERS.items() if said[name][at][0])
                result = plain[at][1]
                is_truth = (BINARY if right else UNARY)[operator, sign_of(type_)].gives == "int"
                if result is not None and type_ is UNSIGNED_INT128 and not is_truth:
                    result &= (1 << 128) - 1
                cases.append(Case(operator, type_, one, other, result, violated))
    conversions: list[Conversion] = []
    for source in CONVERTED:
        for target in CONVERTED:
            for value in corners(source):
                result = plain[len(cases) + len(conversions)][1]
                assert result is not None, "conversions do not trap"
                unsigned = result & ((1 << 128) - 1) if target is UNSIGNED_INT128 else result
                conversions.append(Conversion(source, target, value, unsigned))
    return tuple(cases), tuple(conversions)
