"""`--store` and `everproof cache`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from analysis.cli.main import main
from analysis.session.keeping.archive import Archive, Snapshot
from analysis.session.provers.asking.kept_answers import DECISIONS
from analysis.store import store_location
from analysis.store.database import Store
from analysis.store.packing import Codec
from analysis.store.records import Record

BAD = "int f(void)\n{\n    int *p = 0;\n    return *p;\n}\n"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.c").write_text(BAD)


@pytest.fixture
def caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's cache folder, for once a place to write to."""
    folder = tmp_path / "caches"
    monkeypatch.delenv(store_location.VARIABLE)
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda *_args, **_kwargs: str(folder / "everproof"))
    return folder / "everproof"


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = main(["check", "--format", "json", "bad.c", *arguments])
    return code, json.loads(capsys.readouterr().out)


def recomputed(report: dict[str, Any]) -> int:
    number = report["work"]["configurations"]["recomputed"]
    assert isinstance(number, int)
    return number


def test_a_second_run_takes_its_answer_out_of_the_store(capsys: pytest.CaptureFixture[str]) -> None:
    first = as_json(capsys, "--store", "kept.everproof")
    second = as_json(capsys, "--store", "kept.everproof")
    without = as_json(capsys, "--store", "none")
    assert first[0] == second[0] == without[0] == 1
    assert first[1]["findings"] == second[1]["findings"] == without[1]["findings"]
    assert recomputed(first[1]) == recomputed(without[1]) > 0
    assert recomputed(second[1]) == 0
    assert second[1]["work"]["configurations"]["reused"] == recomputed(first[1])


def test_without_the_option_the_store_of_the_workspace_is_used(capsys: pytest.CaptureFixture[str], caches: Path) -> None:
    as_json(capsys)
    (kept,) = caches.glob("*.everproof")
    assert recomputed(as_json(capsys)[1]) == 0
    assert str(kept) == store_location.default_path(".")
    assert not list(Path().glob("*.everproof"))


def test_a_workspace_is_the_nearest_top_of_a_project(tmp_path: Path) -> None:
    inner = tmp_path / "p" / "src" / "deep"
    inner.mkdir(parents=True)
    assert store_location.workspace_root(str(inner)) == os.path.realpath(inner)
    (tmp_path / "p" / "compile_commands.json").write_text("[]")
    assert store_location.workspace_root(str(inner)) == os.path.realpath(tmp_path / "p")
    assert store_location.default_path(str(inner)) == store_location.default_path(str(tmp_path / "p"))
    assert store_location.default_path(str(inner)) != store_location.default_path(str(tmp_path))


def test_the_environment_can_name_a_store_or_none(monkeypatch: pytest.MonkeyPatch, caches: Path) -> None:
    monkeypatch.setenv(store_location.VARIABLE, "there.everproof")
    assert main(["check", "bad.c"]) == 1
    assert Path("there.everproof").exists()
    monkeypatch.setenv(store_location.VARIABLE, "none")
    assert store_location.open_store(None, ".") is None
    opened = store_location.open_store("mine.everproof", ".")
    assert opened is not None
    assert opened.path == os.path.abspath("mine.everproof")
    assert not caches.exists()


def test_cache_shows_verifies_and_empties(capsys: pytest.CaptureFixture[str], caches: Path) -> None:
    assert main(["cache", "stat"]) == 0
    assert "nothing is kept" in capsys.readouterr().out
    main(["check", "--task-timeout", "120", "bad.c"])
    capsys.readouterr()
    assert main(["cache", "stat"]) == 0
    said = capsys.readouterr().out
    assert "1 program, " in said
    assert "bad.c: 3 records, " in said
    assert f"{DECISIONS}{os.path.realpath('.')} bad.c: 2 records, " in said  # a decision, and their order
    assert main(["cache", "verify"]) == 0
    assert "5 records intact, 0 damaged" in capsys.readouterr().out
    assert main(["cache", "clear"]) == 0
    assert "emptied" in capsys.readouterr().out
    assert main(["cache", "stat"]) == 0
    assert "0 programs" in capsys.readouterr().out


def test_a_damaged_store_is_set_aside_with_one_sentence(capsys: pytest.CaptureFixture[str], caches: Path) -> None:
    main(["check", "bad.c"])
    (kept,) = caches.glob("*.everproof")
    kept.write_bytes(b"\0" * 5000)
    capsys.readouterr()
    assert main(["check", "bad.c"]) == 1
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert "was damaged" in said[0]
    assert list(caches.glob("*.damaged"))
    assert main(["check", "bad.c"]) == 1
    assert capsys.readouterr().err == ""


def test_cache_without_a_store_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "stat"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert main(["cache", "stat", "--store", "bad.c"]) == 2
    assert "not a store" in capsys.readouterr().err


@pytest.mark.parametrize("action", ["stat", "verify", "clear"])
def test_what_is_no_store_is_named_without_a_word_about_checks(capsys: pytest.CaptureFixture[str], action: str) -> None:
    assert main(["cache", action, "--store", "bad.c"]) == 2
    path = os.path.abspath("bad.c")
    said = f"everproof: {path} cannot be used: it is not a store of Everproof; --store names another one.\n"
    assert capsys.readouterr().err == said
    assert Path("bad.c").read_text() == BAD


