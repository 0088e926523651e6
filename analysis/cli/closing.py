"""Standard output that nobody reads: a reader that has seen enough (`| head`), or none from the start (`>&-`)."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable

NOBODY_READS = 128 + 13
"""What a shell says of a program that SIGPIPE ended, as it ends other tools in a pipeline."""


class NobodyReadsError(BaseException):
    """Standard output, or standard error, was closed by its reader. Not an `Exception`: a message would have no reader."""


def fill_missing_streams() -> None:
    """Has the first three file descriptors lead nowhere where they are closed: what is opened next would take their places, and
    what is written to standard output would go into it."""
    while (null := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(null)
    sys.stdin = sys.stdin or os.fdopen(0)
    sys.stdout = sys.stdout or os.fdopen(1, "w")
    sys.stderr = sys.stderr or os.fdopen(2, "w")


def quietly(run: Callable[[], int]) -> int:
    """The exit code of what is run; `NOBODY_READS` if its output was closed, and then Python says nothing of it at its end."""
    try:
        code = run()
        sys.stdout.flush()
        sys.stderr.flush()
        return code
    except (NobodyReadsError, BrokenPipeError):
        let_go(1)
        let_go(2)
        return NOBODY_READS


def let_go(descriptor: int) -> None:
    """From now on what is written there goes nowhere: Python, too, writes what it has not yet written."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, descriptor)
    os.close(null)


def end(code: int) -> None:
    """Ends the process without taking apart what it holds, which takes as long as parsing; as a signal if that is the code."""
    if code == NOBODY_READS and hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)
    os._exit(code)
