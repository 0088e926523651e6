"""Lines that a run reads (C11 7.21.7.2p2): nothing follows a newline but the 0 that ends the string, and the bytes behind that
are as they were.

The characters of a line are asked for when they are read. So where the line ends is known only then.
"""

from __future__ import annotations

from analysis.interpreter.halting import not_modelled
from analysis.interpreter.memory import ASKED, KNOWN, LINE_END, Block, Line

_NEWLINE = 10


def end_at_newline(block: Block, line: Line, offset: int, size: int) -> None:
    """Called when `size` bytes from the offset were asked for, of a block into which the line was read. If there is a newline in
    them, what follows is put right. Ends the run if that was asked for, or written, before, or is one of these bytes."""
    last = line.start + len(line.data) - 1  # where the 0 stands in the longest form
    newline = block.data.find(_NEWLINE, max(offset, line.start), min(offset + size, last - 1))
    if newline < 0:
        return
    rest = newline + 1
    if rest < offset + size or block.mask[rest : last + 1] != bytes((ASKED,)) * (last - rest) + bytes((LINE_END,)):
        not_modelled("a line whose end is read before the newline that ends it")
    block.line = None
    there = rest - line.start
    block.data[rest], block.mask[rest] = 0, KNOWN
    block.data[rest + 1 : last + 1], block.mask[rest + 1 : last + 1] = line.data[there + 1 :], line.mask[there + 1 :]
