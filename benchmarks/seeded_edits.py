"""Small edits of the text of a C file, drawn with a seed: a constant is another one, a comparison is another one, or a statement
is made twice. Each is made in the text as it was."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from random import Random

_NUMBER = re.compile(r"(?<![\w.\"'])\d{1,6}(?![\w.\"'])")
_COMPARISON = re.compile(r"(?<=[\w\])] )(?:<=|>=|<|>|==|!=)(?= [\w(-])")
_STATEMENT = re.compile(r"^[ \t]+\w+ (?:[-+*]?=) [^;{}]*;$", re.MULTILINE)
_OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": ">=", "!=": "<"}


def seeded_edits(text: str, count: int, seed: int) -> Iterator[str]:
    """Yields texts that differ from the given one in one place each, behind the first brace: mostly inside of functions. There
    are fewer than `count` if there are not so many places."""
    begin = text.find("{")
    places: list[tuple[re.Match[str], Callable[[str, Random], str]]]
    places = [(match, _number) for match in _NUMBER.finditer(text, max(begin, 0))]
    places += [(match, _comparison) for match in _COMPARISON.finditer(text, max(begin, 0))]
    places += [(match, _again) for match in _STATEMENT.finditer(text, max(begin, 0))]
    random = Random(seed)
    for match, make in random.sample(places, min(count, len(places))):
        yield text[: match.start()] + make(match.group(), random) + text[match.end() :]


def _number(written: str, random: Random) -> str:
    return str(int(written) + random.choice((1, 2, 5)))


def _comparison(written: str, _random: Random) -> str:
    return _OTHER[written]


def _again(written: str, _random: Random) -> str:
    return f"{written}\n{written}"
