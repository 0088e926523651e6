"""Edits after which a function violates a rule that it was proved of, or could have been: what a proof, a contract or an
invariant rests on is far from it, two calls down, in a header, in an initialiser, in a contract of the project.

They are in `fixtures/breaking/edits.txt`. A line `##### NAME | FUNCTION | RULE` begins one; `<<this||that>>` is what is there
before and after the edit, and `=== NAME` begins a file; the first one is `a.c`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

_FILE = Path(__file__).parents[2] / "fixtures" / "breaking" / "edits.txt"


class Break(NamedTuple):
    """One edit, the function that violates the rule after it, and the rule."""

    name: str
    function: str
    rule: str
    text: str

    def files(self, *, after: bool) -> dict[str, str]:
        """The texts of the files, by name."""
        chosen = re.sub(r"<<(.*?)\|\|(.*?)>>", lambda found: found[2 if after else 1], self.text, flags=re.DOTALL)
        parts = re.split(r"^=== (.*)\n", chosen, flags=re.MULTILINE)
        return {"a.c": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def _breaks() -> tuple[Break, ...]:
    parts = re.split(r"^##### (.*) \| (.*) \| (.*)\n", _FILE.read_text(), flags=re.MULTILINE)
    return tuple(Break(*parts[at : at + 4]) for at in range(1, len(parts), 4))


BREAKS = _breaks()
"""The edits."""
