"""A name in parentheses behind `sizeof`, and a member or an element of it behind these: `sizeof (x).text[0]`.

The grammar takes the name for a type. Behind a type there can be neither (C11 6.5.3p1), so that the parentheses are overwritten
by spaces in the text that the parser gets.
"""

from __future__ import annotations

import re

from analysis.frontend.syntax.scanning import outside_literals

_SIZEOF = re.compile(rb"sizeof(?<![\w$]sizeof)\s*+\((?=[\s\w$]*+\))")
_REST = re.compile(rb"\s*+(?!\d)[\w$]++\s*+\)(?=\s*+(?:\.\s*+[A-Za-z_$]|->|\[))")


def without_parentheses(text: bytes) -> bytes:
    """The text without these parentheses, of the same length."""
    if b"sizeof" not in text:
        return text
    buffer = bytearray(text)
    for match, rest in outside_literals(text, _SIZEOF, {None: _REST}):
        if rest is not None:
            buffer[match.end() - 1] = buffer[rest.end() - 1] = 0x20
    return bytes(buffer)
