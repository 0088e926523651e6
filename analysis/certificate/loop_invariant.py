"""What others say of a loop; it is a module of its own, so that who asks does not load the checker."""

from __future__ import annotations

import msgspec


class LoopInvariant(msgspec.Struct, frozen=True):
    """What holds at the head of the loop in a line of a file, in C. `function` is empty where the witness does not name it."""

    file: str
    line: int
    function: str
    text: str
