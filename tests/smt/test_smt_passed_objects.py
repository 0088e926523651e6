"""The class: a literal, or a scalar variable, that is passed to a library function was taken to be as long as the function needs,
whatever the function does with it. `write(1, "abc", 40)` was proved to stay inside; so were `scanf("%ld", &i)`, a wide string for
`%ls`, and a first `strtok()` that is passed null."""

from __future__ import annotations

import msgspec
import pytest

from analysis.cpa.predicates.violations import Property, violations
from analysis.smt.encoding.numbers.formula import FailureKind
from tests.smt.test_smt_library import before
from tests.support.runs import main_of, program_of

_EXTERNALS = """
long read(int, void *, unsigned long); long write(int, const void *, unsigned long); char *getcwd(char *, unsigned long);
int scanf(const char *, ...); long time(long *);
long strtol(const char *, char **, int); void *memchr(const void *, int, unsigned long); char *strtok(char *, const char *);
char *strncpy(char *, const char *, unsigned long); int wait(int *); char *strtok_r(char *, const char *, char **);
"""


def may_fail(statements: str, name: str, kind: FailureKind) -> bool:
    """Whether no formula says when the call fails, though it may."""
    text = main_of(
        f"int n; char c; short s; double d; long l; char *p; char a[4]; c = n = 0; p = a; {statements} return 0;", _EXTERNALS
    )
    program = program_of(text)
    for external, known in program.externals.items():
        program.externals[external] = msgspec.structs.replace(known, system=True)
    encoder, edge = before(program, name)
    return encoder.may_fail_inside(edge, kind)


@pytest.mark.parametrize(
    ("statements", "may_leave"),
    [
        ('write(1, "abc", 40);', True),
        ("write(1, &n, 400);", True),
        ("read(0, &n, 400);", True),
        ("getcwd(&c, 40);", True),
        ("getcwd((char *)&n, 40);", True),
        ('memchr("abc", c, 40);', True),
        ('strncpy(&c, "abc", n);', True),
        ('scanf("%d %c %hd %lf %ld %p", &n, &c, &s, &d, &l, &p);', False),
        ('scanf("%*d %2s%%\\n%d", &l, &n);', False),
        ('scanf("%ld", &n);', True),
        ('scanf("%d", &s);', True),
        ('scanf("%lf", &n);', True),
        ('scanf("%*d %ld", &n);', True),
        ('scanf("%s", &c);', True),
        ('scanf("%2c", &c);', True),
        ('scanf("%[a-z]", &l);', True),
        ('scanf("%*s %d", &n);', False),
        ("scanf(p, &n);", True),
        ('printf("%p %*d %s", &n, n, n, "abc");', False),
        ('printf("%ls", "abc");', True),
        ('printf("%d%s", n, &c);', False),
        ('c = 1; printf("%d%s", n, &c);', True),
        ('printf("%n", &s);', True),
        ("time(&l);", False),
        ("time((long *)&n);", True),
        ("time(0);", False),
        ('strtol("12", &p, 10);', False),
        ('strtol("12", (char **)&n, 10);', True),
        ("wait(&n);", False),
        ("wait((int *)&c);", True),
    ],
)
def test_how_far_the_function_goes(statements: str, may_leave: bool) -> None:
    name = statements.rpartition("; ")[2].partition("(")[0]
    assert may_fail(statements, name, "array-bounds") == may_leave


def test_wide_strings_do_not_end_at_a_zero_byte() -> None:
    assert may_fail('int w[1]; w[0] = 97; printf("%ls", w);', "printf", "array-bounds")
    assert not may_fail('int w[1]; w[0] = 97; printf("%s", w);', "printf", "array-bounds")


@pytest.mark.parametrize(
    ("statements", "is_unset"),
    [
        ("int m; write(1, &m, 4);", True),
        ("int m = n; write(1, &m, 4);", False),
        ("int m; if (n) { m = 1; } write(1, &m, 4);", True),
        ('int m; scanf("%d", &m);', False),
        ("time(&l);", False),
    ],
)
def test_values_that_were_never_set(statements: str, is_unset: bool) -> None:
    name = statements.rpartition("; ")[2].rpartition("} ")[2].partition("(")[0]
    assert may_fail(statements, name, "uninitialized-read") == is_unset


@pytest.mark.parametrize(
    ("statements", "may_be_null"),
    [
        ('strtok(0, ",");', True),
        ('strtok(a, ",");', False),
        ('strtok(p, ",");', True),
        ('strtok_r(0, ",", &p);', True),
        ("time(0);", False),
        ("getcwd(0, 0);", False),
    ],
)
def test_null_that_stands_for_an_earlier_string(statements: str, may_be_null: bool) -> None:
    assert may_fail(statements, statements.partition("(")[0], "null-dereference") == may_be_null


@pytest.mark.parametrize(
    ("statements", "property_", "found"),
    [
        ("char c; getcwd(&c, 40);", "array-bounds", True),
        ('char c = 1; strtok(&c, ",");', "array-bounds", True),
        ("char c; wait((int *)&c);", "array-bounds", True),
        ("long l; time(&l);", "array-bounds", False),
        ("int n; wait(&n);", "array-bounds", False),
        ('strtok(0, ",");', "null-dereference", True),
        ("time(0);", "null-dereference", False),
        ('int n; scanf("%d", n);', "null-dereference", True),
        ('printf("%s");', "null-dereference", True),
        ('printf("%d", 1);', "null-dereference", False),
    ],
)
def test_engines_that_know_no_memory(statements: str, property_: Property, found: bool) -> None:
    assert bool(violations(program_of(main_of(f"{statements} return 0;", _EXTERNALS)), property_)) == found
