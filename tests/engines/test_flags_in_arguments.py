"""Bits that an argument sets, `f(flags | CLOSE)`, and tests of them in the callee, `if (flags & CLOSE)`.

Class: what constants in an expression say of its bits, through casts and calls.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Literal

import pytest

from analysis.api import Checker
from analysis.engines.automaton.functions.flag_bits import of_constant_bits
from analysis.model import ir
from analysis.model.c_types import INT, SIGNED_CHAR, UNSIGNED_INT, Integer
from analysis.model.intervals import ANY, NONZERO, ZERO, Interval
from analysis.model.options import Options

OPENED = """
#include <fcntl.h>
#include <unistd.h>
static int used(int fd, int flags)
{
    if (flags & 2048) { close(fd); return 1; }
    return 0;
}
int opened(const char *name, int flags)
{
    int fd = open(name, O_RDONLY);
    if (fd < 0)
        return 0;
    return used(fd, FLAGS);
}
"""


@pytest.mark.parametrize(
    ("flags", "leaks"),
    [("flags | 2048", False), ("(flags & 7) | 3072", False), ("flags | 1024", True), ("flags & ~2048", True), ("flags", True)],
)
def test_a_callee_finds_the_bits_that_its_argument_sets(tmp_path: Path, flags: str, leaks: bool) -> None:
    path = tmp_path / "a.c"
    path.write_text(OPENED.replace("FLAGS", flags))
    checker = Checker(Options(engine="automaton", rules=("resource-leak",)))
    checker.open([str(path)])
    assert bool(checker.check().findings) == leaks


X = ir.Var("x", "local", INT)


def both(operator: Literal["|", "&"], left: ir.Expr, right: int, type_: Integer = INT) -> ir.Expr:
    return ir.Binary(operator, left, ir.IntConst(right, type_), type_)


@pytest.mark.parametrize(
    ("expr", "known"),
    [
        (both("&", both("|", X, 4), 4), NONZERO),
        (both("&", both("|", X, 4), 12), NONZERO),
        (both("&", both("|", X, 4), 8), ANY),
        (both("&", both("&", X, 4), 8), ZERO),
        (both("&", both("&", X, ~4), 4), ZERO),
        (both("&", ir.Unary("~", both("|", X, 4), INT), 4), ZERO),
        (both("&", ir.Cast(both("|", X, 256), SIGNED_CHAR), 256), ANY),  # cut off, and then a copy of the sign
        (both("&", ir.Cast(ir.Cast(both("|", X, 128), SIGNED_CHAR), INT), 128), NONZERO),
        (both("&", ir.Cast(both("|", X, -(2**31)), UNSIGNED_INT), 2**31, UNSIGNED_INT), NONZERO),
    ],
)
def test_what_constants_say_of_bits(expr: ir.Expr, known: Interval) -> None:
    assert of_constant_bits(expr) == known


def test_it_holds_of_every_value() -> None:
    operators: tuple[Literal["|", "&"], ...] = ("|", "&")
    for first, one, second, two in product(operators, range(4), operators, range(4)):
        found = of_constant_bits(both(second, both(first, X, one), two))
        for x in range(4):
            inner = x | one if first == "|" else x & one
            value = inner | two if second == "|" else inner & two
            assert found == ANY or (value != 0) == (found == NONZERO)
