"""What pages, docstrings and comments refer to is there: files, and papers by their keys in docs/bibliography.md.

The class: a reader follows a reference and finds nothing.
"""

from __future__ import annotations

import os
import re

from tests.docs.texts import ROOT, Text, pages, texts, tracked

_PAGE = re.compile(r"(?<![\w*/.{}-])((?:\.\.?/)*[\w./-]*\w\.md)\b")
_PATH = re.compile(
    r"`((?:analysis|server|benchmarks|demo|docs|fixtures|tests|vscode-extension|cfa|cpa|engines|frontend|session|smt|rules)"
    r"/[\w./-]*\w/?)`"
)
_LINK = re.compile(r"\]\(([^)\s#:]+)(?:#[^)]*)?\)")
_KEY = re.compile(r"(?<![\w\])\"'}|])\[([A-Z][A-Z0-9-]{2,})\](?!\()")
_VENUE = re.compile(r"\b(?:ASE|ATVA|CAV|FASE|FMCAD|FSE|ICSE|ISSTA|OOPSLA|PLDI|POPL|SAS|SOSP|SPIN|TACAS|TOPLAS|VMCAI) \d{4}\b")
_BUILT = ("ORION", "IPA", "DIFFDP", "UPPROVER", "SYMCEGAR")
_BARE = re.compile(
    rf"(?<!\[)\b(?:{'|'.join(_BUILT)})(?:'s)?,?\s+(?:sections? \d|Fig|Algorithms? \d|Definitions? \d|Theorems? \d)"
)
_BIBLIOGRAPHY = "docs/bibliography.md"


def _cited(text: Text) -> list[str]:
    """The keys that a text cites; in code spans brackets mean something else."""
    return _KEY.findall(re.sub(r"`[^`]*`", "", text.text))


def _exists(name: str, beside: str) -> bool:
    """Whether a name means a file: from the root, beside the text that names it, or the end of a path in the repository."""
    if (ROOT / name).exists() or (ROOT / os.path.dirname(beside) / name).exists():
        return True
    return not name.startswith(".") and any(path.endswith("/" + name) for path in tracked())


def _missing(text: Text) -> list[str]:
    return [name for name in _PAGE.findall(re.sub(r"https?://\S+", "", text.text)) if not _exists(name, text.path)]


def _keys() -> set[str]:
    page = (ROOT / _BIBLIOGRAPHY).read_text("utf-8")
    return set(re.findall(r"^- \*\*\[([A-Z0-9-]+)\]\*\*", page, re.MULTILINE))


def test_pages_that_are_named_exist() -> None:
    assert [(text.path, text.line, name) for text in texts() for name in _missing(text)] == []


def _paths_that_are_gone(text: Text) -> list[str]:
    """The paths of files in code spans that lead nowhere, from the root, from `analysis`, or beside the text."""
    return [
        name
        for name in _PATH.findall(text.text)
        if not any(part in ("NAME", "NAME.yaml", ".cache") for part in name.split("/"))
        and not any((ROOT / start / name).exists() for start in ("", "analysis", os.path.dirname(text.path)))
    ]


def test_files_that_are_named_with_their_folders_exist() -> None:
    assert [(text.path, text.line, name) for text in texts() for name in _paths_that_are_gone(text)] == []


def test_a_file_that_is_gone_is_noticed() -> None:
    text = Text("docs/guide.md", 1, "See `tests/docs/none.py`, `tests/docs/texts.py`, `cfa/graph.py` and `fixtures/nowhere`.")
    assert _paths_that_are_gone(text) == ["tests/docs/none.py", "fixtures/nowhere"]


def test_links_of_pages_lead_to_files() -> None:
    broken = [
        (page.path, target)
        for page in pages()
        for target in _LINK.findall(page.text)
        if not (ROOT / os.path.dirname(page.path) / target).exists()
    ]
    assert broken == []


def test_a_page_that_is_missing_is_noticed() -> None:
    text = Text("docs/guide.md", 1, "See `PLAN.md`, [that](../notes/none.md) and <https://example.org/README.md>.")
    assert _missing(text) == ["PLAN.md", "../notes/none.md"]
    assert _missing(Text("docs/guide.md", 1, "`CONTRIBUTING.md`, docs/limits.md, ../README.md, limits.md")) == []


def test_papers_are_cited_by_keys_of_the_bibliography() -> None:
    keys = _keys()
    assert set(_BUILT) <= keys
    unknown = [(text.path, text.line, key) for text in texts() for key in _cited(text) if key not in keys]
    assert unknown == []


def test_each_paper_of_the_bibliography_is_cited() -> None:
    cited = {key for text in texts() if text.path != _BIBLIOGRAPHY for key in _cited(text)}
    assert _keys() - cited == set()


def test_no_paper_is_cited_without_its_key() -> None:
    bare = [
        (text.path, text.line, found[0])
        for text in texts()
        if text.path != _BIBLIOGRAPHY
        for found in (_VENUE.search(text.text), _BARE.search(text.text))
        if found
    ]
    assert bare == []
