"""Whether a run is the same where objects lie at other addresses: C does not say where (C11 6.3.2.3p5 and p6, 6.5.8p5)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from analysis.cfa.graph import Program
from analysis.interpreter.expressions import ADDRESSES
from analysis.interpreter.inputs import Inputs
from analysis.interpreter.outcome import LOST_HERE, Bounds, Kind, Losses, Replayed, Start, Step
from analysis.interpreter.replay import replay


def happens_elsewhere(
    program: Program,
    start: Start,
    path: Sequence[Step],
    inputs: Inputs,
    kind: Kind,
    found: Replayed,
    bounds: Bounds,
    losses: Losses = LOST_HERE,
) -> bool:
    """Whether the violation at the end of the path, which was `found`, also happens there if objects lie elsewhere, in the
    opposite order. A run that does not use the numbers of addresses is not made again. `losses` is as for `replay`."""
    if ADDRESSES not in found.assumptions and not found.by_address:
        return True
    again = replay(program, msgspec.structs.replace(start, elsewhere=True), path, inputs, kind, bounds, losses=losses)
    return isinstance(again, Replayed) and again.observation is not None
