"""The code of lsprotocol's classes, compiled in advance.

attrs writes the methods of a class as text when the class is made, and compiles that; lsprotocol has 554 classes, and half of the
server's start was this. A package of the server can carry what comes out, as it carries byte code: `python -m
server.transport.class_code`
writes it beside this module, for the Python that runs it. What is not carried, or attrs writes otherwise, is compiled as ever.
"""

from __future__ import annotations

import builtins
import importlib.util
import marshal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import CodeType

from attr import _make  # a module without `compile` of its own: one that it is given comes before the builtin

CARRIED = Path(__file__).with_name(f"class_code.{sys.implementation.cache_tag}.marshal")

Codes = dict[str, CodeType]


def import_types(codes: Codes) -> None:
    """Imports `lsprotocol.types`, with the code of its classes by its text. What is not there is entered."""
    with _compiling(codes):
        import lsprotocol.types  # noqa: F401  # for all who import it from now on


@contextmanager
def _compiling(codes: Codes) -> Iterator[None]:
    """Has attrs ask `codes` first."""

    def code_of(source: str, filename: str, mode: str) -> CodeType:
        known = codes.get(source)
        if known is None:
            known = codes[source] = builtins.compile(source, filename, mode)
        return known

    _make.compile = code_of  # type: ignore[attr-defined]
    try:
        yield
    finally:
        del _make.compile  # type: ignore[attr-defined]


def read(path: Path = CARRIED) -> Codes:
    """What a file carries; nothing if it is for another Python, or damaged, or not there."""
    with suppress(OSError, EOFError, ValueError, TypeError):
        data = path.read_bytes()
        if data.startswith(importlib.util.MAGIC_NUMBER):
            codes: Codes = marshal.loads(data[len(importlib.util.MAGIC_NUMBER) :])
            return codes
    return {}


def write(path: Path = CARRIED) -> None:
    """Writes it. `lsprotocol.types` must not have been imported before."""
    codes: Codes = {}
    import_types(codes)
    path.write_bytes(importlib.util.MAGIC_NUMBER + marshal.dumps(codes))


if __name__ == "__main__":
    write()
