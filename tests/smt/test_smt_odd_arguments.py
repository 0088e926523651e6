"""The class: calls of library functions that no condition spoke of. A function that copies so many bytes was called through a
pointer; a number was cast to a pointer; a format asked for a pointer, and was given a number or nothing. All were proved to fail
nowhere, as `sscanf("5", "%d", number)` was."""

from __future__ import annotations

import pytest

from analysis.smt.encoding.numbers.formula import FailureKind
from tests.smt.test_smt_passed_objects import may_fail

_KINDS: tuple[FailureKind, ...] = ("null-dereference", "array-bounds")


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize(
    ("statements", "may"),
    [
        ('scanf("%d", n);', True),
        ('scanf("%d", l);', True),
        ('scanf("%d %d", &n);', True),
        ('scanf("%*d %d", &n);', False),
        ('scanf("%d", &n, n);', False),
        ('printf("%d");', True),
        ('printf("%s", n);', True),
        ('printf("%d%n", n, n);', True),
        ('printf("%*d %s", n, "abc");', True),
        ('printf("%*d %s", n, n, "abc");', False),
        ('printf("%p", n);', False),
        ('printf("%" "ld %s", l, "abc");', False),
        ('printf("%" "ld %s", l, n);', True),
        ('printf("%1$s", "abc");', False),
        ('printf("%2$s", "abc", "abc");', True),
        ('printf("100%%\\n");', False),
        ("wait((int *)l);", False),
        ('strncpy((char *)l, "abc", 2);', True),
    ],
)
def test_arguments_that_are_no_pointers(statements: str, may: bool, kind: FailureKind) -> None:
    name = statements.partition("(")[0]
    expected = True if name == "wait" and kind == "array-bounds" else may
    assert may_fail(statements, name, kind) == expected
