"""What was measured is kept with where it comes from, is not measured twice, and stands in the docs as it was printed."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from benchmarks import evidence
from benchmarks.evidence import Piece, measured, read_pieces
from benchmarks.evidence_pages import with_records, without_generated
from benchmarks.evidence_records import RECORDS, read_record

ROOT = Path(__file__).resolve().parents[2]
MADE_BY_HAND = Path(__file__).with_name("tables_made_by_hand.txt")
_MEASURED = ("benchmarks.md", "papers.md", "how-often-right.md")
_RULER = re.compile(r"^\|[-:|\s]*-[-:|\s]*\|$")


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module that prints a table, and counts how often it was asked."""
    script = tmp_path / "some_table.py"
    script.write_text(
        "import pathlib, sys\n"
        "counted = pathlib.Path(__file__).with_suffix('.count')\n"
        "counted.write_text(counted.read_text() + 'x' if counted.exists() else 'x')\n"
        "print('| a |\\n|---|\\n| 1 |')\n"
        "if sys.argv[1] == 'crash':\n"
        "    raise OSError('no table')\n"
        "sys.exit(int(sys.argv[1]))\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return script


def test_a_piece_is_measured_once_for_the_same_code(
    tmp_path: Path, script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one = Piece("one", "a table", "some_table 0")
    assert measured(one, folder=tmp_path)
    record = read_record("one", tmp_path)
    assert record is not None
    assert (record.command, record.status, record.printed) == ("some_table 0", 0, "| a |\n|---|\n| 1 |\n")
    assert record.machine.processors > 0
    assert measured(one, folder=tmp_path)
    assert "with this code" in capsys.readouterr().err
    assert script.with_suffix(".count").read_text() == "x"
    monkeypatch.setattr(evidence, "code_digest", lambda: "other code")
    assert measured(one, folder=tmp_path)
    assert script.with_suffix(".count").read_text() == "xx"
    assert measured(one, again=True, folder=tmp_path)
    assert script.with_suffix(".count").read_text() == "xxx"


def test_what_a_command_finds_wrong_is_kept_and_a_failure_is_not(
    tmp_path: Path, script: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert measured(Piece("wrong", "", "some_table 1"), folder=tmp_path)
    record = read_record("wrong", tmp_path)
    assert record is not None
    assert "not as it should be" in record.page()
    for name, status in (("2", 2), ("crash", 70)):  # also what crashes after it has printed something
        assert not measured(Piece("failed", "", f"some_table {name}"), folder=tmp_path)
        assert read_record("failed", tmp_path) is None
        assert f"failed with status {status}" in capsys.readouterr().err


def test_nothing_is_kept_where_the_code_is_changed_meanwhile(
    tmp_path: Path, script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(evidence, "code_digest", lambda: script.with_suffix(".count").exists())
    assert not measured(Piece("one", "", "some_table 0"), folder=tmp_path)
    assert read_record("one", tmp_path) is None
    assert "the code was changed meanwhile" in capsys.readouterr().err


def test_a_piece_that_needs_what_is_not_there_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("EVERPROOF_CORPUS", raising=False)
    assert measured(Piece("corpus", "", "some_table {corpus}"), folder=tmp_path)
    assert capsys.readouterr().err == "corpus: left out, it needs corpus\n"


def test_inputs_are_in_the_record(tmp_path: Path, script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "a.c").write_text("int a;\n")
    monkeypatch.setenv("EVERPROOF_CORPUS", str(corpus))
    one = Piece("one", "", "some_table 0 {corpus}")
    assert measured(one, folder=tmp_path)
    before = read_record("one", tmp_path)
    (corpus / "a.c").write_text("int b;\n")
    assert measured(one, folder=tmp_path)
    after = read_record("one", tmp_path)
    assert before is not None
    assert after is not None
    assert before.inputs != after.inputs
    assert str(corpus) not in after.command


def test_a_page_holds_what_was_printed(tmp_path: Path, script: Path) -> None:
    assert measured(Piece("one", "", "some_table 0"), folder=tmp_path)
    page = "# Page\n\n<!-- evidence: one -->\n| a |\n|---|\n| 2 |\n<!-- end of evidence -->\n\nThe end.\n"
    assert "| 2 |" not in with_records(page, tmp_path)
    assert "\n| 1 |\n<!-- end of evidence -->\n\nThe end.\n" in with_records(page, tmp_path)
    with pytest.raises(ValueError, match="nothing was measured by the name two"):
        with_records("<!-- evidence: two -->\n<!-- end of evidence -->", tmp_path)


def test_pieces_have_names_of_their_own_and_commands_that_are_there() -> None:
    pieces = read_pieces()
    assert [name for name, count in Counter(one.name for one in pieces).items() if count > 1] == []
    for one in pieces:
        assert (ROOT / one.command.split()[0].replace(".", "/")).with_suffix(".py").is_file(), one


def test_the_pages_are_as_they_were_generated() -> None:
    for name in _MEASURED:
        text = (ROOT / "docs" / name).read_text(encoding="utf-8")
        assert with_records(text) == text, f"docs/{name}: run `make docs`"


def test_records_are_of_pieces() -> None:
    assert {path.stem for path in RECORDS.glob("*.json")} <= {one.name for one in read_pieces()}


def test_tables_are_generated_but_for_those_that_are_known_to_be_made_by_hand() -> None:
    """`tables_made_by_hand.txt` has so many for each heading. It is to get shorter: a new table comes from a record."""
    counts: Counter[str] = Counter()
    for name in _MEASURED:
        heading = ""
        for line in without_generated((ROOT / "docs" / name).read_text(encoding="utf-8")).splitlines():
            if line.startswith("#"):
                heading = f"{name}: {line.lstrip('# ')}"
            counts[heading] += bool(_RULER.match(line))
    found = {f"{count} {heading}" for heading, count in counts.items() if count}
    assert found == set(MADE_BY_HAND.read_text(encoding="utf-8").splitlines())
