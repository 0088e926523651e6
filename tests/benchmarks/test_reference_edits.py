"""The edits that are made while findings are compared with a commit, on a small program, and what counts as a mistake."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from benchmarks import reference_edits
from benchmarks.reference_edits import DEFECTS, _called_new, background, main, randomly, repository, scripted

FUNCTION = "int f%d(int n)\n{\n    int r = n;\n    r = r + 1;\n    r = r * 2;\n    return r;\n}\n\n"
OLD = "int old(void)\n{\n    int *p = 0;\n    return *p;\n}\n"


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program of the name `small`, as the benchmark provides its programs."""
    root = tmp_path / "small"
    root.mkdir()
    (root / "queue.c").write_text(OLD + "".join(FUNCTION % number for number in range(4)))
    commands = root / "compile_commands.json"
    commands.write_text(json.dumps([{"directory": str(root), "file": "queue.c", "arguments": ["cc", "-c", "queue.c"]}]))
    monkeypatch.setattr(reference_edits, "CACHE", tmp_path)
    monkeypatch.setattr(reference_edits, "provide", lambda _name: commands)


@pytest.mark.usefixtures("program")
def test_defects_are_new_and_blamed(capsys: pytest.CaptureFixture[str]) -> None:
    with repository("small") as (root, files):
        assert asyncio.run(scripted(root, files, 4, 1)) == []
    assert "| scripted edits | 4 | marked or blamed wrongly | 0 |" in capsys.readouterr().out


@pytest.mark.usefixtures("program")
def test_random_edits_make_nothing_new(capsys: pytest.CaptureFixture[str]) -> None:
    with repository("small") as (root, files):
        assert asyncio.run(randomly(root, files, 6, 2)) == []
    assert "| called new wrongly | 0 |" in capsys.readouterr().out


@pytest.mark.usefixtures("program")
def test_the_background_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    with repository("small") as (root, files):
        background(root, files)
    rows = capsys.readouterr().out.splitlines()
    assert [row.split("|")[2].strip() for row in rows] == [f"{count} findings" for count in (0, 1, 0, 1, 1, 1)]


def test_what_counts_as_a_mistake() -> None:
    def shown(since: str | None, fingerprint: str, message: str = "p is null") -> dict[str, object]:
        return {"message": message, "data": {"since": since, "fingerprint": fingerprint}}

    old: set[str | None] = {"old"}
    fine = [shown("old", "old"), shown("new", "x", "null_here is null"), shown(None, "old")]
    assert not list(_called_new(fine, old, strictly=True, when=""))
    assert list(_called_new([shown("new", "old")], old, strictly=False, when=""))
    assert list(_called_new([shown("new", "x")], old, strictly=True, when=""))
    assert not list(_called_new([shown("new", "x")], old, strictly=False, when=""))
    assert all("_here" in text for text in DEFECTS.values())


def test_a_part_that_there_is_not_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["spead"])
    assert "there is no part spead" in capsys.readouterr().err
