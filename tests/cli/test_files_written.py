"""The class: a command writes a file that the user did not mean. What is checked, and what says how, is never written over; two
outputs need two files; no option is dropped in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.cli.main import main

BAD = "int f(void)\n{\n    int *p = 0;\n    return *p;\n}\n"
QUICK = ["--engine", "automaton", "--store", "none", "--compiler", "none"]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("bad.c", "other.c", "program.txt", "new.c"):
        Path(name).write_text(BAD)
    Path("a.h").write_text("int n;\n")
    Path("link").symlink_to("bad.c")
    Path("compile_commands.json").write_text('[{"directory": ".", "file": "bad.c", "command": "cc bad.c"}]')
    Path(".everproof.toml").write_text("")


def everything() -> dict[str, str]:
    return {str(path): path.read_text() for path in Path().iterdir()}


@pytest.mark.parametrize("option", ["--output", "--write-baseline"])
@pytest.mark.parametrize("name", ["bad.c", "./bad.c", "link", "other.c", "a.h", "compile_commands.json", ".everproof.toml"])
@pytest.mark.parametrize("command", [["check", "bad.c"], ["check", "."], ["check"]])
def test_what_is_read_is_not_replaced(command: list[str], name: str, option: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = everything()
    assert main([*command, *QUICK, option, name]) == 2
    assert capsys.readouterr().err.endswith(f"{option} {name} would replace a file that is read: name another file.\n")
    assert everything() == before


def test_nor_by_certificates_and_revisions(capsys: pytest.CaptureFixture[str]) -> None:
    before = everything()
    assert main(["check", "program.txt", "--certificate", "program.txt"]) == 2
    assert main(["revisions", "program.txt", "bad.c", *QUICK, "--output", "program.txt"]) == 2
    assert capsys.readouterr().err.count("would replace a file that is read") == 2
    assert everything() == before


def test_two_outputs_are_two_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "bad.c", *QUICK, "--output", "out", "--write-baseline", "./out"]) == 2
    assert "--output and --write-baseline name the same file" in capsys.readouterr().err
    assert not Path("out").exists()
    assert main(["check", "bad.c", *QUICK, "--output", "/dev/null", "--write-baseline", "/dev/null"]) == 1


@pytest.mark.parametrize(("name", "reason"), [("nowhere/out", "No such file or directory"), ("folder", "Is a directory")])
def test_what_cannot_be_written_is_said_before_anything_is_checked(
    name: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("folder").mkdir()
    assert main(["check", "bad.c", *QUICK, "--output", name, "--write-baseline", "known.json"]) == 2
    assert capsys.readouterr().err == f"everproof: {name} cannot be written: {reason}.\n"
    assert not Path("known.json").exists()


def test_reports_and_baselines_are_written_again() -> None:
    for _ in range(2):
        assert main(["check", "bad.c", *QUICK, "--output", "out.txt", "--write-baseline", "known.json"]) == 1
    assert "null-dereference" in Path("out.txt").read_text()
    assert main(["check", "bad.c", *QUICK, "--baseline", "known.json", "--write-baseline", "known.json"]) == 0


@pytest.mark.parametrize("option", ["--output", "--baseline", "--write-baseline"])
def test_watch_says_that_it_writes_nothing(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", "bad.c", *QUICK, option, "file"]) == 2
    assert "use `everproof check`" in capsys.readouterr().err


def test_a_certificate_of_a_program_that_is_not_there(capfd: pytest.CaptureFixture[str]) -> None:
    Path("proof.json").write_text("{}")
    assert main(["certify", "proof.json", "gone.c"]) == 2
    captured = capfd.readouterr()
    assert captured.out == ""
    assert captured.err == "gone.c: error: There is no file or folder gone.c: check the spelling.\n"
