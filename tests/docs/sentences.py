"""Draws sentences at random from pages, docstrings and messages, to be read by a person: are they
plain English?

    python -m tests.docs.sentences [--seed 1] [--count 100] [--under analysis/session]

A sentence that has to be read twice is rewritten, and so are others of its kind; `read_sentences.txt` beside this file lists
them. The same seed draws the same sentences from the same texts. Records of measurements are left out. Messages are
the string literals of `analysis` and `server` that have at least four words.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Iterator
from random import Random

from tests.docs.texts import ROOT, Text, docstrings, pages, tracked

_END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`\"(])")
_LEAST = 4  # words of a sentence
_RECORDS = "benchmarks/results/"  # of measurements, kept as they were written


def messages(path: str) -> Iterator[Text]:
    """The string literals of a Python file that read like a sentence; `{...}` stands for a value that is put in."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    left_out = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr | ast.JoinedStr):
            left_out |= {id(part) for part in ast.walk(node) if part is not node and isinstance(part, ast.Constant)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in left_out:
            text = node.value
        elif isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{...}" for part in node.values)
        else:
            continue
        if re.match(r"[A-Za-z{]", text) and len(re.findall(r"[A-Za-z]{2,}\b(?![(:\[])", text)) >= _LEAST:
            yield Text(path, node.lineno, text)


def _paragraphs(text: str) -> Iterator[str]:
    """The paragraphs, list items and table cells of a text, without code and pictures drawn with characters."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    text = re.sub(r"^\s*(?:[-*]|\d+\.)\s+", "\n", text, flags=re.MULTILINE)
    text = re.sub(r"^#+ .*$", "\n", text, flags=re.MULTILINE)
    for paragraph in re.split(r"\n\s*\n", text):
        if not re.search(r"──|->|\$ |\S {3,}\S", paragraph):
            yield from re.split(r"\s*\|\s*", paragraph) if paragraph.startswith("|") else [paragraph]


def sentences(under: str = "") -> list[Text]:
    """All sentences below a folder, in a fixed order."""
    found = [page for page in pages() if not page.path.startswith(_RECORDS)]
    for path in tracked():
        if path.endswith(".py"):
            found += docstrings(path)
            if path.startswith(("analysis/", "server/")):
                found += messages(path)
    return [
        Text(text.path, text.line, " ".join(sentence.split()))
        for text in found
        if text.path.startswith(under)
        for paragraph in _paragraphs(text.text)
        for sentence in _END.split(paragraph)
        if len(sentence.split()) >= _LEAST
    ]


def main() -> None:
    """Prints the sentences that are drawn."""
    parser = argparse.ArgumentParser(prog="python -m tests.docs.sentences")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--under", default="", metavar="FOLDER")
    asked = parser.parse_args()
    found = sentences(asked.under)
    for text in Random(asked.seed).sample(found, min(asked.count, len(found))):
        print(f"{text.path}:{text.line}: {text.text}")


if __name__ == "__main__":
    main()
