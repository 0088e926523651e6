"""A name in parentheses that a typedef declares with a type of several words: `typedef unsigned long(hash)(const void *);`.

The grammar takes the last word for the name, and the name for a parameter. A typedef declares a name (C11 6.7.8), so what
stands alone in these parentheses is that name: they are overwritten by spaces in the text that the parser gets.
"""

from __future__ import annotations

import re

from analysis.frontend.syntax.scanning import outside_literals

_WORD = rb"(?:unsigned|signed|long|short|char|int|double|_Complex|const|volatile)"
_TYPEDEF = re.compile(rb"typedef(?<![\w$]typedef)(?=\s)")
_REST = re.compile(rb"(?:\s++" + _WORD + rb"(?![\w$])){2,}\s*+\((?=\s*+(?!\d)[\w$]++\s*+\))")


def without_parentheses(text: bytes) -> bytes:
    """The text without these parentheses, of the same length."""
    if b"typedef" not in text:
        return text
    buffer = bytearray(text)
    for _, rest in outside_literals(text, _TYPEDEF, {None: _REST}):
        if rest is not None:
            buffer[rest.end() - 1] = buffer[text.index(b")", rest.end())] = 0x20
    return bytes(buffer)
