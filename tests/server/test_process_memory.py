"""The memory of the checker counts what it has started."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from server.process_memory import resident_bytes

START_ONE = "import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', 'input()']).pid, flush=True); input()"


@pytest.mark.skipif(
    not Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").exists(), reason="the kernel does not list children"
)
def test_a_process_counts_with_what_it_has_started() -> None:
    with subprocess.Popen([sys.executable, "-c", START_ONE], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        child = resident_bytes(int(process.stdout.readline()))
        both = resident_bytes(process.pid)
        assert child is not None
        assert both is not None
        assert both > 1.5 * child > 0
        process.kill()


def test_of_no_process_nothing_is_known() -> None:
    assert resident_bytes(2**30) is None
