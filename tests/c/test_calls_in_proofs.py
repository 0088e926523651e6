"""Whole programs with calls of library functions: what the standard promises is proved, and nothing else. The first ones were
certified as safe while each engine had lists of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.cli.main import main

pytestmark = pytest.mark.full_budget

HEAD = """
typedef unsigned long size_t; typedef long time_t;
void reach_error(void); char *strtok(char *, const char *); char *getenv(const char *); time_t time(time_t *);
int printf(const char *, ...); void *memcpy(void *, const void *, size_t); size_t strlen(const char *);
void *malloc(size_t); void free(void *); int kept; void assert(int);
"""
NOT_PROMISED = {
    "a second call of strtok writes to the first string": (
        "assertion",
        'char s[] = "a b c"; strtok(s, " "); char c = s[3]; strtok(0, " "); if (s[3] != c) reach_error();',
    ),
    "getenv may overwrite what it returned": (
        "assertion",
        'char *a = getenv("A"); if (!a) return 0; char c = *a; getenv("B"); if (*a != c) reach_error();',
    ),
    "a percent sign may be written as an escape": ("assertion", 'int n = 0; printf("ab\\x25n", &n); if (n) reach_error();'),
    "assert, declared as a function, fails if its argument is zero": ("assertion", "int n = kept; assert(n == 1);"),
    "time writes a whole time_t": ("array-bounds", "char a[2]; time((time_t *)a);"),
}
PROMISED = {
    "what is printed is left alone": ("assertion", 'int n = 0; printf("%d%s", n, "a"); if (n) reach_error();'),
    "memcpy writes to its first argument only": (
        "assertion",
        "int a = 1, b = 2; kept = 3; memcpy(&a, &b, sizeof a); if (kept != 3 || b != 2) reach_error();",
    ),
    "time may be passed null": ("null-dereference", "time(0);"),
    "time accesses nothing if it is passed null": (
        "array-bounds",
        "char *p = malloc(2); if (!p) return 0; time(0); p[1] = 0; free(p);",
    ),
    "time may be passed a time_t": ("array-bounds", "time_t now; time(&now);"),
}


def verdict(folder: Path, capsys: pytest.CaptureFixture[str], rule: str, statements: str) -> str:
    path = folder / "p.c"
    path.write_text(f"{HEAD} int main(void) {{ {statements} return 0; }}\n")
    main(["check", "--store", "none", "--format", "json", "--rule", rule, str(path)])
    (function,) = json.loads(capsys.readouterr().out)["functions"]
    return str(function["verdicts"][rule]["verdict"])


@pytest.mark.parametrize("case", NOT_PROMISED)
def test_what_the_standard_does_not_promise_is_not_proved(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verdict(tmp_path, capsys, *NOT_PROMISED[case]) != "safe"


@pytest.mark.parametrize("case", PROMISED)
def test_what_the_standard_promises_is_proved(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verdict(tmp_path, capsys, *PROMISED[case]) == "safe"
