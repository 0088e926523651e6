"""Numbers with a sign directly behind `sizeof(T)`: the grammar takes the sign in, so that `sizeof(int)-1` reads as the size of
`(int)-1`. C has no cast there (C11 6.5.3p1).

Where a name stands instead, the grammar reads a sum: the first digit is overwritten by `_` in the text that the parser gets. A
number is then an identifier that begins with a digit in the text as it is written.
"""

from __future__ import annotations

import re

from analysis.frontend.syntax.scanning import BALANCED, outside_literals

_SIZEOF = re.compile(rb"sizeof(?<![\w$]sizeof)\s*+\(")
_NUMBER_REST = re.compile(BALANCED + rb"\)\s*+[+-](?=\d\w*+(?![\w.$]))")  # no floating ones


def as_names(text: bytes) -> bytes:
    """The text with these numbers as names, of the same length."""
    if b"sizeof" not in text:
        return text
    buffer = bytearray(text)
    for _, rest in outside_literals(text, _SIZEOF, {None: _NUMBER_REST}):
        if rest is not None:
            buffer[rest.end()] = ord("_")
    return bytes(buffer)
