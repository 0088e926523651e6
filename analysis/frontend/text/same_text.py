"""Whether preprocessed texts are the same for C: the same lines of the same headers.

Flags can lead to a file by several names, and preprocessors leave out empty lines in several ways: neither counts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

_MARKER = re.compile(rb'# (?P<number>\d+) "(?P<path>(?:[^"\\\n]|\\.)*)"(?P<flags>[ \d]*)')
_SYSTEM = b"3"  # GCC manual, "Preprocessor Output"


def is_same_text(folder: str, texts: Sequence[bytes | None]) -> bool:
    """Whether all preprocessed texts of one file in `folder` are the same; not if there is none (None)."""
    lines = [None if text is None else list(_placed_lines(folder, text)) for text in texts]
    return all(found is not None and found == lines[0] for found in lines)


def _placed_lines(folder: str, text: bytes) -> Iterator[tuple[bytes, bool, int, bytes]]:
    """The lines of a text, each with its file, whether that is a header of the system's, and its number there."""
    place, is_system, number = b"", False, 0
    for line in text.split(b"\n"):
        marker = _MARKER.fullmatch(line)
        if marker is not None:
            place = os.path.normpath(os.path.join(os.fsencode(folder), marker["path"]))
            is_system, number = _SYSTEM in marker["flags"], int(marker["number"])
            continue
        if line.strip():
            yield place, is_system, number, line
        number += 1
