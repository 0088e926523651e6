"""How a file differs from what it held at the reference, as a unified diff."""

from __future__ import annotations

import difflib
import os

from analysis.model.options import Options
from analysis.model.settings import NO_REFERENCE
from analysis.worker.reference.following import References
from analysis.worker.reference.reference_texts import text_of, text_on_disk

_MOST_LINES = 4_000
"""Between the first and the last line that differ; to compare more takes seconds."""


def told_difference(
    references: References, program: str, options: Options, path: str, text: str | None
) -> tuple[str, str | None]:
    """What the reference is called, and the difference; None where nothing is compared, or too much differs. `text` is what the
    file holds now, None for what is on the disk."""
    setting = references.setting_of(program, options)
    if setting == NO_REFERENCE:
        return "", None
    name, old = text_of(program, setting, references.first_texts, path)
    now = text if text is not None else text_on_disk(path)
    return name, None if now is None else unified(old, now, os.path.basename(path), name)


def unified(old: str, new: str, file: str, name: str) -> str | None:
    """A unified diff; None if too much differs."""
    before, after = old.splitlines(), new.splitlines()
    same, shorter = 0, min(len(before), len(after))
    while same < shorter and before[same] == after[same]:
        same += 1
    first = max(same - 3, 0)
    if max(len(before), len(after)) - same > _MOST_LINES:
        tail = 0
        while tail < shorter - same and before[-1 - tail] == after[-1 - tail]:
            tail += 1
        if max(len(before), len(after)) - same - tail > _MOST_LINES:
            return None
        kept = max(tail - 3, 0)
        before, after = before[: len(before) - kept], after[: len(after) - kept]
    lines = difflib.unified_diff(before[first:], after[first:], f"{file} ({name})", file, lineterm="")
    return "".join(f"{_counted_from(line, first)}\n" for line in lines)


def _counted_from(line: str, first: int) -> str:
    """A line of a diff of texts that lack the first lines: the heads of its parts count these as well."""
    if first == 0 or not line.startswith("@@ "):
        return line
    ranges = []
    for part in line.split()[1:3]:
        start, _, count = part[1:].partition(",")
        ranges.append(f"{part[0]}{int(start) + first}{',' if count else ''}{count}")
    return f"@@ {' '.join(ranges)} @@"
