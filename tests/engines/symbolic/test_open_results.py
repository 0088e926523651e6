"""Where C leaves open which number a function returns, or whether it fails, one such number confirms and refutes nothing.

The class: results of which only the sign is specified, or whether they are 0; numbers that are not negative; functions of the
library that may fail. Programs that only ask what is specified are decided as before.
"""

from __future__ import annotations

import pytest

from analysis.engines.symbolic import Confirmed, Effort, ProgramTask, Refuted, decide_program
from analysis.engines.symbolic.task import Decision
from tests.support.runs import program_of

_FUNCTIONS = """
int isalpha(int); int memcmp(const void *, const void *, size_t); int puts(const char *); int fputs(const char *, FILE *);
int fflush(FILE *);
size_t fwrite(const void *, size_t, size_t, FILE *);
int atexit(void (*)(void)); static void last(void) {} int bcmp(const void *, const void *, size_t);
static int order(const char *a, const char *b) { return strcmp(a, b); }
static int sign(const char *a, const char *b) { int d = strcmp(a, b); return d < 0 ? -1 : d > 0; }
typedef int (*compare)(const char *, const char *);
"""


def decided(body: str) -> Decision:
    program = program_of(f"{_FUNCTIONS} int main(void) {{ {body} return 0; }}")
    return decide_program(ProgramTask(program, frozenset({"assertion"}), Effort(seconds=30, states=2_000)))


OPEN = [
    'strcmp("c", "a") == N',
    'strcmp("a", "c") == -N',
    'strncmp("c", "a", 1) == N',
    'memcmp("c", "a", 1) == N',
    'bcmp("c", "a", 1) == N',
    'order("c", "a") == N',
    'order("c", "a") > N',
    'strcmp("c", "a") + 1 == N + 1',
    'strcmp("c", "a") * 2 > 2 * N',
    "isalpha('a') == N",
    "isalpha('a') == 1024",
    "isalpha('a') > 0",
    "isalpha('a') == isalpha('b')",
    "isalpha('a') & N",
    'puts("a") == N',
    'puts("") > 0',
    'fputs("a", stderr) == N',
]


@pytest.mark.parametrize("condition", OPEN)
@pytest.mark.parametrize("number", [1, 2])
def test_numbers_that_are_left_open(condition: str, number: int) -> None:
    for body in (f"if ({condition}) reach_error();", f"if (!({condition})) reach_error();"):
        found = decided(body.replace("N", str(number)))
        assert not isinstance(found, Confirmed | Refuted), found


@pytest.mark.parametrize(
    "condition",
    [
        'printf("a") < 0',
        'fputs("a", stderr) < 0',
        'puts("a") == -1',
        "fflush(stderr)",
        'fwrite("x", 1, 1, stderr) != 1',
        "atexit(last)",
        'fprintf(stderr, "a") != 1',
    ],
)
def test_failures_are_not_refuted(condition: str) -> None:
    assert not isinstance(decided(f"if ({condition}) reach_error();"), Refuted)
    assert isinstance(decided(f"if (!({condition})) reach_error();"), Confirmed)


SPECIFIED = [
    'fwrite("x", 0, 5, stderr) == 0',
    'strcmp("c", "a") > 0',
    'strcmp("c", "a")',
    'strcmp("c", "a") >= 1',
    'strcmp("a", "c") <= -1',
    'strcmp("a", "a") == 0',
    '!strcmp("a", "a")',
    '0 > strcmp("a", "c")',
    'strcmp("c", "a") != 0',
    'strcmp("c", "a") != -1',
    'order("c", "a") > 0',
    'sign("c", "a") == 1',
    'memcmp("c", "a", 1) > 0',
    "isalpha('a')",
    "isalpha('a') != 0",
    "!isalpha('1')",
    "isalpha('1') == 0",
    "isalpha('a') && isalpha('b')",
    "(_Bool)isalpha('a') == 1",
]


@pytest.mark.parametrize("condition", SPECIFIED)
def test_what_is_specified(condition: str) -> None:
    assert isinstance(decided(f"if ({condition}) reach_error();"), Confirmed)
    assert isinstance(decided(f"if (!({condition})) reach_error();"), Refuted)


def test_results_that_are_kept_in_variables() -> None:
    assert isinstance(decided('int d = strcmp("c", "a"), e = d; if (e <= 0) reach_error();'), Refuted)
    assert not isinstance(decided('int d = strcmp("c", "a"), e = d; if (e != 1) reach_error();'), Refuted)
    assert not isinstance(decided('int d = strcmp("c", "a"), *e = &d; if (*e != 1) reach_error();'), Refuted)
    assert not isinstance(decided('compare f = order; if (f("c", "a") != 1) reach_error();'), Refuted)
