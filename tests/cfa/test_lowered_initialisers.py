"""What initialisers are lowered to: small C bodies and the edges that are expected of them."""

from __future__ import annotations

import pytest

from tests.support.lowered import body

CASES = {
    "partial_array": (
        "int x[4] = { 1, 2 }; return x[0];",
        """
        0 -> 2  x = {0}
        2 -> 3  x[0] = 1
        3 -> 4  x[1] = 2
        4 -> 1  return x[0]
        """,
    ),
    "whole_array": (
        "int x[2] = { a, b }; return x[0];",
        """
        0 -> 2  x[0] = a
        2 -> 3  x[1] = b
        3 -> 1  return x[0]
        """,
    ),
    "length_from_list": (
        "int x[] = { [2] = a, b }; return sizeof x;",
        """
        0 -> 2  x = {0}
        2 -> 3  x[2] = a
        3 -> 4  x[3] = b
        4 -> 1  return 16
        """,
    ),
    "string": (
        'char x[] = "ab"; char y[8] = { "c" }; return sizeof x;',
        """
        0 -> 2  x = "ab"
        2 -> 3  y = "c"
        3 -> 1  return 3
        """,
    ),
    "record": (
        "struct node n = { 1, 0, { 5 } }; return n.v;",
        """
        0 -> 2  n.v = 1
        2 -> 3  n.next = NULL
        3 -> 4  n.i = 5
        4 -> 1  return n.v
        """,
    ),
    "designated": (
        "struct node n = { .next = 0, .v = a }; return n.v;",
        """
        0 -> 2  n = {0}
        2 -> 3  n.next = NULL
        3 -> 4  n.v = a
        4 -> 1  return n.v
        """,
    ),
    "nested_without_braces": (
        "int m[2][2] = { 1, 2, 3, 4 }; return m[1][1];",
        """
        0 -> 2  m[0][0] = 1
        2 -> 3  m[0][1] = 2
        3 -> 4  m[1][0] = 3
        4 -> 5  m[1][1] = 4
        5 -> 1  return m[1][1]
        """,
    ),
    "record_by_value": (
        "struct node n = { 1 }, k = n; struct node two[2] = { n, k }; return k.v;",
        """
        0 -> 2  n = {0}
        2 -> 3  n.v = 1
        3 -> 4  k = n
        4 -> 5  two[0] = n
        5 -> 6  two[1] = k
        6 -> 1  return k.v
        """,
    ),
    "scalar_in_braces": (
        "int x = { 3 }; return x;",
        """
        0 -> 2  x = 3
        2 -> 1  return x
        """,
    ),
    "array_of_records": (
        'struct { int k; char *n; } t[] = { { 1, "a" }, { 2, "b" } }; return t[1].k;',
        """
        0 -> 2  t[0].k = 1
        2 -> 3  t[0].n = "a"
        3 -> 4  t[1].k = 2
        4 -> 5  t[1].n = "b"
        5 -> 1  return t[1].k
        """,
    ),
    "two_members_of_a_union_and_not_all_of_the_record": (
        "struct { int i; union { int u; char c[4]; }; } x = { .u = a, .c = { 1 } }; return x.i;",
        """
        0 -> 2  x = {0}
        2 -> 3  x.c[0] = 1
        3 -> 1  return x.i
        """,
    ),
    "bit_fields": (
        "struct { unsigned u : 3; int i : 4; } x = { a, 9 }; return x.i;",
        """
        0 -> 2  x.u = a
        2 -> 3  x.i = -7
        3 -> 1  return x.i
        """,
    ),
    "big": (
        "int x[300] = { 1, g(2) }; return x[0];",
        """
        0 -> 2  $1 = g(2)
        2 -> 3  x = any value
        3 -> 1  return x[0]
        """,
    ),
}


@pytest.mark.parametrize(
    ("initialiser", "length"),
    [
        ("{ [0 ... 9] = 3 }", 10),
        ("{ [1 ... 4] = a, [0] = b }", 5),
        ("{ [0] = a, [2 ... 3] = b }", 4),
        ("{ [3 ... 3] = a, b }", 5),
    ],
)
def test_the_last_of_several_elements_counts_for_the_length(initialiser: str, length: int) -> None:
    assert f"return {4 * length}" in body(f"int x[] = {initialiser}; return sizeof x;")


@pytest.mark.parametrize("case", CASES)
def test_edges(case: str) -> None:
    text, expected = CASES[case]
    assert body(text).split("\n") == [line.strip() for line in expected.strip().splitlines()]
