"""String literals that are passed to external functions: where these only read them as strings, nothing is violated."""

from __future__ import annotations

import pytest

from analysis.cpa.predicates.violations import violations
from tests.support.runs import program_of

HEAD = """
int printf(const char *, ...); int puts(const char *); int other(const char *); unsigned long strlen(const char *);
int memcmp(const void *, const void *, unsigned long);
"""
CALLS = {
    r'printf("hello\n")': False,
    r'printf("%d%% of %5.2f %lu %c\n", n, 1.0, 2ul, n)': False,
    r'puts("%s")': False,
    r'strlen("abc")': False,
    r'printf("%s", "abc")': True,
    r'printf("%s", n)': True,
    r'printf("%n", n)': True,
    r'printf("%*d", n, n)': False,  # a width is a number (C11 7.21.6.1p5)
    r'printf("%*s", n, n)': True,
    r'printf("\x25s", n)': True,
    r'printf("\45s", n)': True,
    r'printf("%" "s", n)': True,
    r'printf("%ls", n)': True,
    r'printf("abc" + n)': True,
    r'other("abc")': True,
    r'memcmp("abc", "abd", n)': True,
    r"puts(p)": True,
}


@pytest.mark.parametrize("call", CALLS)
def test_a_literal_that_is_only_read_as_a_string_violates_nothing(call: str) -> None:
    program = program_of(f"{HEAD}int f(int n, const char *p) {{ {call}; return n; }}")
    assert bool(violations(program, "array-bounds")) == CALLS[call]


def test_a_function_of_the_program_with_that_name_is_another() -> None:
    program = program_of('int puts(const char *s) { return s[9]; }\nint f(void) { return puts("a"); }')
    assert [place.function for place in violations(program, "array-bounds")] == ["puts"]
