"""What long work does, on a terminal; elsewhere nothing is printed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Report = Callable[[str, int, int], None]


@contextmanager
def progress() -> Iterator[Report | None]:
    """A function that shows `text (done of total)` on standard error while the block runs; None when that is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # only for a terminal: the import takes a tenth of a small check

    with Console(stderr=True).status("Starting") as status:

        def show(text: str, done: int, total: int) -> None:
            status.update(f"{text} ({done} of {total})" if total else text)

        yield show
