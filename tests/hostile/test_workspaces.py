"""Hostile workspaces through the real command: each is bounded, gets one clear sentence and no traceback, runs nothing, and stays
as it is.

The class: whatever is in a folder that somebody looks at. Memory and processor time are what the system counted for the
process and all below it. The processor's time, not the clock's: it does not depend on what else the machine does. The
system attributes the memory of the starting process to the started one. So a small process starts the command.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from threading import Timer
from typing import BinaryIO, NamedTuple

import pytest
from canary import contents, plant
from workspaces import Workspace, large_workspaces, workspaces

MEGABYTES = 1_000
SECONDS = 30.0  # of the processor
HANGING = 300  # seconds of the clock, after which it hangs
EVERPROOF = [sys.executable, "-P", "-c", "from analysis.cli.main import command; command()"]
MEASURED = """
import json, resource, subprocess, sys
status = subprocess.call(sys.argv[2:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as file:
    json.dump([status, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024], file)
"""
BAD = "int bad(void)\n{\n    int *p = 0;\n    return *p;\n}\n"


class Used(NamedTuple):
    """How a command ended, and what it and all that it waited for used: the sum of times, the largest memory."""

    status: int
    seconds: float
    megabytes: float


SMALL, LARGE = list(workspaces()), list(large_workspaces())


def test_how_many() -> None:
    names = [workspace.name for workspace in [*SMALL, *LARGE]]
    assert len(set(names)) == len(names)
    assert len(SMALL) >= 120


@pytest.mark.parametrize("workspace", SMALL, ids=lambda workspace: workspace.name)
def test_workspace(workspace: Workspace, tmp_path: Path) -> None:
    _check(workspace, tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("workspace", LARGE, ids=lambda workspace: workspace.name)
def test_large_workspace(workspace: Workspace, tmp_path: Path) -> None:
    _check(workspace, tmp_path)


def _check(workspace: Workspace, tmp_path: Path) -> None:
    folder, mark = tmp_path / "opened", tmp_path / "canary"
    folder.mkdir()
    workspace.make(folder)
    (folder / "bad.c").write_text(BAD)
    plant(folder, mark)
    before = contents(folder)
    command = [*EVERPROOF, *workspace.command]
    if workspace.command[0] == "check":
        command += ["--engine", "automaton"]
    output, errors = tmp_path / "output", tmp_path / "errors"
    with output.open("wb") as out, errors.open("wb") as err:
        used = _run(command, folder, tmp_path, out, err)
    report, said = output.read_text("utf-8", "replace"), errors.read_text("utf-8", "replace")
    assert used.status in (0, 1, 2, 3), said[-2000:]
    assert "Traceback" not in said
    assert "defect of Everproof" not in said
    assert workspace.sentence in said + report
    assert ("bad.c:4:5" in report) == workspace.goes_on, said[-2000:]
    assert said.count("\n") <= 70  # as many headers are missing in one of them
    assert used.megabytes < MEGABYTES
    assert used.seconds < SECONDS
    assert not mark.exists()
    assert contents(folder) == before


def _environment(tmp_path: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TMPDIR") if name in os.environ}
    return {**kept, "HOME": str(tmp_path / "home"), "EVERPROOF_STORE": "none"}


def _run(command: list[str], folder: Path, tmp_path: Path, out: BinaryIO, err: BinaryIO) -> Used:
    measured = tmp_path / "used"
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", MEASURED, str(measured), *command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=err,
        env=_environment(tmp_path),
        start_new_session=True,
    )
    alarm = Timer(HANGING, os.killpg, (process.pid, signal.SIGKILL))
    alarm.start()
    process.wait()
    alarm.cancel()
    return Used(*json.loads(measured.read_text()))
