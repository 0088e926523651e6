"""The first checker process, started before all that the server imports: both take about a second, and now the same second.

Imports nothing of ours and little else, not even asyncio.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence

# -P: the folder that the editor starts us in is not searched for modules; -S: nor is what is installed, if we do without it
CHECKER = (sys.executable, *(("-S",) if sys.flags.no_site else ()), "-P", "-m", "analysis.worker")


def start(command: Sequence[str]) -> subprocess.Popen[bytes] | None:
    """Starts the process, the leader of a process group of its own; None if that fails, which a later try will say better."""
    try:
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    except OSError:
        return None


def end(process: subprocess.Popen[bytes] | None) -> None:
    """Ends a process that nobody has adopted."""
    if process is not None and process.poll() is None:
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        process.wait()
