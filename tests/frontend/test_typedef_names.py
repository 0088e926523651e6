"""A typedef's name in parentheses is the name, whatever the words of its type are (C11 6.7.8, 6.7.6).

The class: the grammar takes the last word of the type for the name."""

from __future__ import annotations

import pytest

from analysis.frontend.syntax.parser import parse
from analysis.frontend.syntax.typedef_names import without_parentheses
from tests.support.lowered import unit_of

RESULTS = [
    "unsigned long",
    "unsigned char",
    "long long",
    "unsigned long long int",
    "long double",
    "const unsigned int",
    "unsigned short const",
    "long",
    "int",
    "size_t",
    "struct s",
]


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("name", ["(hash)", " (hash)", "( hash )", " hash"])
def test_a_function_type_can_be_used(result: str, name: str) -> None:
    unit = unit_of(
        f"typedef unsigned long size_t; struct s {{ int a; }}; typedef {result}{name}(const void *key);"
        f" struct table {{ hash *how; int count; }}; int f(struct table *t, hash *how) {{ t->how = how; return t->count; }}"
    )
    (function,) = unit.functions
    assert not unit.broken
    assert not function.cfa.unsupported


def test_an_array_type_can_be_used() -> None:
    unit = unit_of("typedef unsigned char(digest)[16]; int f(void) { digest d = {0}; return (int)sizeof(digest) + d[0]; }")
    assert not unit.functions[0].cfa.unsupported


LEFT = [
    b"typedef unsigned long (*fp)(int);",
    b"typedef unsigned int word(size);",
    b"typedef long(fn)(int);",  # the grammar reads it right
    b"int g(unsigned long (size_t));",  # a parameter: a function that takes a size_t (C11 6.7.6.3p11)
    b'char *s = "typedef unsigned long(fn)(int);";',
    b"int my_typedef; unsigned long (x);",
    b"typedef unsigned long((fn))(int);",
]


@pytest.mark.parametrize("text", LEFT)
def test_nothing_else_is_overwritten(text: bytes) -> None:
    assert without_parentheses(text) == text


def test_the_text_keeps_its_length_and_its_lines() -> None:
    text = b"typedef unsigned\nlong ( /* name */ fn ) (int);"
    assert parse(text).text == b"typedef unsigned\nlong (            fn ) (int);"
    assert without_parentheses(parse(text).text) == b"typedef unsigned\nlong              fn   (int);"
