"""The invariants of analysis/ARCHITECTURE.md have numbers, and code and tests cite them by these.

The class: an invariant that no code mentions, and a citation of an invariant that does not exist.
"""

from __future__ import annotations

import re

from tests.docs.texts import ROOT, texts

_PAGE = "analysis/ARCHITECTURE.md"
_CITED = re.compile(r"\binvariants?\s+(I\d+(?:(?:,|\s+and|,\s+and)\s+I\d+)*)")


def _stated() -> list[str]:
    part = (ROOT / _PAGE).read_text("utf-8").partition("## Invariants\n")[2].partition("\n## ")[0]
    return re.findall(r"^- \*\*(I\d+)\*\* ", part, re.MULTILINE)


def _cited() -> dict[str, list[str]]:
    """The places that cite each invariant, in code and tests; pages do not count."""
    places: dict[str, list[str]] = {}
    for text in texts():
        for group in _CITED.findall(text.text):
            for number in re.findall(r"I\d+", group):
                places.setdefault(number, []).append(f"{text.path}:{text.line}")
    return places


def test_invariants_are_numbered_without_gaps() -> None:
    stated = _stated()
    assert stated == [f"I{number}" for number in range(1, len(stated) + 1)]
    assert stated


def test_each_citation_names_an_invariant() -> None:
    stated = set(_stated())
    assert {number: places for number, places in _cited().items() if number not in stated} == {}


def test_each_invariant_is_cited_by_code_or_tests() -> None:
    cited = {number for number, places in _cited().items() if any(not place.split(":")[0].endswith(".md") for place in places)}
    assert [number for number in _stated() if number not in cited] == []
