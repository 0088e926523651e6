"""Units that are built in several processes: those that were lost with their process are left to the
caller. The class: a wait for a process that was killed or stopped."""

from __future__ import annotations

import os
import signal
import threading
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from analysis.model.options import Options
from analysis.model.unit_flags import UnitFlags
from analysis.session.units import parallel_building
from analysis.session.units.built import Built
from analysis.session.units.parallel_building import build_many


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_process_that_is_killed_or_stopped_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    build = parallel_building.build

    def strike(path: str, *rest: object) -> Built:
        if path.endswith("3.c"):
            os.kill(os.getpid(), number)
        return build(path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(parallel_building, "build", strike)
    monkeypatch.setattr(threading, "active_count", lambda: 1)  # forks have the change above
    files = [tmp_path / f"{index}.c" for index in range(8)]
    for index, file in enumerate(files):
        file.write_text(f"int f{index}(void) {{ return {index}; }}\n")
    paths = [str(file) for file in files]
    built = dict(build_many(paths, {path: UnitFlags() for path in paths}, Options(), {}, 2, None, None))
    assert str(files[3]) not in built
    assert built.keys() <= set(paths)


def test_half_a_message_of_a_process_that_was_killed_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def strike(line: Connection, *rest: object) -> None:
        os.write(line.fileno(), (1000).to_bytes(4, "big") + b"the rest of it never comes")
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(parallel_building, "_serve", strike)
    monkeypatch.setattr(threading, "active_count", lambda: 1)  # forks have the change above
    paths = [str(tmp_path / f"{index}.c") for index in range(4)]
    assert list(build_many(paths, {path: UnitFlags() for path in paths}, Options(), {}, 2, None, None)) == []


def test_processes_that_are_sending_are_killed_when_something_newer_has_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each result is larger than the buffer of a pipe: a process that nobody reads from is in the middle of one."""
    monkeypatch.setattr(parallel_building, "_built", lambda path, *rest: "x" * (1 << 20))
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    paths = [str(tmp_path / f"{index}.c") for index in range(20)]
    built = build_many(paths, {path: UnitFlags() for path in paths}, Options(), {}, 2, None, lambda: True)
    assert len(list(built)) < len(paths)


def test_long_flags_and_long_results_do_not_wait_for_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are larger than the buffer of a pipe, so that whoever sends waits for the other to read."""
    monkeypatch.setattr(parallel_building, "_built", lambda path, *rest: "x" * (1 << 20))
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    paths = [str(tmp_path / f"{index}.c") for index in range(8)]
    flags = UnitFlags(("#define LONG " + "1" * (1 << 19),))
    assert len(dict(build_many(paths, dict.fromkeys(paths, flags), Options(), {}, 2, None, None))) == len(paths)
