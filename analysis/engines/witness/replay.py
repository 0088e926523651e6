"""Replaying a counterexample: the program must take the claimed way on the inputs, and the violation must happen there."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.cfa.graph import Program
from analysis.engines.witness.inputs import Inputs
from analysis.engines.witness.outcome import DEFAULT_BOUNDS, Bounds, Diverged, Kind, Replayed, Start, Step


def replay(
    program: Program,
    start: Start,
    way: Sequence[Step],
    inputs: Inputs,
    kind: Kind | None,
    bounds: Bounds = DEFAULT_BOUNDS,
) -> Replayed | Diverged:
    """Executes the way, all the edges in the order they are taken, through the calls of defined functions too.

    The last step must be the edge during which the violation `kind` happens (of a branch whose condition violates, either edge;
    for a leak, the edge after which nothing points to the block). With `kind` None the way need only be taken to its end.
    """
    raise NotImplementedError
