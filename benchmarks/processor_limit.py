"""Commands that are ended after so many seconds of the processor."""

from __future__ import annotations

import math
from collections.abc import Sequence


def limited(command: Sequence[str], seconds: float) -> tuple[str, ...]:
    """The command, ended after so many seconds of the processor: those of the clock say nothing on a busy machine."""
    return ("/bin/sh", "-c", f'ulimit -t {math.ceil(seconds)}; exec "$@"', "sh", *command)
