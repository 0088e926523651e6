"""What edges that no walk comes to may do to invariants, whatever is known before them: behind text that is not understood, and
in functions that are too large to follow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from analysis.certificate.nonzero.callee_contracts import Contract
from analysis.certificate.nonzero.data_invariants import Invariant, said_of
from analysis.certificate.nonzero.function_edges import Edges
from analysis.certificate.nonzero.transfer import Transfer


def broken_by(edges: Edges, left: Iterable[int], contracts: Mapping[str, Contract]) -> Iterator[Invariant]:
    """The invariants that these edges may break. Blocks that they allocate are not set in time."""
    if edges.construction is None:
        return
    transfer, before = Transfer(edges, contracts), edges.construction.unfollowed()
    for number in sorted(left):
        after = transfer.after(before, edges.cfa.by_id[number])
        for leaf in () if after is None else after.unset - before.unset:
            found = said_of(leaf)
            if found is not None:
                yield found
    yield from transfer.failed
