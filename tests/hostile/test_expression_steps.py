"""No regular expression takes time that grows faster than the text.

The class: a text from a folder in which words are repeated, so that an expression reads the rest of the text again from each of
them, or tries each of many ways to divide it. Each expression of the program is run on words made of its own parts, and its
steps are counted (`expression_steps`), for a text and for longer ones.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from tests.hostile.expression_steps import Matcher, TooManyStepsError, sample

_ROOT = Path(__file__).resolve().parents[2]
_EVERYWHERE = frozenset(("finditer", "search", "sub", "findall", "split"))
_METHOD = re.compile(r"\b([A-Za-z_]\w*)\.(fullmatch|match|finditer|search|sub|findall|split)\b")
_ENDS = ("", " ", "a", "_", "0", '\\"', "(", ";")  # what can be repeated behind the beginning of a word
_LENGTHS = (50, 200, 800, 3200)
_RESTS = ("_TO_CLOSING", "_REST", "_LABEL_REST", "_CASE_REST", "_GOTO_REST", "_NUMBER_REST")
_BEHIND_A_HEAD = frozenset(_RESTS)  # tried once behind each
_MOST = 8.0  # times the steps for four times the text; a square takes 16 times as many
_ALLOWED = 200_000


class Used(NamedTuple):
    """An expression, its name, and how it is used: `everywhere`, `once`, `whole` (methods of `Matcher`)."""

    name: str
    pattern: re.Pattern[Any]
    uses: tuple[str, ...]


def _in(value: object) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple | list):
        for one in value:
            yield from _in(one)
    elif isinstance(value, dict):
        for one in value.values():
            yield from _in(one)


def _methods(path: Path) -> dict[str, set[str]]:
    """Which methods are called of which names in a file, and in its comments."""
    found: dict[str, set[str]] = {}
    for name, method in _METHOD.findall(path.read_text("utf-8")):
        found.setdefault(name, set()).add(method)
    return found


def _uses(methods: set[str]) -> tuple[str, ...]:
    found = {"whole"} if "fullmatch" in methods else set()
    if "match" in methods:
        found.add("once")
    if not found or methods & _EVERYWHERE:
        found |= {"everywhere"}
    return tuple(sorted(found))


def _expressions() -> Iterator[Used]:
    seen: set[int] = set()
    for folder in ("analysis", "server"):
        paths = [path for path in sorted((_ROOT / folder).rglob("*.py")) if path.name != "__main__.py"]
        by_path = {path: _methods(path) for path in paths}
        methods: dict[str, set[str]] = {}
        for one in by_path.values():
            for of, names in one.items():
                methods.setdefault(of, set()).update(names)
        for path, here in by_path.items():
            name = ".".join(path.relative_to(_ROOT).with_suffix("").parts).removesuffix(".__init__")
            for variable, value in vars(importlib.import_module(name)).items():
                for pattern in _in(value):
                    if id(pattern) not in seen:
                        seen.add(id(pattern))
                        called = (
                            {"match"}
                            if variable in _BEHIND_A_HEAD
                            else (here if variable.startswith("_") else methods).get(variable, set())
                        )
                        yield Used(f"{name}.{variable}", pattern, _uses(called))


def _texts(pattern: re.Pattern[Any]) -> Iterator[tuple[str, str, str]]:
    """What comes before, what is repeated, and what comes after."""
    random = Random(7)
    for _ in range(2):
        whole = sample(pattern, random)
        for cut in sorted({1, random.randrange(len(whole) + 1), len(whole) - 1, len(whole)} & set(range(len(whole) + 1))):
            for end in _ENDS:
                yield "", whole[:cut] + end, random.choice(["", whole[cut:]])
                yield whole[:cut], end or whole[cut:], "!"


def _steps(used: Used, way: str, text: tuple[str, str, str], length: int) -> int:
    before, word, after = text
    matcher = Matcher(used.pattern, _ALLOWED)
    try:
        getattr(matcher, way)(before + word * max(2, length // len(word)) + after)
    except TooManyStepsError:
        return _ALLOWED
    return matcher.steps


def _grows(used: Used, way: str, text: tuple[str, str, str]) -> bool:
    """Whether the steps grow faster than the text, however long it is."""
    last = _steps(used, way, text, _LENGTHS[0])
    for length in _LENGTHS[1:]:
        steps = _steps(used, way, text, length)
        if steps < _ALLOWED and steps < _MOST * max(last, length):
            return False
        last = steps
    return True


def _worst(used: Used) -> list[tuple[str, tuple[str, str, str]]]:
    return [(way, text) for text in set(_texts(used.pattern)) if text[1] for way in used.uses if _grows(used, way, text)][:3]


EXPRESSIONS = list(_expressions())


def test_how_many() -> None:
    assert len(EXPRESSIONS) >= 100


@pytest.mark.parametrize("used", EXPRESSIONS, ids=lambda used: used.name)
def test_steps_grow_with_the_text(used: Used) -> None:
    assert _worst(used) == []


@pytest.mark.parametrize(
    "expression",
    [
        rb";(\s*;)+(?=\s*\})",
        rb"goto(\s*\*\s*[^\s;{}][^;{}]*);",
        rb"case\b([^:;{}'.?]*?)\.\.\.",
        rb"label__\b[^;]*+;",
        rb'"(?:[^"\\]|\\.)*"',
        rb"\(\s*(?:(push|pop)\s*)?(?:,?\s*([A-Za-z_]\w*)\s*)?(?:,?\s*(\d+)\s*)?\)",
        rb"mode\(\s*_*(\w+?)_*\s*\)",
    ],
)
def test_squares_are_found(expression: bytes) -> None:
    """Expressions that were in the program."""
    assert _worst(Used("", re.compile(expression), ("everywhere",)))


@pytest.mark.parametrize("used", EXPRESSIONS, ids=lambda used: used.name)
def test_the_matcher_finds_what_the_standard_module_finds(used: Used) -> None:
    random = Random(1)
    for _ in range(3):
        word, other = sample(used.pattern, random), sample(used.pattern, random)
        text = word + random.choice(_ENDS) + other[: random.randrange(len(other) + 1)] + "\n" + other
        given = text.encode("latin-1") if isinstance(used.pattern.pattern, bytes) else text
        assert Matcher(used.pattern, 10_000_000).everywhere(text) == [found.span() for found in used.pattern.finditer(given)]
