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
    requests = os.fdopen(os.dup(0), "rb")
    events = os.fdopen(os.dup(1), "wb", buffering=1 << 16)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)  # a child of ours must not read our requests
    os.dup2(2, 1)  # nor may a stray print write into our events
    import logging

    from analysis.rules.load import shipped_rules
    from analysis.worker.serving import serve

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="everproof worker: %(message)s")
    shipped_rules()  # kept for the first check; the server takes longer to start than this process
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        serve(requests, events)


if __name__ == "__main__":
    main()
