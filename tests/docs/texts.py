"""The texts that people read in this repository: Markdown pages, and the docstrings and comments of the code."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]

_CODE = (".py", ".ts", ".mjs", ".sh", ".toml", ".lua", ".el")
_STRING_OR_COMMENT = re.compile(
    r"""\"{3}(?:[^\\"]|\\.|"(?!""))*\"{3}|'{3}(?:[^\\']|\\.|'(?!''))*'{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|(\#[^\n]*)""",
    re.DOTALL,
)
"""A string of Python, or a comment: found much faster than by its tokens."""
_LEFT_OUT = ("fixtures/", "requirements.lock")


class Text(NamedTuple):
    """A page, a docstring or a comment. `path` is relative to the repository; `line` is that of its first line."""

    path: str
    line: int
    text: str


@cache
def tracked() -> tuple[str, ...]:
    """The files of the repository, by their paths. New files that git does not ignore count as well."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return tuple(path for path in sorted(set(listed.stdout.splitlines())) if (ROOT / path).is_file())


def pages() -> list[Text]:
    """The Markdown pages."""
    return [Text(path, 1, (ROOT / path).read_text("utf-8")) for path in tracked() if path.endswith(".md")]


def docstrings(path: str) -> Iterator[Text]:
    """The docstrings of a Python file."""
    for node in ast.walk(ast.parse((ROOT / path).read_text("utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield Text(path, node.body[0].lineno, text)


def comments(path: str) -> Iterator[Text]:
    """The comments of a file: of Python by its tokens, else what follows `//`, `#` or `;;` at the end of a line."""
    text = (ROOT / path).read_text("utf-8")
    if path.endswith(".py"):
        for found in _STRING_OR_COMMENT.finditer(text):
            if found[1]:
                yield Text(path, text.count("\n", 0, found.start()) + 1, found[1])
        return
    for number, line in enumerate(text.splitlines(), 1):
        found = re.search(r"(?:^|\s)(?://|#|;;|--)\s.*", line)
        if found:
            yield Text(path, number, found[0].strip())


@cache
def texts() -> tuple[Text, ...]:
    """All of them, file by file."""
    found = pages()
    for path in tracked():
        if path.endswith(_CODE) and not path.startswith(_LEFT_OUT):
            found += comments(path)
            if path.endswith(".py"):
                found += docstrings(path)
    return tuple(found)
