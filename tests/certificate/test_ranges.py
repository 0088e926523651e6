"""The checker of bounds accepts what is found, and no claim that says more."""

from __future__ import annotations

import msgspec
import pytest

from analysis.certificate.ranges.bounded_values import Range
from analysis.certificate.ranges.function_ranges import ANYTHING
from analysis.certificate.ranges.range_checker import RangeRule, check_ranges, open_reason
from analysis.certificate.ranges.range_search import RangeSearch
from analysis.certificate.refusal import RefusedError
from tests.support.explorations import program_of

_FULL = (-(1 << 31), (1 << 31) - 1)


@pytest.mark.parametrize(
    ("text", "result", "if_defined"),
    [
        ("int f(int x) { return x < 0 ? -1 : x > 0; }", (-1, 1), (-1, 1)),
        ("int f(int x) { int n = 0; while (x--) n++; return n; }", _FULL, (0, (1 << 31) - 1)),
        ("int f(int x) { int i; for (i = 0; i < 10; i++) x--; return i; }", (10, 10), (10, 10)),
        ("int f(int x) { return x % 7; }", (-6, 6), (-6, 6)),
        ("int f(unsigned char x) { return x << 2; }", (0, 1020), (0, 1020)),
        ("int f(int x) { int *p = &x; *p = 3; return x; }", _FULL, _FULL),
        ("int f(int x) { if (x) return 1; }", _FULL, _FULL),
        ("int f(int x) { return x > 5 ? 2 : f(x + 1); }", (2, 2), (2, 2)),
        ("int f(int x) { return x > 5 ? 0 : f(x + 1) + 1; }", _FULL, (0, (1 << 31) - 1)),
        ("int g(int); int f(int x) { return g(x) & 3; }", (0, 3), (0, 3)),
        ("int f(int x) { signed char c = x; return c; }", (-128, 127), (-128, 127)),
        ("int f(int x) { if (x >= 0 && x + 1 > 0) return x; return 5; }", (0, (1 << 31) - 1), (0, (1 << 31) - 1)),
    ],
)
def test_bounds_of_results(text: str, result: Range, if_defined: Range) -> None:
    program = program_of(text)
    for defined, wanted in ((False, result), (True, if_defined)):
        search = RangeSearch(program, defined=defined)
        assert search.follow("f")
        found = search.contract("f").result
        assert found is not None
        assert wanted[0] <= found[0] and found[1] <= wanted[1] if wanted != _FULL else found == _FULL


def test_a_claim_that_says_more_is_refused() -> None:
    program = program_of("int f(int x) { int n = 0; if (x > 3) n = x & 7; return n; }")
    search = RangeSearch(program)
    assert search.follow("f")
    claim = search.claims["f"]
    assert claim.result == (0, 7)
    check_ranges(program, [claim], lambda _: ANYTHING)
    wrong = [msgspec.structs.replace(claim, result=(0, 6)), msgspec.structs.replace(claim, returns=False)]
    wrong.append(msgspec.structs.replace(claim, bounds=claim.bounds[:-1]))
    for at, (location, rows) in enumerate(claim.bounds):
        narrower = tuple((name, low, high - 1) for name, low, high in rows if high > low)
        if narrower:
            bounds = (*claim.bounds[:at], (location, narrower), *claim.bounds[at + 1 :])
            wrong.append(msgspec.structs.replace(claim, bounds=bounds))
    for one in (*wrong, msgspec.structs.replace(claim, bounds=(*claim.bounds, claim.bounds[0]))):
        with pytest.raises(RefusedError):
            check_ranges(program, [one], lambda _: ANYTHING)


@pytest.mark.parametrize(
    ("text", "rule", "is_kept"),
    [
        ("int f(int x) { if (x < 1) return 0; return 8 / x; }", "division-by-zero", True),
        ("int f(int x) { if (x < 0) return 0; return 8 / x; }", "division-by-zero", False),
        ("double f(int x) { if (x < 1) return 0; return 8.0 / x; }", "division-by-zero", False),
        ("int f(int x) { return 1 << (x & 15); }", "shift-range", True),
        ("int f(int x) { return 1 << (x & 63); }", "shift-range", False),
        ("int f(int x) { return x < 100 ? x + 1 : 0; }", "signed-overflow", True),
        ("int f(int x) { return x < 100 ? x - 1 : 0; }", "signed-overflow", False),
        ("int f(int x) { return x == -1 ? 0 : -x; }", "signed-overflow", False),
        ("int f(int x, int y) { return y > 0 ? x / y : 0; }", "signed-overflow", True),
        ("int f(int x, int y) { return y ? x % y : 0; }", "signed-overflow", False),
        ("int f(int x) { return x < 0 ? x << 1 : 0; }", "signed-overflow", False),
        ("void end(void) __attribute__((noreturn)); int f(int x) { if (x <= 0) end(); return 8 / x; }", "division-by-zero", True),
        (
            "void end(void) __attribute__((noreturn)); static int s(int a, int b) { return a + b; }"
            "static int never(void) { end(); return 1; } int f(int x) { return s(never(), 8 / x); }",
            "division-by-zero",
            False,
        ),
    ],
)
def test_operators_between_bounds(text: str, rule: RangeRule, is_kept: bool) -> None:
    program = program_of(text)
    search = RangeSearch(program)
    assert search.follow("f")
    assert (not open_reason(program, search.claims, "f", rule)) == is_kept
