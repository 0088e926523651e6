"""What tests of `everproof diff` share: versions of a program, and what the command says of them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from analysis.cli.main import main

NULL = "static int get(int *p)\n{\n    return *p;\n}\n"
OLD = NULL + "int one(void)\n{\n    int *a = 0;\n    return get(a);\n}\nint main(void)\n{\n    return one();\n}\n"
FIXED = OLD.replace("int *a = 0;", "int n = 1, *a = &n;")
TWO = OLD.replace("int main(void)\n{\n", "int main(void)\n{\n    int *b = 0;\n    *b = 1;\n")


def put(name: str, text: str) -> str:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text)
    return name


def git(*words: str) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True, capture_output=True)


def commit() -> None:
    git("add", "-A")
    git("commit", "-q", "-m", "a")


def as_json(capsys: pytest.CaptureFixture[str], *words: str, code: int) -> dict[str, Any]:
    assert main(["diff", "--engine", "automaton", "--format", "json", *words]) == code
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def numbers(document: dict[str, Any]) -> tuple[int, int, int]:
    """How many findings are introduced, fixed, and in both versions."""
    introduced, fixed, unchanged = (len(document[key]) for key in ("introduced", "fixed", "unchanged"))
    return introduced, fixed, unchanged


def differing(document: dict[str, Any]) -> set[str]:
    return {function["name"] for function in document["functions"] if function["difference"] != "none"}
