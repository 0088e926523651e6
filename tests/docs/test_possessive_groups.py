"""No regular expression repeats a group possessively, except where that is right in each Python that the project supports.

Up to Python 3.11.4 (Debian 12 has 3.11.2), `(?:ab?c)*+` also takes the part of the group that it could match last: of `aca`, all
three characters (CPython issue 106052). Atomic groups are right: `(?>(?:ab?c)*)`. A body whose alternatives are one set, or a
backslash and any character, is right as well, and takes no memory for each turn; literals of several megabytes need that.
"""

from __future__ import annotations

import re
from pathlib import Path

PROJECT = Path(__file__).parents[2]
GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{\{?[0-9,]+\}?\})\+")
LITERAL = re.compile(r"""\(\?:\[\^[^\]]*\]\+\+\|\\\\(?:\.|\[\\s\\S\])\)\*\+\Z""")


def repeated_possessively(text: str) -> list[str]:
    """The ends of groups that are repeated so, each with what is before it, but for those that are right."""
    found = [text[max(0, match.start() - 60) : match.end()] for match in GROUP.finditer(text)]
    return [group for group in found if not LITERAL.search(group)]


def test_groups_that_are_repeated_possessively_are_found() -> None:
    assert repeated_possessively(r'rb"(?:ab?c)*+"') == [r'rb"(?:ab?c)*+']
    assert repeated_possessively(r'rb"\((?P<a>x)?+"') != []
    assert repeated_possessively(r"""rb"'(?:[^'\\\n]++|\\.)*+'" + rb"[a-z]++\)?+" + rb"(?>(?:ab?c)*)" """) == []


def test_no_module_has_one() -> None:
    found_there = (path for folder in ("analysis", "server", "demo", "benchmarks") for path in (PROJECT / folder).rglob("*.py"))
    modules = [path for path in found_there if ".cache" not in path.parts]  # programs that benchmarks have fetched
    found = {str(path): groups for path in modules if (groups := repeated_possessively(path.read_text(encoding="utf-8")))}
    assert len(modules) > 500
    assert found == {}
