"""Units that are built in several processes: those that were lost with their process are left to the
caller. The class: a wait for a process that was killed or stopped."""

from __future__ import annotations

import os
import signal
import threading
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
