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