def test_a_file_that_is_not_there_is_named_where_nothing_is_kept(capsys: pytest.CaptureFixture[str], caches: Path) -> None:
    assert main(["cache", "verify", "--deep", "nowhere.c"]) == 2
    assert capsys.readouterr().err == "everproof: There is no file or folder nowhere.c: check the spelling.\n"


def test_what_is_kept_is_handed_over(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "export", "handed", "--store", "kept.everproof"]) == 2  # there is no store yet
    assert "nothing is kept: run `everproof check` first" in capsys.readouterr().err
    assert not Path("handed").exists()
    main(["check", "bad.c", "--store", "kept.everproof"])
    assert main(["cache", "export", "handed", "--store", "kept.everproof"]) == 0
    assert "handed: 1 program and 0 proofs, " in capsys.readouterr().out
    assert main(["cache", "import", "handed", "--store", "other.everproof"]) == 0
    assert "taken in; all of it is checked before it counts" in capsys.readouterr().out
    main(["cache", "stat", "--store", "other.everproof"])
    assert f"handed over: {os.path.realpath('.')}: 1 record, " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["verify", "--deep", "nowhere.c"], "There is no file or folder nowhere.c: check the spelling."),
        (["verify", "--deep", "other.c"], "The store has no results for this program as it is now"),
        (["stat", "--deep"], "Only `everproof cache verify`"),
        (["export"], "take one FILE"),
        (["stat", "handed"], "take one FILE"),
        (["import", "nowhere"], "nowhere cannot be used: no such file"),
        (["import", "bad.c"], "bad.c cannot be used: it is no file that"),
        (["export", "nowhere/handed"], "cannot be written"),
        (["export", "bad.c"], "would replace a file that it did not write"),
        (["export", "."], "would replace a file that it did not write"),
    ],
)
def test_a_wrong_file_to_hand_over_is_one_sentence(capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    main(["check", "bad.c", "--engine", "automaton", "--store", "kept.everproof"])
    Path("other.c").write_text("int other;\n")
    capsys.readouterr()
    assert main(["cache", *arguments, "--store", "kept.everproof"]) == 2
    error = capsys.readouterr().err
    assert len(error.splitlines()) == 1
    assert said in error


def test_a_deep_verification_finds_what_is_kept_wrongly_and_repairs_it(capsys: pytest.CaptureFixture[str]) -> None:
    verify = ["cache", "verify", "--deep", "bad.c", "--store", "kept.everproof", "--report", "audit.json"]
    main(["check", "bad.c", "--store", "kept.everproof"])
    capsys.readouterr()
    assert main(verify) == 0
    assert "self-audit: 1 function and 1 finding re-checked from scratch, 0 differences" in capsys.readouterr().out
    store = Store("kept.everproof")
    [(group, _)] = store.named("snapshot")
    archive = Archive(store)
    snapshot = archive.snapshot(group)
    assert snapshot is not None
    wrong = msgspec.structs.replace(snapshot.report, findings=(), verdict="safe")
    data = Codec(Snapshot).encode(msgspec.structs.replace(snapshot, report=wrong))
    kept = [(kind, key) for kind in ("unit", "graph") for of, key in store.named(kind) if of == group]
    assert store.write(group, "bad.c", [Record("snapshot", "", data)], kept)
    store.close()
    assert main(["check", "bad.c", "--store", "kept.everproof"]) == 0, "the fault is in: a store is believed"
    capsys.readouterr()
    assert main(verify) == 1
    assert "re-checked from scratch, 3 differences; repaired; see audit.json" in capsys.readouterr().out
    written = json.loads(Path("audit.json").read_text())
    assert {one["only"] for one in written["differences"]} == {"kept", "from scratch"}
    assert any("null-dereference" in one["what"] for one in written["differences"])
    assert list(written["files"]) == ["bad.c"]
    assert main(["check", "bad.c", "--store", "kept.everproof"]) == 1, "it is repaired"


def test_of_other_texts_nothing_is_handed_over(capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "bad.c", "--engine", "automaton", "--store", "kept.everproof"])
    Path("bad.c").write_text(BAD + "\n")
    capsys.readouterr()
    assert main(["cache", "export", "handed", "--store", "kept.everproof"]) == 2
    assert "run `everproof check` first" in capsys.readouterr().err


def test_where_nothing_can_be_kept_the_answer_is_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["check", "bad.c", "--store", "bad.c/below.everproof"])
    said = capsys.readouterr()
    assert code == 1
    assert "null" in said.out
    assert len([line for line in said.err.splitlines() if "cannot be used" in line]) == 1


def test_revisions_begin_with_what_is_kept_but_not_when_they_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    Path("good.c").write_text(BAD.replace("return *p", "return 0"))
    arguments = ["revisions", "bad.c", "good.c", "--format", "json", "--store", "kept.everproof"]
    assert main(arguments) == 1
    first = json.loads(capsys.readouterr().out)
    assert main([*arguments, "--compare"]) == 1
    second = json.loads(capsys.readouterr().out)
    assert [recomputed(report) for report in second] == [0, recomputed(first[1])]
    assert [report["revision"]["differences"] for report in second] == [[], []]
    assert main([*arguments, "--algorithm", "full"]) == 1
    assert all(recomputed(report) > 0 for report in json.loads(capsys.readouterr().out))
