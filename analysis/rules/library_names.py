"""Names of library functions for rules: `names: {$FREE: {library: frees}}` in a rule file. `analysis.c.functions` describes the
functions."""

from __future__ import annotations

from analysis.c.blocks import RELEASES, RESIZES
from analysis.c.functions import all_with

LIBRARY_NAMES: dict[str, frozenset[str]] = {
    "accesses": all_with(lambda function: bool(function.positions("in", "copied", "text", "out", "inout", "format"))),
    "allocates": all_with(lambda function: function.gives_block),
    "closes": all_with(lambda function: bool(function.positions("closed"))),
    "frees": RELEASES,
    "may-return-null": all_with(lambda function: function.null != "" and function.result not in ("number", "descriptor")),
    "opens-descriptor": all_with(lambda function: function.result == "descriptor"),
    "opens-stream": all_with(lambda function: function.result in ("stream", "directory")),
    "resizes": RESIZES,
}
"""The words, and the functions: that read or write an object that they are passed; that return a new block of memory; that end a
stream, a directory or a descriptor; that free a block; that return null in some cases; that return a descriptor; that return a
stream or a directory; that free a block for one of another size, which they return."""
