"""Which calls of a function that can return null are reported, by why it returns it and by how large the program is."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.limits import Limits
from analysis.model.options import Options

FAILS = "int *get(int n) { return malloc((unsigned long)n); }"
FAILS_AND_SAYS_SO = "int *get(int n) { int *p = malloc(4); if (!p) { puts(text); return 0; } *p = n; return p; }"
FAILS_BELOW = f"{FAILS_AND_SAYS_SO.replace('get', 'below')} int *get(int n) {{ int *p = below(n); return p ? p : 0; }}"
FAILS_IN_STEPS = """int *get(int n) {
    char *one = 0, *other = 0; int *r = 0;
    if (!(one = malloc(3))) goto out;
    if (!(other = malloc(4))) goto out;
    if ((r = malloc(5)) != 0) *r = n;
out: free(one); free(other);
    if (!r) return 0;
    return r; }"""
FINDS = "int *get(int n) { for (int i = 0; i < 9; i++) if (cells[i] == n) return &cells[i]; return 0; }"
SEARCHES = "int *get(int n) { return (int *)strchr(text, n); }"
ASKS_FOR_ZERO = "int *get(int n) { if (n == 0) return 0; return cells; }"
TESTS_ANOTHER = "int *get(int n) { char *p = malloc(3); free(p); return n > 3 ? cells : 0; }"

TRUSTS = "int {name}(int n) {{ return *get(n); }}"
TESTS = "int {name}(int n) {{ int *p = get(n); return p ? *p : 0; }}"
TESTS_LATER = "int {name}(int n) {{ int *p = get(n); int r = *p; return p ? r : 0; }}"
TESTS_BEFORE = "int {name}(struct holder *h, int n) {{ if (!h->p) h->p = get(n); return *h->p; }}"

START = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct holder { int *p; };
int cells[9];
const char *text;
"""


def reported(folder: Path, function: str, callers: list[str], *, edges: int) -> list[str]:
    """The functions in which a null pointer is found."""
    names = [f"f{number}" for number in range(len(callers))]
    bodies = [caller.format(name=name) for name, caller in zip(names, callers, strict=True)]
    file = folder / "t.c"
    file.write_text("\n".join([START, function, *bodies]) + "\n", encoding="utf-8")
    options = Options(rules=("null-dereference",), engine="automaton", limits=Limits(global_edges=edges))
    checker = Checker(options)
    checker.open([str(file)])
    found = sorted(finding.function for finding in checker.check().findings)
    checker.close()
    return found


@pytest.mark.parametrize("edges", [0, 2_000])
@pytest.mark.parametrize("function", [FAILS, FAILS_AND_SAYS_SO, FAILS_BELOW])
@pytest.mark.parametrize("callers", [1, 2, 5])
def test_a_failure_counts_at_every_call(function: str, callers: int, edges: int, tmp_path: Path) -> None:
    assert reported(tmp_path, function, [TRUSTS] * callers, edges=edges) == [f"f{number}" for number in range(callers)]
    assert reported(tmp_path, function, [TRUSTS, *[TESTS] * callers], edges=edges) == ["f0"]


def test_a_failure_of_one_step_of_several_counts(tmp_path: Path) -> None:
    assert reported(tmp_path, FAILS_IN_STEPS, [TRUSTS, TRUSTS, TESTS], edges=0) == ["f0", "f1"]


@pytest.mark.parametrize("function", [FINDS, SEARCHES])
def test_what_is_not_found_counts_in_small_programs(function: str, tmp_path: Path) -> None:
    assert reported(tmp_path, function, [TRUSTS, TRUSTS, TESTS], edges=2_000) == ["f0", "f1"]


@pytest.mark.parametrize("function", [FINDS, SEARCHES, TESTS_ANOTHER])
@pytest.mark.parametrize(
    ("callers", "expected"),
    [
        ([TRUSTS], ["f0"]),
        ([TRUSTS, TRUSTS], []),
        ([TRUSTS, TESTS], ["f0"]),
        ([TRUSTS, TRUSTS, TESTS], []),
        ([TRUSTS, TESTS, TESTS, TRUSTS], ["f0", "f3"]),
        ([TRUSTS, TRUSTS, TESTS_LATER], ["f2"]),
        ([TRUSTS, TRUSTS, TESTS_BEFORE], []),
    ],
)
def test_what_is_not_found_counts_in_large_programs_as_others_test_it(
    function: str, callers: list[str], expected: list[str], tmp_path: Path
) -> None:
    assert reported(tmp_path, function, callers, edges=0) == expected


@pytest.mark.parametrize("edges", [0, 2_000])
def test_null_that_an_argument_asks_for_counts_only_where_it_is_passed(edges: int, tmp_path: Path) -> None:
    zero = "int {name}(void) {{ return *get(0); }}"
    assert reported(tmp_path, ASKS_FOR_ZERO, [TRUSTS, zero], edges=edges) == ["f1"]
