"""`benchmarks.explanations` runs the command, and counts what that prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.explanations import main


def test_the_table_has_what_the_command_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "null"
    folder.mkdir()
    (folder / "a.c").write_text("int f(int n)\n{\n    int *p = 0;\n    if (n)\n        n = 2;\n    return *p;\n}\n")
    assert main([str(folder)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "| null | 1 | 4, 4 | 3, 3 | 4, 4 | 3, 3 |"
