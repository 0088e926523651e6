"""The class: commands whose output is not read to its end, is not read at all, or cannot be written. They end as other
tools do. If the reader is gone, SIGPIPE ends them without a message. If the disk is full, they print a sentence."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

EVERPROOF = [sys.executable, "-P", "-c", "from analysis.cli.main import command; command()"]
LONG = "long" * 100  # so that the output is more than a pipe holds
FINDINGS = "".join(f"void {LONG}{n}(void) {{ int *p = 0; *p = {n}; }}\n" for n in range(300))
COMMANDS = {
    "check": ["check", "--engine", "automaton", "a.c"],
    "check, JSON": ["check", "--engine", "automaton", "--format", "json", "a.c"],
    "check, SARIF": ["check", "--engine", "automaton", "--format", "sarif", "a.c"],
    "contracts": ["contracts", "a.c"],
    "dump": ["dump", "cfa", "a.c"],
    "rules": ["rules"],
    "a rule": ["rules", "null-dereference"],
    "help": ["check", "--help"],
    "version": ["--version"],
    "revisions": ["revisions", "--engine", "automaton", "a.c", "a.c"],
    "watch": ["watch", "--engine", "automaton", "a.c"],
    "certify": ["certify", "proof.json", "a.c"],
    "cache": ["cache", "stat"],
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVERPROOF_STORE", str(tmp_path / "store"))
    Path("a.c").write_text(FINDINGS)
    Path("proof.json").write_text("{}")


def _run(command: list[str], output: int) -> subprocess.CompletedProcess[bytes]:
    with os.fdopen(output, "wb", closefd=True):
        return subprocess.run([*EVERPROOF, *command], stdout=output, stderr=subprocess.PIPE, timeout=300, check=False)


@pytest.mark.parametrize("name", COMMANDS)
def test_nobody_reads(name: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = _run(COMMANDS[name], writing)
    assert (done.stderr, done.returncode) in ((b"", -signal.SIGPIPE), (b"", 128 + signal.SIGPIPE))


@pytest.mark.parametrize("name", ["check", "check, JSON", "dump"])
def test_a_reader_that_has_seen_enough(name: str) -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen([*EVERPROOF, *COMMANDS[name]], stdout=pipe, stderr=pipe) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert len(process.stdout.read(100)) == 100
        process.stdout.close()
        said = process.stderr.read()
        assert (said, process.wait(300)) == (b"", -signal.SIGPIPE)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no /dev/full")
def test_no_room() -> None:
    done = _run(COMMANDS["check"], os.open("/dev/full", os.O_WRONLY))
    assert done.returncode == 2
    assert done.stderr == b"everproof: Standard output cannot be written: No space left on device.\n"


@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-", "<&- >&- 2>&-", "<&-"])
def test_no_output_at_all(closed: str) -> None:
    """What is opened in the place of standard output must not get the report."""
    words = " ".join(f"'{word}'" for word in [*EVERPROOF, *COMMANDS["check"]])
    done = subprocess.run(["sh", "-c", f"exec {words} {closed}"], capture_output=True, timeout=300, check=False)
    assert done.returncode == 1
    assert done.stderr == b""
    assert bool(done.stdout) == (closed == "<&-")
    assert b"null" not in Path("a.c").read_bytes()
    assert Path("store").read_bytes().startswith(b"SQLite")


def _listens() -> None:
    """What a shell runs in the background ignores Ctrl-C, and so does all that it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_ends_watch_without_a_word() -> None:
    Path("a.c").write_text("void f(void) { int *p = 0; *p = 1; }\n")
    pipe, command = subprocess.PIPE, [*EVERPROOF, *COMMANDS["watch"]]
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, preexec_fn=_listens) as watching:
        assert watching.stdout is not None
        assert any(b"1 finding" in line for line in watching.stdout)
        watching.send_signal(signal.SIGINT)
        try:
            _, said = watching.communicate(timeout=60)
        finally:
            watching.kill()
    assert (watching.returncode, said) == (0, b"")
