"""What conditions are lowered to: small C bodies and the edges that are expected of them."""

from __future__ import annotations

import pytest

from tests.support.lowered import body

CASES = {
    "and": (
        "if (a && b) return 1; return 0;",
        """
        0 -> 2  [a]
        0 -> 3  [!a]
        2 -> 4  [b]
        2 -> 3  [!b]
        4 -> 1  return 1
        3 -> 1  return 0
        """,
    ),
    "or": (
        "if (a || b) return 1; return 0;",
        """
        0 -> 2  [a]
        0 -> 3  [!a]
        3 -> 2  [b]
        3 -> 4  [!b]
        2 -> 1  return 1
        4 -> 1  return 0
        """,
    ),
    "not": (
        "if (!(a || !b)) return 1; return 0;",
        """
        0 -> 2  [a]
        0 -> 3  [!a]
        3 -> 4  [b]
        3 -> 2  [!b]
        4 -> 1  return 1
        2 -> 1  return 0
        """,
    ),
    "nested": (
        "while ((a && b) || p) a--; return a;",
        """
        0 -> 2  [a]
        0 -> 3  [!a]
        2 -> 4  [b]
        2 -> 3  [!b]
        3 -> 4  [p]
        3 -> 5  [p == NULL]
        4 -> 0  a = a - 1
        5 -> 1  return a
        """,
    ),
    "pointer": (
        "if (p) return 1; return 0;",
        """
        0 -> 2  [p]
        0 -> 3  [p == NULL]
        2 -> 1  return 1
        3 -> 1  return 0
        """,
    ),
    "null_comparison": (
        "if (p == 0 || (void *)0 != s) return 1; return 0;",
        """
        0 -> 2  [p == NULL]
        0 -> 3  [p != NULL]
        3 -> 2  [s != NULL]
        3 -> 4  [s == NULL]
        2 -> 1  return 1
        4 -> 1  return 0
        """,
    ),
    "double_negation": (
        "if (!!p) return 1; return 0;",
        """
        0 -> 2  [p]
        0 -> 3  [p == NULL]
        2 -> 1  return 1
        3 -> 1  return 0
        """,
    ),
    "expect": (
        "if (__builtin_expect(!!(p == 0), 0)) return 1; return 0;",
        """
        0 -> 2  [p == NULL]
        0 -> 3  [p != NULL]
        2 -> 1  return 1
        3 -> 1  return 0
        """,
    ),
    "compared_truth": (
        "if ((a < b) == 0) return 1; return 0;",
        """
        0 -> 2  [a < b]
        0 -> 3  [a >= b]
        3 -> 1  return 1
        2 -> 1  return 0
        """,
    ),
    "conditional": (
        "if (a ? b : p != 0) return 1; return 0;",
        """
        0 -> 2  [a]
        0 -> 3  [!a]
        2 -> 4  [b]
        2 -> 5  [!b]
        3 -> 4  [p != NULL]
        3 -> 5  [p == NULL]
        4 -> 1  return 1
        5 -> 1  return 0
        """,
    ),
    "call": (
        "if (g(a)) return 1; return 0;",
        """
        0 -> 2  $1 = g(a)
        2 -> 3  [$1]
        2 -> 4  [!$1]
        3 -> 1  return 1
        4 -> 1  return 0
        """,
    ),
    "assigned_call": (
        "while ((a = g(b)) != 0) b = a; return b;",
        """
        0 -> 2  a = g(b)
        2 -> 3  [a != 0]
        2 -> 4  [a == 0]
        3 -> 0  b = a
        4 -> 1  return b
        """,
    ),
    "assigned_pointer": (
        "if ((p = malloc(4)) == 0) return 1; return 0;",
        """
        0 -> 2  p = malloc(4)
        2 -> 3  [p == NULL]
        2 -> 4  [p != NULL]
        3 -> 1  return 1
        4 -> 1  return 0
        """,
    ),
    "as_value": (
        "b = a && p; return !b;",
        """
        0 -> 2  [a]
        0 -> 3  [!a]
        2 -> 4  [p]
        2 -> 3  [p == NULL]
        4 -> 5  $1 = 1
        3 -> 5  $1 = 0
        5 -> 6  b = $1
        6 -> 1  return !b
        """,
    ),
    "comma": (
        "if (b++, a) return 1; return 0;",
        """
        0 -> 2  b = b + 1
        2 -> 3  [a]
        2 -> 4  [!a]
        3 -> 1  return 1
        4 -> 1  return 0
        """,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_edges(case: str) -> None:
    text, expected = CASES[case]
    assert body(text).split("\n") == [line.strip() for line in expected.strip().splitlines()]
