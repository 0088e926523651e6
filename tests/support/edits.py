"""Chains of versions of a program, `fixtures/edits/NAME/0.c, 1.c, ...`, and what they say about themselves in comments.

Findings are marked as in `fixtures/programs` (see `markers`). In the first lines of a version after the first:

- `// work: functions f g`: these are lowered again, and no other;
- `// configurations: 0` or `// configurations: <= 8`: at most so many configurations are computed, by IncrBack if it is not 0.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from support.markers import Expected, read_markers

EDITS = Path(__file__).parent.parent.parent / "fixtures" / "edits"
_HEAD = 3
_WORK = re.compile(r"^// work: functions(?P<names>(?: \w+)*)$")
_CONFIGURATIONS = re.compile(r"^// configurations: (?P<most>0|<= \d+)$")


class Step(NamedTuple):
    """A version: its text, its findings, the functions that are lowered for it, and how many configurations at most."""

    path: Path
    text: str
    expected: Expected
    lowered: tuple[str, ...] | None
    configurations: int | None


def read_chain(folder: Path) -> tuple[Step, ...]:
    """The versions of a chain; raises ValueError on a comment that is not understood."""
    paths = sorted(folder.glob("*.c"), key=lambda path: int(path.stem))
    if [path.stem for path in paths] != [str(number) for number in range(len(paths))]:
        raise ValueError(f"{folder}: versions are numbered from 0 on")
    return tuple(map(_read, paths))


def _read(path: Path) -> Step:
    text = path.read_text("utf-8")
    lowered: tuple[str, ...] | None = None
    configurations: int | None = None
    for line in text.splitlines()[:_HEAD]:
        if match := _WORK.match(line):
            lowered = tuple(sorted(match["names"].split()))
        elif match := _CONFIGURATIONS.match(line):
            configurations = int(match["most"].removeprefix("<= "))
        elif line.startswith(("// work", "// configurations")):
            raise ValueError(f"{path}: this line is not understood: {line}")
    return Step(path, text, read_markers(path), lowered, configurations)
