"""The clock of provers' budgets: seconds of the processor that this process has had. On a machine that others use as well,
a prover then waits longer, but comes as far; and what it decides does not depend on what else runs."""

from __future__ import annotations

import time


def spent() -> float:
    """Seconds of the processor, of all threads of this process."""
    return time.process_time()
