"""Many programs in one command: each has its report, and one that fails does not end the others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.cli import batch
from analysis.cli.main import main

_BAD = "int main(void)\n{\n    int *p = 0;\n    return *p;\n}\n"
_GOOD = "int main(void)\n{\n    return 0;\n}\n"


def test_each_has_a_row_and_what_is_done_is_not_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("bad", "empty"):
        Path(name).mkdir()
    Path("bad", "main.c").write_text(_BAD)
    command = ["batch", "bad", "empty", "--into", "reports", "--engine", "automaton", "--at-once", "2"]
    assert main(command) == 2
    first = capsys.readouterr().out.splitlines()
    assert first[2].startswith("| bad | 1 | 1 | 0 | 1 | 0 | 0 |")
    assert "C file" in first[3]
    assert first[4].startswith("| all 2 | 1 | 1 | 0 | 1 | 0 | 0 |")
    assert first[4].endswith("| 1 failed |")
    (finding,) = json.loads(Path("reports", "bad.json").read_text())["findings"]
    assert finding["rule"] == "null-dereference"

    Path("empty", "main.c").write_text(_GOOD)
    kept = Path("reports", "bad.json").stat().st_mtime_ns
    assert main(command) == 1
    again = capsys.readouterr().out.splitlines()
    assert again[2] == first[2]
    assert again[3].startswith("| empty | 1 | 1 |")
    assert Path("reports", "bad.json").stat().st_mtime_ns == kept


def test_what_cannot_be_a_batch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.c"
    file.write_text(_GOOD)
    assert main(["batch", str(file), str(file), "--into", str(tmp_path / "reports")]) == 2
    assert "have the name" in capsys.readouterr().err
    assert main(["batch", str(file), "--into", str(file)]) == 2
    assert "cannot be made" in capsys.readouterr().err
    assert main(["batch", str(tmp_path / "missing"), "--into", str(tmp_path)]) == 2
    assert "There is no file or folder" in capsys.readouterr().err


def test_no_name_breaks_the_table_or_ends_the_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The name of a folder is a text that others chose, and so is what lies in it."""
    monkeypatch.chdir(tmp_path)
    names = ["a|b\n# \x1b[31m", "/".join(["d" * 90] * 3)]
    for name in names:
        Path(name).mkdir(parents=True)
        Path(name, "main.c").write_text(_GOOD)
    with Path(names[0], "large.h").open("wb") as file:
        file.truncate(1 << 40)  # without taking any space
    assert main(["batch", *names, "--into", "reports", "--engine", "automaton"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert lines[2].startswith("| a\\|b\\n# \\x1b[31m | 1 | 1 |")
    assert len(list(Path("reports").glob("*.json"))) == 2


def test_a_report_counts_for_the_files_that_may_be_included(tmp_path: Path) -> None:
    """A file may be included whatever its name is; reports do not count, though they may lie among them."""
    file, table, into = tmp_path / "a.c", tmp_path / "table.def", tmp_path / "reports"
    file.write_text(_GOOD)
    into.mkdir()
    for path in (file, tmp_path):
        before = [*batch._contents(path, into)]
        (into / "a.json").write_text("{}")
        assert [*batch._contents(path, into)] == before
        table.write_text(f"/* for {path} */")
        assert [*batch._contents(path, into)] != before
