"""Formats of several string literals, as `printf("%" PRId64 "\\n", n)` has them, are read as one (C11 5.1.1.2p1)."""

from __future__ import annotations

import pytest

from analysis.c.formats import printed, scanned

ONE = r'"%ld\n"'


@pytest.mark.parametrize(
    "text",
    [r'"%" "ld" "\n"', r'"%" "l" "d" "\n"', r'"%l" "d\n"', '"%ld"\n      "\\n"', r'"" "%ld\n"', r'u8"%l"u8"d" "\n"'],
)
def test_adjacent_literals_are_one(text: str) -> None:
    assert printed(text) == printed(ONE) is not None
    assert scanned(text) == scanned(ONE) is not None


@pytest.mark.parametrize(
    "text", [r'L"%ld"', r'"%" L"ld"', r'"%\x64"', r'"\x25" "d"', r'"%" "q"', r'"%"', "format", r'"a', r'"??/"']
)
def test_what_is_not_understood(text: str) -> None:
    assert printed(text) is None


def test_a_quote_inside_a_literal_ends_nothing() -> None:
    assert printed(r'"\" %d \" " "%s"') == printed(r'"%d%s"')


def test_a_percent_sign_may_be_put_together() -> None:
    assert printed(r'"%" "%" "d"') == ()


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (r'"%[^\n]"', [("[", None)]),
        ('"%79[a-z]%d"', [("[", 79), ("d", None)]),
        ('"%[]]%d"', [("[", None), ("d", None)]),
        ('"%[^]:]%*c%s"', [("[", None), ("s", None)]),
        ('"%*[^:]:%d"', [("d", None)]),
        ('"%2$d %1$9s"', [("s", 9), ("d", None)]),
    ],
)
def test_what_scanf_reads_in_the_order_of_its_arguments(text: str, read: list[tuple[str, int | None]]) -> None:
    found = scanned(text)
    assert found is not None
    assert [(one.letter, one.width) for one in found] == read


@pytest.mark.parametrize(
    "text",
    [r'"%[\x5d]%d"', r'"%[\135]"', '"%[??)]"', '"%[a"', '"%1$d %d"', '"%d %2$d"', '"%2$d"', '"%1$d %1$s"', '"%*1$d"', '"%1$*d"'],
)
def test_what_scanf_reads_is_not_guessed(text: str) -> None:
    assert scanned(text) is None


def test_what_printf_prints_in_the_order_of_its_arguments() -> None:
    assert printed('"%2$ld %1$s"') == printed('"%s%ld"')
    assert [printed(text) for text in ('"%1$d %d"', '"%2$d"', '"%1$*d"', '"%1$*2$d"', '"%[a]"')] == [None] * 5
