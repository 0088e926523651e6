"""The example at the top of README.md is what `everproof check` says of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from analysis.cli.main import main

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")


def test_the_example_is_what_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    program, said = re.findall(r"```(?:c|)\n(.*?)```\n", README, re.DOTALL)[:2]
    command, rest = said.split("\n", 1)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "list.c").write_text(program, encoding="utf-8")
    assert command.startswith("$ everproof ")
    assert main([*command.removeprefix("$ everproof ").split(), "--store", "none"]) == 1
    shown, dots = rest[:-4], rest[-4:]
    assert dots == "...\n"
    assert capsys.readouterr().out.startswith(shown)
