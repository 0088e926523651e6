"""Edits of the bodies of functions of a generated program, and the way back: for `benchmarks.growth`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

import msgspec

from benchmarks.generated import Text

_STATEMENT = re.compile(r"^( +)total_\d+ \+= total;$")
KINDS = ("a statement", "a branch", "a call", "a defect", "an early return")


class BodyEdit(msgspec.Struct, frozen=True):
    """A text that a file gets, which differs in the body of one function from what the file was."""

    kind: str
    function: str
    file: Text
    text: str


def body_edits(files: Sequence[Text], count: int, seed: int) -> list[BodyEdit]:
    """Edits of functions drawn at random, of all kinds in turn. Each is made in the program as it was generated."""
    random = Random(f"{seed} edits")
    places = [(file, name) for file in files for name in file.functions]
    return [_edit(KINDS[number % len(KINDS)], *random.choice(places), random) for number in range(count)]


def _edit(kind: str, file: Text, function: str, random: Random) -> BodyEdit:
    """Inserts lines at the end of a function, before it returns."""
    first, last = file.functions[function]
    at = max(number for number in range(first, last) if _STATEMENT.match(file.lines[number]))
    number = random.randrange(2, 90)
    typed = {
        "a statement": [f"    total = total * {number} + i;"],
        "a branch": [f"    if (total > {number}) {{", "        total -= i;", "    }"],
        "a call": [_another_call(file.lines[first:last]) or f'    printf("{number}\\n");'],
        "a defect": ["    {", "        char *edited = malloc(8);", "        edited[0] = 0;", "    }"],
        "an early return": [f"    if (i == {number})", _return(file.lines[last - 2])],
    }[kind]
    lines = [*file.lines[:at], *typed, *file.lines[at:]]
    return BodyEdit(kind, function, file, "\n".join(lines) + "\n")


def _another_call(lines: Sequence[str]) -> str:
    """A call that the function makes already, at the outermost level."""
    return next((line for line in lines if re.match(r"^    total \+= (use|plain)_\d+\(.*\);$", line)), "")


def _return(line: str) -> str:
    """The last statement of the function, if it is one that returns."""
    return f"    {line}" if line.startswith("    return") else "        return;"
