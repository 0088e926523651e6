"""The index of packages in analysis/ARCHITECTURE.md is what the tree holds, and modules that texts name exist.

The class: files were moved, and the page or a docstring still names their old places.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import PurePosixPath

import pytest

from tests.docs.texts import ROOT, Text, texts, tracked

_PAGE = "analysis/ARCHITECTURE.md"
_MOST_WORDS = 2000  # ten minutes of reading
_ROW = re.compile(r"^\| `([\w.]+)` \| (.*) \|$", re.MULTILINE)
_QUOTED = re.compile(r"`([a-z_]\w*(?:\.\w+)+)(?:\(\))?`")
_FILES = frozenset(("csv", "json", "md", "mjs", "py", "toml", "ts", "yaml", "yml"))
_PLACEHOLDERS = frozenset(("analysis.NAME",))


@cache
def _modules() -> dict[str, str]:
    """The Python modules and packages of the repository by dotted name, with their paths."""
    found = {}
    for path in tracked():
        if path.endswith(".py"):
            parts = PurePosixPath(path).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def _by_ending() -> dict[str, list[str]]:
    """The modules by each ending of their dotted names: texts leave out `analysis`, or name a module beside them."""
    found: dict[str, list[str]] = {}
    for name, path in _modules().items():
        parts = name.split(".")
        for start in range(len(parts)):
            found.setdefault(".".join(parts[start:]), []).append(path)
    return found


@cache
def _names(path: str) -> frozenset[str]:
    """The names that a module defines or imports, and those of the attributes in it."""
    found = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
    return frozenset(found)


def _is_there(name: str) -> bool:
    """Whether a dotted name means a module, or what is in one: a function, a class, a member."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        for path in _by_ending().get(".".join(parts[:length]), ()):
            if all(part in _names(path) for part in parts[length:]):
                return True
    return False


def _looks_ours(name: str) -> bool:
    parts = name.split(".")
    return parts[0] in _by_ending() and parts[-1] not in _FILES and name not in _PLACEHOLDERS


def _missing(text: Text) -> list[str]:
    return [name for name in _QUOTED.findall(text.text) if _looks_ours(name) and not _is_there(name)]


def _first_paragraph(path: str) -> str:
    docstring = ast.get_docstring(ast.parse((ROOT / path).read_text("utf-8"))) or ""
    return " ".join(docstring.partition("\n\n")[0].split())


def test_the_index_has_each_package_with_the_first_paragraph_of_its_docstring() -> None:
    part = (ROOT / _PAGE).read_text("utf-8").partition("\n## Packages\n")[2].partition("\n## ")[0]
    packages = {
        name: _first_paragraph(path)
        for name, path in _modules().items()
        if path.startswith(("analysis/", "server/")) and path.endswith("/__init__.py")
    }
    rows = _ROW.findall(part)
    assert dict(rows) == packages
    assert [name for name, _ in rows] == sorted(packages)


def test_the_page_takes_ten_minutes() -> None:
    assert len((ROOT / _PAGE).read_text("utf-8").split()) <= _MOST_WORDS


def test_modules_that_texts_name_exist() -> None:
    assert [(text.path, text.line, name) for text in texts() for name in _missing(text)] == []


@pytest.mark.parametrize("name", ["frontend.text.no_such", "delta.NoSuch", "analysis.nowhere", "cfa.graph.Cfa.nothing"])
def test_a_module_that_is_gone_is_noticed(name: str) -> None:
    assert _missing(Text("docs/guide.md", 1, f"See `{name}`.")) == [name]


@pytest.mark.parametrize(
    "name",
    ["frontend.text.line_edit", "cfa.graph.Program", "model.options.Options.limits", "store.database", "p.next", "mutants.toml"],
)
def test_what_is_there_or_is_not_ours(name: str) -> None:
    assert _missing(Text("docs/guide.md", 1, f"See `{name}`.")) == []
