"""What the C programs in `fixtures/programs` say about themselves, in comments.

`// finding: RULE[, RULE]` at the end of a line: a finding of each of these rules is reported there, and nothing else is
anywhere in the file. In the first lines: `// options: --entry f --data-model ILP32`; `// wanted later: why` says that a
program without defect is still reported, because telling needs more than automata (the markers say what should be).
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from pathlib import Path
from typing import NamedTuple

_FINDING = re.compile(r"//\s*finding:\s*(?P<rules>[\w-]+(?:\s*,\s*[\w-]+)*)\s*$")
_OPTIONS = re.compile(r"^//\s*options:\s*(?P<words>.*)$")
_LATER = re.compile(r"^//\s*wanted later:\s*(?P<why>.*\S)\s*$")
_KNOWN_OPTIONS = ("--entry", "--data-model", "--rule")
_HEAD = 3  # lines in which comments about the whole file are looked for


class Expected(NamedTuple):
    """What a program says of itself. `findings` are pairs of line and rule, with how often; `later` is why it fails as yet."""

    findings: Counter[tuple[int, str]]
    options: dict[str, tuple[str, ...]]
    later: str | None


def read_markers(path: Path) -> Expected:
    """The markers of a program; raises ValueError on a marker that is not understood."""
    findings: Counter[tuple[int, str]] = Counter()
    options: dict[str, tuple[str, ...]] = {}
    later: str | None = None
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if "finding:" in line:
            match = _FINDING.search(line)
            if match is None:
                raise ValueError(f"{path}:{number}: this marker is not understood: {line.strip()}")
            findings.update((number, rule.strip()) for rule in match.group("rules").split(","))
        if number <= _HEAD and (match := _OPTIONS.match(line)):
            options = _read_options(f"{path}:{number}", shlex.split(match.group("words")))
        if number <= _HEAD and (match := _LATER.match(line)):
            later = match.group("why")
    return Expected(findings, options, later)


def _read_options(where: str, words: list[str]) -> dict[str, tuple[str, ...]]:
    options: dict[str, tuple[str, ...]] = {}
    for name, value in zip(words[::2], words[1::2], strict=True):
        if name not in _KNOWN_OPTIONS:
            raise ValueError(f"{where}: there is no option {name} for programs")
        options[name] = (*options.get(name, ()), value)
    return options


def difference(path: Path, expected: Counter[tuple[int, str]], found: Counter[tuple[int, str]]) -> str:
    """A readable account of what differs, a line each with the source line; empty when nothing does."""
    lines = path.read_text("utf-8").splitlines()
    missing = [("missing", key) for key in sorted((expected - found).elements())]
    spurious = [("not wanted", key) for key in sorted((found - expected).elements())]
    return "\n".join(
        f"{path.name}:{line}: {what}: {rule}    | {lines[line - 1].strip() if 0 < line <= len(lines) else ''}"
        for what, (line, rule) in sorted(missing + spurious, key=lambda item: item[1])
    )
