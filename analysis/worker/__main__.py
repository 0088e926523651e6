"""The entry of the checker process."""

from __future__ import annotations

import contextlib
import gc
import os
import sys


def main() -> None:
    """Serves standard input and output."""
    # a collection among a program's millions of objects takes seconds: only what edits made is looked at, at rest. And nothing
    # that the imports make is garbage: they come after this
    gc.disable()
    _let_others_wake_first()
    requests = os.fdopen(os.dup(0), "rb")
    events = os.fdopen(os.dup(1), "wb", buffering=1 << 16)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)  # a child of ours must not read our requests
    os.dup2(2, 1)  # nor may a stray print write into our events
    import logging

    from analysis.rules.load import shipped_rules
    from analysis.session.keeping.surroundings import tool_digest
    from analysis.worker.serving import serve

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="everproof worker: %(message)s")
    # both kept for the first check; the server takes longer to start than this process
    shipped_rules()
    tool_digest()
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        serve(requests, events)


def _let_others_wake_first() -> None:
    """Makes the scheduler let a running process finish its turn before this process, or one that it starts,
    wakes up. Otherwise a check would begin by taking the processor from the server, which has just asked for
    the check and has more to do. A policy that somebody has chosen stays."""
    if hasattr(os, "SCHED_BATCH"):  # Linux has it
        with contextlib.suppress(OSError):
            if os.sched_getscheduler(0) == os.SCHED_OTHER:
                os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


if __name__ == "__main__":
    main()
