"""Empty headers in the place of missing ones, so that one missing header does not hide what all the others declare.

Compilers stop at the first header that they do not find. The stand-ins are in a temporary folder that is searched last: a header
that exists anywhere always wins, and the line markers say which stand-ins were used.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from analysis.frontend.text.line_map import unescape

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
_MOST = 500


class Missing(NamedTuple):
    """A header that was not found, and the file and the line that include it, as the compiler prints them."""

    name: str
    path: str
    line: int


class StandIns:
    """The stand-ins in one temporary folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._prefix = b'"' + os.fsencode(folder) + b"/"

    def add(self, name: str) -> bool:
        """Makes a stand-in if there is none yet; False if there can be none: for names that lead out of the folder."""
        path = os.path.normpath(os.path.join(self.folder, name))
        if os.path.isabs(name) or not path.startswith(self.folder + os.sep):
            return False
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "ab"):
                return True
        except (OSError, ValueError):
            return False

    def add_included(self, text: bytes) -> None:
        """Makes stand-ins for whatever a text includes, since a header that is missing is rarely the only one.

        Not for a text that asks `__has_include`: it would get the wrong answer.
        """
        if b"__has_include" not in text:
            for match in list(_INCLUDE.finditer(text))[:_MOST]:
                self.add(os.fsdecode(match.group(1) or match.group(2)))

    def used(self, output: bytes) -> Iterator[Missing]:
        """The stand-ins that a compiler's output shows, where they were first included. The marker after one says from where."""
        seen: set[bytes] = set()
        pattern = rb"\n# 1 " + re.escape(self._prefix) + rb'([^"\n]+)" 1[^\n]*\n# (\d+) "([^"\n]*)" 2'
        for name, line, path in re.findall(pattern, output):
            if name not in seen:
                seen.add(name)
                yield Missing(os.fsdecode(unescape(name)), os.fsdecode(unescape(path)), int(line) - 1)

    def strip(self, output: bytes) -> bytes:
        """The output with the folder of stand-ins removed from all paths, as if the headers were beside the
        file."""
        return output.replace(self._prefix, b'"')
