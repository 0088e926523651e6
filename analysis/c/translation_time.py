"""The macros that say when a text is translated (C11 6.10.8.1; `__TIMESTAMP__` is of compilers), and what stands for them here.

A text is preprocessed as of one moment, whenever that is done: what is found depends on no clock, and can be kept. Proofs about
programs that name such a macro say that they assume it.
"""

from __future__ import annotations

MOMENT = {"__DATE__": '"Jan  1 1970"', "__TIME__": '"00:00:00"', "__TIMESTAMP__": '"Thu Jan  1 00:00:00 1970"'}
"""The value of each macro, as written."""


def is_of_translation(literal: str) -> bool:
    """Whether a string literal, as written, may have come out of one of these macros; it may be a part of the literal, where `#`
    has put backslashes before its quotes (C11 6.10.3.2p2)."""
    return any(value in literal.replace('\\"', '"') for value in MOMENT.values())
