"""`everproof replay`: which finding it takes, and what it leaves behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.cli import main

TEXT = """int next(void);
int main(void)
{
    int *p = 0;
    if (next() == 4711)
        return *p;
    return 0;
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVERPROOF_STORE", str(tmp_path / "store"))
    (tmp_path / "a.c").write_text(TEXT)
    return tmp_path


@pytest.mark.nightly  # provers and a compiler take some seconds
def test_a_confirmed_finding_is_reproduced_and_kept(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["check", "a.c", "--format", "json"]) == 1
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert main.main(["replay", finding["fingerprint"][:10], "a.c", "--keep", "kept"]) == 0
    out = capsys.readouterr().out
    assert "\nreproduced: a.c:6:16: runtime error: load of null pointer of type 'int'\n" in out
    assert "case 0: return (long)4711;" in (folder / "kept" / "harness.c").read_text()
    assert main.main(["replay", finding["fingerprint"], "a.c", "--keep", "kept"]) == 2  # it is not empty now
    assert "kept is not empty" in capsys.readouterr().err


def test_only_a_finding_that_is_there_can_be_replayed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.c").write_text("int main(void) { return 0; }\n")
    assert main.main(["replay", "0123", "a.c"]) == 2
    assert "There is no finding 0123" in capsys.readouterr().err
