"""Random edits of the programs of `random_c`: statements added, deleted, changed and put elsewhere, conditions, helpers, initial
values."""

from __future__ import annotations

import re
from random import Random

from tests.support.random_c import program

_HELPERS = (
    ("return n + n;", "return n + n + 1;"),
    ("*where = value;", "if (value) *where = value;"),
    ("*where = value;", "*where = 1; g = value;"),
    ("p.x = x; p.y", "p.x = 1; p.y"),
    ("return 1 + down", "return 2 + down"),
    ("int g = 1;", "int g = 2;"),
)
_SIMPLE = re.compile(r"    +[^{}]*;")
_NUMBER = re.compile(r"\b[0-4]\b")


def revised(text: str, random: Random) -> str:
    """The text after one edit; every run still ends, and does nothing undefined."""
    lines = text.split("\n")
    first = next(at for at, line in enumerate(lines) if line.startswith("int main")) + 2
    simple = [at for at in range(first, len(lines)) if _SIMPLE.fullmatch(lines[at]) and "return" not in lines[at]]
    tests = [at for at in range(first, len(lines)) if lines[at].strip().startswith("if (")]
    choice = random.randrange(6)
    if choice == 0:
        old, new = random.choice(_HELPERS)
        return text.replace(old, new, 1)
    if choice == 1 and tests:
        at = random.choice(tests)
        lines[at] = _NUMBER.sub(lambda _: str(random.randrange(5)), lines[at], count=1)
    elif choice == 2 and simple:
        del lines[random.choice(simple)]
    elif choice == 3 and len(simple) > 1:
        one, other = random.sample(simple, 2)
        lines[one], lines[other] = lines[other], lines[one]
    else:
        others = [line for line in program(random).split("\n") if _SIMPLE.fullmatch(line) and "return" not in line]
        added = [line for line in others if not line.strip().startswith(("int a", "case"))]
        if added:
            lines.insert(random.choice(simple or [first]), random.choice(added))
    return "\n".join(lines)
